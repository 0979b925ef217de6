import type { MemoryEvent } from "../../domain/event.ts";
import type { ProcessingStatus } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A job as a worker receives it: the event and, for a direct store, its planned node. */
export type MaterializationJob = {
  readonly event: MemoryEvent;
  readonly plannedNode: MemoryNode | undefined;
  /** Further active nodes that the event created and that have lost an index entry (see `addNodes`). Absent: none. */
  readonly unindexed?: readonly MemoryNode[];
};

/** What one job makes visible, in one transaction. */
export type Materialization = {
  readonly eventId: Uuid;
  readonly node: MemoryNode;
  /** Absent: no vector entry is written now. */
  readonly vector: Float32Array | undefined;
  /** False for a node that gets no lexical entry (blank text). */
  readonly lexical: boolean;
  /** Absent: the job is complete. Else it stays pending with this reason code. */
  readonly failure: string | undefined;
  readonly at: Instant;
};

/** Extraction work on one event, as known to the job queue. */
export type ExtractionJob = {
  readonly eventId: Uuid;
  readonly status: "pending" | "complete";
  readonly attempts: number;
  readonly leaseExpiresAt: Instant | undefined;
  readonly lastError: string | undefined;
  readonly updatedAt: Instant;
};

/** The work of admitted events. */
export type WorkQueue = {
  /**
   * Takes up to `limit` pending jobs of the owner (of all owners when absent) that no live worker holds, fewest attempts first,
   * then in the order in which they became durable, and leases them to this process.
   */
  claimJobs(userId: string | undefined, limit: number): Promise<readonly MaterializationJob[]>;
  /** Gives back, unfinished, those of the jobs that this process still holds. */
  releaseJobs(eventIds: readonly Uuid[]): Promise<void>;
  /**
   * Writes nodes, index entries and job states. A complete job is left alone, an existing node is kept, an inactive node is never
   * indexed. Vectors of another model than the pack's are not written: their jobs stay pending with the reason
   * `embedding_mismatch`.
   * @returns the states of the jobs afterwards, in the order of the items; an item without a job is left out
   */
  materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]>;
  /** Records a failed attempt at jobs whose node could not be written at all. */
  failJobs(eventIds: readonly Uuid[], reason: string, at: Instant): Promise<void>;
  jobStatus(eventId: Uuid, userId: string | undefined): Promise<ProcessingStatus | undefined>;
  countJobs(
    userId: string | undefined,
  ): Promise<{ readonly pending: number; readonly failed: number }>;
  /** Undefined for an unknown event, one of another owner, or one without such work. */
  extractionJob(eventId: Uuid, userId: string | undefined): Promise<ExtractionJob | undefined>;
};
