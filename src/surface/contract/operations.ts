import type { Operation } from "./operation.ts";
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
  ingestFastOperation,
  processOperation,
  retrieveOperation,
  getReceiptOperation,
  recordCitationsOperation,
  listCitationsOperation,
  getCitationsOperation,
  listNodesOperation,
  getNodeOperation,
  getEventOperation,
  processingStatusOperation,
];
