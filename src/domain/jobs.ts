import {
  instant,
  member,
  named,
  natural,
  noted,
  nullable,
  object,
  text,
  uuid,
  type ValueOf,
} from "../lib/form.ts";
import { uuidV5 } from "../lib/hashing.ts";
import { addSeconds, asInstant, type Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { checksummed, openChecksummed } from "./checksummed.ts";
import { erasedBy } from "./erasure.ts";
import { SvcError } from "./errors.ts";
import { type MemoryEvent, type MemoryNode, nodeRecord } from "./node.ts";

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

const extractionJobForm = object({
  eventId: uuid,
  /** `running`: it has a lease. `failed`: it is not tried again unasked. */
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

/** Who holds work, from when and until when. */
export type Lease = { readonly holder: string; readonly from: Instant; readonly until: Instant };

/** A lease that ends later than this was given by a clock that has been set back since. */
const LONGEST_SECONDS = 600;
/** A lease is renewed long before it ends; the rest is room for clocks that differ. */
const LEASE_SECONDS_MAX = LONGEST_SECONDS / 2;
const LAST = asInstant("9999-12-31T23:59:59.999999Z");

/** A lease from a moment on. Longer ones end after five minutes, unless they are renewed. */
export function leaseOf(holder: string, from: Instant, seconds: number): Lease {
  return { holder, from, until: later(from, Math.min(seconds, LEASE_SECONDS_MAX)) };
}

/** The latest end that a lease can have which holds something now. */
export function latestEnd(now: Instant): Instant {
  return later(now, LONGEST_SECONDS);
}

/** When work is due again that has failed so many times in a row, or that is to rest. */
export function dueAfter(at: Instant, failures: number, cooldownSeconds = 0): Instant {
  const waits = failures === 0 ? 0 : retryAfterSeconds(failures);
  return later(at, Math.max(cooldownSeconds, waits));
}

function later(at: Instant, seconds: number): Instant {
  return addSeconds(at, seconds) ?? LAST;
}

/** What a store of one memory plans: an event, and the node that its job makes findable. */
export type PlannedStore = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  readonly supersedes: readonly Uuid[];
};

export function planRecordId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:direct-store:v1");
}

/** The plan as the audit log keeps it, so that the job can be finished after a crash exactly as intended. */
export function toPlanRecord({ event, node, supersedes }: PlannedStore) {
  return {
    id: planRecordId(event.id),
    opType: "DIRECT_STORE_REQUESTED",
    targetId: event.id,
    payload: checksummed({
      schema_version: node.content === event.content ? 1 : 2,
      event_id: event.id,
      content_hash: event.contentHash,
      node: nodeRecord.to(node),
      ...(supersedes.length > 0 && { supersedes: [...supersedes] }),
    }),
    actorId: "store",
    namespaceId: event.scope,
    createdAt: event.timestamp,
  };
}

/**
 * What a record says of the plan. Its node names the owner as at that time. Undefined: it was erased.
 * @throws SvcError storage_failed when it is damaged
 */
export function fromPlanRecord(payload: JsonObject) {
  if (erasedBy(payload) !== undefined) return undefined;
  const saved = openChecksummed(payload);
  return {
    // SAFETY: the record's checksum matches, and toPlanRecord always writes the planned node into it.
    node: nodeRecord.from(saved["node"] as JsonObject),
    contentHash: saved["content_hash"],
    supersedes: [saved["supersedes"] ?? []].flat(),
  };
}
