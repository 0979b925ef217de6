import * as f from "../lib/form.ts";
import { uuidV5 } from "../lib/hashing.ts";
import { addSeconds, asInstant, type Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { checksummed, openChecksummed } from "./checksummed.ts";
import { erasedBy } from "./erasure.ts";
import { SvcError } from "./errors.ts";
import { type MemoryEvent, type MemoryNode, nodeRecord } from "./node.ts";

export const processingStatusForm = f.named(
  "ProcessingStatus",
  "How far the memory and index entries of one event have come.",
  {
    eventId: f.uuid,
    status: f.member(["pending", "complete"]),
    /** Finished attempts, including the successful one. */
    attempts: f.natural,
    /** Undefined after success. */
    lastError: f.noted(f.nullable(f.text), { description: "Category of the last failure." }),
    updatedAt: f.instant,
  },
);

const extractionJobForm = f.object({
  eventId: f.uuid,
  /** `running`: it has a lease. `failed`: it is not retried automatically. */
  status: f.member(["pending", "running", "complete", "failed"]),
  phase: f.member(["extraction", "preparation", "publication", "complete"]),
  /** Tries that were begun. */
  attempts: f.natural,
  /** Counts claims and replans. */
  generation: f.natural,
  /** Of the plan kept for this revision. */
  planId: f.nullable(f.uuid),
  /** Counts the plans of the event, from 1. */
  planRevision: f.natural,
  leaseExpiresAt: f.nullable(f.instant),
  /** Undefined: at once, or never. */
  nextAttemptAt: f.nullable(f.instant),
  lastError: f.nullable(f.text),
  updatedAt: f.instant,
});
export type ExtractionJob = f.ValueOf<typeof extractionJobForm>;

/** Progress of the nodes and index entries of one event. There is no failed state: a failed job stays pending. */
export type ProcessingStatus = f.ValueOf<typeof processingStatusForm>;

export const processingResultForm = f.named("ProcessingResult", {
  processed: f.natural,
  pending: f.natural,
  /** Included in `pending`. */
  failed: f.noted(f.natural, { description: "Pending items whose last try failed." }),
});

/** What one processing pass did, and the owner's remaining work. */
export type ProcessingResult = f.ValueOf<typeof processingResultForm>;

/** Seconds for which an unresponsive holder keeps its work. */
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

/** The result for an event without its vector, which is of another model: the job stays pending. */
export function withoutVector<
  T extends { readonly vector: Float32Array | undefined; readonly failure: string | undefined },
>(item: T): T {
  if (item.vector === undefined) return item;
  return { ...item, vector: undefined, failure: item.failure ?? "embedding_mismatch" };
}

/** The holder of work, and the period. */
export type Lease = { readonly holder: string; readonly from: Instant; readonly until: Instant };

/** A lease that ends later than this was issued by a clock set back since. */
const LONGEST_SECONDS = 600;
/** A lease is renewed long before it ends; the rest allows for clock differences. */
const LEASE_SECONDS_MAX = LONGEST_SECONDS / 2;
const LAST = asInstant("9999-12-31T23:59:59.999999Z");

/** A lease starting at a moment. Longer ones are cut to five minutes unless renewed. */
export function leaseOf(holder: string, from: Instant, seconds: number): Lease {
  return { holder, from, until: later(from, Math.min(seconds, LEASE_SECONDS_MAX)) };
}

/** The latest end of any lease that is valid now. */
export function latestEnd(now: Instant): Instant {
  return later(now, LONGEST_SECONDS);
}

/** When work is due again after this many failures in a row, or after a cooldown. */
export function dueAfter(at: Instant, failures: number, cooldownSeconds = 0): Instant {
  const waits = failures === 0 ? 0 : retryAfterSeconds(failures);
  return later(at, Math.max(cooldownSeconds, waits));
}

function later(at: Instant, seconds: number): Instant {
  return addSeconds(at, seconds) ?? LAST;
}

/** The plan for storing one memory: an event, and the node that its job indexes. */
export type PlannedStore = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  readonly supersedes: readonly Uuid[];
};

export function planRecordId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:direct-store:v1");
}

/** The plan as kept in the audit log, so that the job can be finished after a crash exactly as intended. */
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

/** The plan in a record. Its node names the owner as of that time. Undefined: it was erased. @throws SvcError storage_failed if damaged */
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
