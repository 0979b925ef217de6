import { AGGREGATION_OPERATIONS } from "../aggregation/operations.ts";
import { BROWSE_OPERATIONS } from "../browse/operations.ts";
import { EXTRACTION_OPERATIONS } from "../extraction/operations.ts";
import { FORGET_OPERATIONS } from "../forget/operations.ts";
import { LIFECYCLE_OPERATIONS } from "../lifecycle/operations.ts";
import { EVENT_OPERATIONS } from "../nodes/event-operations.ts";
import { NODE_OPERATIONS } from "../nodes/operations.ts";
import { ORGANIZE_OPERATIONS } from "../organize/operations.ts";
import { RECEIPT_OPERATIONS } from "../receipts/operations.ts";
import { RETRIEVAL_OPERATIONS } from "../retrieval/operations.ts";
import { SERVICE_OPERATIONS } from "../service/operations.ts";
import { STORE_OPERATIONS } from "../store/operations.ts";
import type { Operation } from "./operation.ts";

/** Everything that HTTP and MCP offer, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  ...STORE_OPERATIONS,
  ...EXTRACTION_OPERATIONS,
  ...RETRIEVAL_OPERATIONS,
  ...RECEIPT_OPERATIONS,
  ...AGGREGATION_OPERATIONS,
  ...BROWSE_OPERATIONS,
  ...NODE_OPERATIONS,
  ...LIFECYCLE_OPERATIONS,
  ...FORGET_OPERATIONS,
  ...ORGANIZE_OPERATIONS,
  ...EVENT_OPERATIONS,
];
