import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";

/** Progress of the nodes and index entries of one event. There is no failed state: a failed job stays pending. */
export type ProcessingStatus = {
  readonly eventId: Uuid;
  readonly status: "pending" | "complete";
  /** Finished attempts, including the successful one. */
  readonly attempts: number;
  /** Category of the last failure; undefined after success. */
  readonly lastError: string | undefined;
  readonly updatedAt: Instant;
};

/** What one processing pass did, and the owner's remaining work. */
export type ProcessingResult = {
  readonly processed: number;
  readonly pending: number;
  /** Pending jobs whose last attempt failed; included in `pending`. */
  readonly failed: number;
};
