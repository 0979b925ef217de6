import type { Operation } from "./operation.ts";
import {
  getEventOperation,
  getNodeOperation,
  healthOperation,
  listNodesOperation,
  processingStatusOperation,
  retrieveOperation,
  statsOperation,
} from "./read-operations.ts";
import { ingestFastOperation, processOperation, storeOperation } from "./write-operations.ts";

/** Everything that HTTP and MCP offer, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  healthOperation,
  statsOperation,
  storeOperation,
  ingestFastOperation,
  processOperation,
  retrieveOperation,
  listNodesOperation,
  getNodeOperation,
  getEventOperation,
  processingStatusOperation,
];
