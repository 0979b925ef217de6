import { AGGREGATION_OPERATIONS } from "../aggregation/operations.ts";
import { LIFECYCLE_OPERATIONS } from "../lifecycle/operations.ts";
import { EVENT_OPERATIONS } from "../nodes/event-operations.ts";
import { GRAPH_OPERATIONS } from "../nodes/graph-operations.ts";
import {
  getEventOperation,
  getNodeOperation,
  healthOperation,
  listNodesOperation,
  processingStatusOperation,
  statsOperation,
} from "../nodes/operations.ts";
import { provenanceOperation } from "../nodes/provenance-operation.ts";
import { CLAIM_OPERATIONS } from "../retrieval/claim-operations.ts";
import {
  getCitationsOperation,
  getReceiptOperation,
  listCitationsOperation,
  recordCitationsOperation,
  retrieveOperation,
} from "../retrieval/operations.ts";
import { ingestOperation } from "../store/ingest-operation.ts";
import { ingestFastOperation, processOperation, storeOperation } from "../store/operations.ts";
import type { Operation } from "./operation.ts";

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
