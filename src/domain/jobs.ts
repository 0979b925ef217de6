import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";

/** How far the nodes and index entries of one event have come. There is no failed state: what fails stays pending. */
export type ProcessingStatus = {
  readonly eventId: Uuid;
  readonly status: "pending" | "complete";
  /** Finished tries, the successful one included. */
  readonly attempts: number;
  /** Category of the last failure; undefined after success. */
  readonly lastError: string | undefined;
  readonly updatedAt: Instant;
};

/** What one processing pass did and what is left of the owner's work. */
export type ProcessingResult = {
  readonly processed: number;
  readonly pending: number;
  /** Pending jobs whose last try failed; they are part of `pending`. */
  readonly failed: number;
};
