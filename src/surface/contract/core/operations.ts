import { AGGREGATION_OPERATIONS } from "../aggregation.ts";
import { BROWSE_OPERATIONS } from "../browse.ts";
import { EVENT_OPERATIONS } from "../events.ts";
import { EXTRACTION_OPERATIONS } from "../extraction.ts";
import { FORGET_OPERATIONS } from "../forget.ts";
import { IMPORT_OPERATIONS } from "../import.ts";
import { LIFECYCLE_OPERATIONS } from "../lifecycle.ts";
import { NODE_OPERATIONS } from "../nodes.ts";
import { ORGANIZE_OPERATIONS } from "../organize.ts";
import { RECEIPT_OPERATIONS } from "../receipts.ts";
import { RETRIEVAL_OPERATIONS } from "../retrieval/operations.ts";
import { SERVICE_OPERATIONS } from "../service.ts";
import { STORE_OPERATIONS } from "../store.ts";
import type { Operation } from "./operation.ts";

/** Everything that HTTP and MCP offer, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  ...STORE_OPERATIONS,
  ...IMPORT_OPERATIONS,
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
