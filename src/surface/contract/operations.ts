import { AGGREGATION_OPERATIONS } from "./aggregation-operations.ts";
import { CLAIM_OPERATIONS } from "./claim-operations.ts";
import { EVENT_OPERATIONS } from "./event-operations.ts";
import { GRAPH_OPERATIONS } from "./graph-operations.ts";
import { ingestOperation } from "./ingest-operation.ts";
import { LIFECYCLE_OPERATIONS } from "./lifecycle-operations.ts";
import type { Operation } from "./operation.ts";
import { provenanceOperation } from "./provenance-operation.ts";
import {
  getEventOperation,
  getNodeOperation,
  healthOperation,
  listNodesOperation,
  processingStatusOperation,
  statsOperation,
} from "./read-operations.ts";
import {
  getCitationsOperation,
  getReceiptOperation,
  listCitationsOperation,
  recordCitationsOperation,
  retrieveOperation,
} from "./retrieval-operations.ts";
import { ingestFastOperation, processOperation, storeOperation } from "./write-operations.ts";

/** Everything that HTTP and MCP offer, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  healthOperation,
  statsOperation,
  storeOperation,
  ingestOperation,
  ingestFastOperation,
  processOperation,
  retrieveOperation,
  getReceiptOperation,
  recordCitationsOperation,
  listCitationsOperation,
  getCitationsOperation,
  ...AGGREGATION_OPERATIONS,
  listNodesOperation,
  ...GRAPH_OPERATIONS,
  getNodeOperation,
  provenanceOperation,
  ...LIFECYCLE_OPERATIONS,
  ...CLAIM_OPERATIONS,
  getEventOperation,
  ...EVENT_OPERATIONS,
  processingStatusOperation,
];
