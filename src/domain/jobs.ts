import { instant, member, named, natural, nullable, object, text, uuid } from "../lib/form.ts";
import { noted, type ValueOf } from "../lib/view.ts";
import { SvcError } from "./errors.ts";

export const processingStatusForm = named(
  "ProcessingStatus",
  "How far the memory and index entries of one event have come.",
  {
    eventId: uuid,
    status: member(["pending", "complete"]),
    /** Finished attempts, including the successful one. */
    attempts: natural,
    /** Undefined after success. */
    lastError: noted(nullable(text), { description: "Category of the last failure." }),
    updatedAt: instant,
  },
);

/** How far extraction from one event has come. */
export const extractionJobForm = object({
  eventId: uuid,
  /** `running`: somebody holds it. `failed`: nobody tries again unasked. */
  status: member(["pending", "running", "complete", "failed"]),
  phase: member(["extraction", "preparation", "publication", "complete"]),
  /** Tries that were begun. */
  attempts: natural,
  /** Counts claims and replans. */
  generation: natural,
  /** Of the plan that is kept for this revision. */
  planId: nullable(uuid),
  /** Counts the plans of the event, from 1. */
  planRevision: natural,
  leaseExpiresAt: nullable(instant),
  /** Undefined: at once, or never. */
  nextAttemptAt: nullable(instant),
  lastError: nullable(text),
  updatedAt: instant,
});
export type ExtractionJob = ValueOf<typeof extractionJobForm>;

/** Progress of the nodes and index entries of one event. There is no failed state: a failed job stays pending. */
export type ProcessingStatus = ValueOf<typeof processingStatusForm>;

export const processingResultForm = named("ProcessingResult", {
  processed: natural,
  pending: natural,
  /** Included in `pending`. */
  failed: noted(natural, { description: "Pending items whose last try failed." }),
});

/** What one processing pass did, and the owner's remaining work. */
export type ProcessingResult = ValueOf<typeof processingResultForm>;

/** Seconds for which work stays with a holder that gives no sign of life. */
export const LEASE_SECONDS = 60;

/** Seconds from the nth failure in a row to the next try: 5 s, 30 s, 3 min, 18 min, 1 h. */
export function retryAfterSeconds(failures: number): number {
  return Math.min(5 * 6 ** (failures - 1), 3600);
}

const TAKEN_OVER = "taken_over";

/** Why a former holder may not write: its lease ended, and another one has the work. */
export function takenOver(): SvcError {
  return new SvcError("storage_busy", "another process has taken this work over", {
    reason: TAKEN_OVER,
  });
}

export function isTakenOver(error: unknown): boolean {
  return error instanceof SvcError && error.data["reason"] === TAKEN_OVER;
}

/** What was made for an event, without the vector, which is of another model: the job stays to be done. */
export function withoutVector<
  T extends { readonly vector: Float32Array | undefined; readonly failure: string | undefined },
>(item: T): T {
  if (item.vector === undefined) return item;
  return { ...item, vector: undefined, failure: item.failure ?? "embedding_mismatch" };
}
