import type { MemoryEvent } from "../../domain/event.ts";
import type { ProcessingStatus } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A job as a worker receives it: the event and, for a direct store, its planned node. */
export type MaterializationJob = {
  readonly event: MemoryEvent;
  readonly plannedNode: MemoryNode | undefined;
  /** Counts the claims of the job. */
  readonly generation: number;
  /** Further active nodes that the event brought and that have lost an index entry (see `addNodes`). Absent: none. */
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
  /** Of the claim; once another one was made, nothing is written. Absent: the job may have any holder. */
  readonly generation?: number | undefined;
};

/** The generation of the claim that an admission with `leaseJobs` makes. */
export const ADMITTED = 1;

/** The right to do work that comes again and again, until its lease ends. */
export type WorkClaim = {
  /** The kind of work, such as `expire`. */
  readonly kind: string;
  readonly owner: Owner;
  readonly generation: number;
};

/** What came of claimed work. */
export type Outcome = {
  /** Reason code of what went wrong. */
  readonly failure: string | undefined;
  /** Whole seconds to the next time at the earliest; failures in a row make it longer (`retryAfterSeconds`). */
  readonly cooldownSeconds: number;
};

/**
 * Work of every kind: what admitted events leave, each piece to be done once, and what comes again and again.
 *
 * For callers: a claim is leased for `LEASE_SECONDS` and renewed while its holder lives. Nobody else gets work that is held.
 * For implementers: one rule for all claims. Work is free that nobody holds, whose lease has ended, or whose holder is known to
 * be gone; a lease or a schedule from the future, which a clock left that was set back, holds nothing.
 */
export type WorkQueue = {
  /**
   * Claims up to `limit` pending jobs, fewest attempts first, then in the order in which they became durable.
   * @param isDueOnly passes over those that failed a short while ago. Default false
   */
  claimJobs(
    owner: Owner,
    limit: number,
    isDueOnly?: boolean,
  ): Promise<readonly MaterializationJob[]>;
  /** Renews the leases of those of the jobs that this store holds. */
  renewJobs(eventIds: readonly Uuid[]): Promise<void>;
  /** Gives back, unfinished, those of the jobs that this store holds. */
  releaseJobs(eventIds: readonly Uuid[]): Promise<void>;
  /**
   * Writes nodes, index entries and job states. A complete job is left alone, an existing node is kept, an inactive node is never
   * indexed. Vectors of another model than the pack's are not written: their jobs stay pending with the reason
   * `embedding_mismatch`.
   * @returns the states of the jobs afterwards, in the order of the items; an item without a job is left out
   */
  materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]>;
  /** Records a failed try of jobs whose node could not be written at all. @param generation as in `Materialization` */
  failJobs(
    eventIds: readonly Uuid[],
    reason: string,
    at: Instant,
    generation?: number,
  ): Promise<void>;
  jobStatus(eventId: Uuid, owner: Owner): Promise<ProcessingStatus | undefined>;
  countJobs(owner: Owner): Promise<{ readonly pending: number; readonly failed: number }>;

  /**
   * Claims work that comes again and again.
   * @param isDueOnly whether its cooldown counts
   * @returns when to ask again where it is held or not due; undefined for an owner that has nothing in the pack
   */
  takeWork(
    work: Pick<WorkClaim, "kind" | "owner">,
    isDueOnly: boolean,
  ): Promise<WorkClaim | Instant | undefined>;
  /** Renews the lease. @returns false when the work has another holder now */
  renewWork(claim: WorkClaim): Promise<boolean>;
  /** Ends a claim; what was stopped is due as before. @returns false, with nothing written, when it has another holder now */
  finishWork(claim: WorkClaim, outcome: Outcome | "stopped"): Promise<boolean>;
};
