import type { NodeType, Scope } from "../../domain/enums.ts";
import type { KnownMemories } from "../../domain/extraction/plan/context.ts";
import type { DerivationPlan } from "../../domain/extraction/plan/derivation.ts";
import type { FadingMarks } from "../../domain/fading.ts";
import type { ExtractionJob, ProcessingStatus } from "../../domain/jobs.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./records.ts";
import type { KeyedNode, NodeKey } from "./search-index.ts";

/** An event with its planned node, if it comes from a direct store. */
export type MaterializationJob = {
  readonly event: MemoryEvent;
  readonly plannedNode: MemoryNode | undefined;
  /** Counts claims. */
  readonly generation: number;
  /** Further active nodes of the event without an index entry. */
  readonly unindexed?: readonly MemoryNode[];
};

/** What one job writes, in one transaction. */
export type Materialization = {
  readonly eventId: Uuid;
  readonly node: MemoryNode;
  /** Absent: no vector is written now. */
  readonly vector: Float32Array | undefined;
  /** False for blank text. */
  readonly lexical: boolean;
  /** Absent: complete. Otherwise it stays pending with this code. */
  readonly failure: string | undefined;
  readonly at: Instant;
  /** Nothing is written if the job was claimed again since. Absent: always written. */
  readonly generation?: number | undefined;
};

/** The generation of jobs leased by an admission. */
export const ADMITTED = 1;

/** The right to a recurring job, until its lease ends. */
export type WorkClaim = {
  /** Such as `expire`. */
  readonly kind: string;
  readonly owner: Owner;
  readonly generation: number;
};

export type Outcome = {
  /** Code of what went wrong. */
  readonly failure: string | undefined;
  /** Minimum seconds to the next run; more after failures in a row (`retryAfterSeconds`). */
  readonly cooldownSeconds: number;
};

/**
 * One-off jobs of admitted events, and recurring jobs.
 *
 * For callers: a claim is leased for `LEASE_SECONDS` and renewed while its holder lives. Leased work is not given to others. For
 * implementers: one rule for all claims. Work is free if it has no lease, its lease has ended, or its holder is known to be gone;
 * leases and schedules from the future, left by a clock set back since, are ignored.
 */
export type WorkQueue = {
  /** Pending jobs, fewest attempts first, then oldest. @param isDueOnly skips jobs that failed recently. Default false */
  claimJobs(
    owner: Owner,
    limit: number,
    isDueOnly?: boolean,
  ): Promise<readonly MaterializationJob[]>;
  /** Of jobs that this store holds. */
  renewJobs(eventIds: readonly Uuid[]): Promise<void>;
  /** Releases jobs that this store holds. */
  releaseJobs(eventIds: readonly Uuid[]): Promise<void>;
  /**
   * Writes nodes, index entries and job states. Complete jobs and existing nodes stay; inactive nodes are not indexed; vectors of
   * another model leave the job pending (`embedding_mismatch`).
   * @returns the states afterwards, in order
   */
  materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]>;
  /** Records a failed attempt of jobs whose node could not be written. */
  failJobs(
    eventIds: readonly Uuid[],
    reason: string,
    at: Instant,
    generation?: number,
  ): Promise<void>;
  jobStatus(eventId: Uuid, owner: Owner): Promise<ProcessingStatus | undefined>;
  countJobs(owner: Owner): Promise<{ readonly pending: number; readonly failed: number }>;

  /**
   * Claims a recurring job.
   * @param isDueOnly whether its cooldown counts
   * @returns when to ask again; undefined for an owner without data
   */
  takeWork(
    work: Pick<WorkClaim, "kind" | "owner">,
    isDueOnly: boolean,
  ): Promise<WorkClaim | Instant | undefined>;
  /** @returns false if another holder has it */
  renewWork(claim: WorkClaim): Promise<boolean>;
  /** A stopped job is due as before. @returns false, unchanged, if another holder has it */
  finishWork(claim: WorkClaim, outcome: Outcome | "stopped"): Promise<boolean>;
};

/** The right to extract an event, until its lease ends. */
export type ExtractionClaim = {
  readonly event: MemoryEvent;
  /** Position in the queue: the order of admission. */
  readonly order: number;
  /** Counts claims and replans. */
  readonly generation: number;
  /** This one included. */
  readonly attempts: number;
  /** Counts plans, from 1. */
  readonly revision: number;
  /** A plan that was not applied. */
  readonly plan: AuditRecord | undefined;
  /** What was extracted before. */
  readonly record: AuditRecord | undefined;
};

export type ExtractionFilter = {
  readonly owner: Owner;
  readonly scope?: Scope | undefined;
  readonly eventId?: Uuid | undefined;
  /** Highest order, inclusive. */
  readonly upTo?: number | undefined;
  /** Skips jobs that wait after a failure. */
  readonly isDueOnly: boolean;
};

/** Of the owner, scope and session of a claimed one. */
export type WaitingTurn = {
  readonly event: MemoryEvent;
  readonly order: number;
  readonly isRecorded: boolean;
};

/** What a plan may need to know about an owner and scope. */
export type KnownLookup = {
  readonly event: MemoryEvent;
  /** As of `namesToFind`. */
  readonly names: readonly string[];
  /** As of `valuesToFind`: other claims are left out. */
  readonly values: readonly string[];
  /** Memories that the request showed. */
  readonly shownIds: readonly Uuid[];
};

/** A plan, applied as a whole. */
export type PlanPublication = {
  readonly plan: DerivationPlan;
  /** One per node; undefined for one without a vector. */
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly at: Instant;
};

export type ExtractionEnd =
  /** Attempts 1 to 3 are retried later, the fourth ends the job. */
  { readonly failure: string } | "cancelled";

/** An owner and scope with pending extraction. */
export type ExtractionLane = {
  readonly userId: string;
  readonly scope: Scope;
  /** The highest order. */
  readonly upTo: number;
  /** When the first job is due; undefined: now. */
  readonly due: Instant | undefined;
};

/**
 * Extraction of admitted events, in order within each owner and scope.
 *
 * For callers: a claim is leased for the given seconds and renewed while its holder works. Once a claim is over, every write under
 * it throws `takenOver` and writes nothing. For implementers: a pending or running job blocks later ones of its owner and scope; a
 * failed or complete one does not. Each write checks generation and lease in its own transaction.
 */
export type ExtractionQueue = {
  /** Claims the first matching job of its lane. */
  claimExtraction(
    filter: ExtractionFilter,
    leaseSeconds: number,
  ): Promise<ExtractionClaim | undefined>;
  /** @returns false when the claim is over */
  renewExtraction(claim: ExtractionClaim, leaseSeconds: number): Promise<boolean>;
  /** Turns after the claimed one, in order; none without a session. */
  waitingTurns(
    claim: ExtractionClaim,
    page: { readonly upTo: number | undefined; readonly limit: number },
  ): Promise<readonly WaitingTurn[]>;
  /** The newest turns of the session and scope admitted before, not blank, oldest first. */
  earlierTurns(claim: ExtractionClaim, limit: number): Promise<readonly MemoryEvent[]>;
  /** An existing record stays. @throws SvcError (`isTakenOver`) */
  saveExtractions(claim: ExtractionClaim, records: readonly AuditRecord[]): Promise<void>;
  knownMemories(lookup: KnownLookup): Promise<KnownMemories>;
  /** Stores a plan before it is applied. @throws SvcError (`isTakenOver`) */
  savePlan(claim: ExtractionClaim, plan: DerivationPlan, at: Instant): Promise<AuditRecord>;
  /**
   * Applies a plan with its index entries and record, and completes the job, in one transaction.
   * @returns the node that makes the plan stale; nothing is written then
   * @throws SvcError (`isTakenOver`)
   */
  publishPlan(
    claim: ExtractionClaim,
    publication: PlanPublication,
  ): Promise<{ readonly staleId: Uuid } | undefined>;
  /** @returns the job afterwards, unchanged if the claim is over */
  endExtraction(claim: ExtractionClaim, end: ExtractionEnd, at: Instant): Promise<ExtractionJob>;
  /** Undefined without such a job. */
  extractionJob(eventId: Uuid, owner: Owner): Promise<ExtractionJob | undefined>;
  /** Makes a waiting or failed job due. A replan also drops a stored plan, unless the job is complete or held. */
  retryExtraction(
    eventId: Uuid,
    owner: Owner,
    how: { readonly isReplan: boolean; readonly at: Instant },
  ): Promise<ExtractionJob | undefined>;
  countExtractions(owner: Owner): Promise<{ readonly pending: number; readonly failed: number }>;
  extractionLanes(owner: Owner): Promise<readonly ExtractionLane[]>;
};

/** A text of several active memories. */
export type RepeatedText<Key = NodeKey> = {
  /** SHA-256 of the text, or its first half. */
  readonly hash: string;
  readonly keys: readonly Key[];
};

export type EntityName<Key = NodeKey> = {
  readonly key: Key;
  readonly scope: Scope;
  readonly content: string;
};

export type PeriodSource<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  /** `YYYY-MM-DD`, UTC, of the event. */
  readonly day: string;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
};

/** Without its text. */
export type PublishedSummary<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  readonly isOpen: boolean;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
  /** A period, or a set of memories. */
  readonly about: string;
  /** `daily`, `weekly`, `monthly`; undefined for a set of memories. */
  readonly level: string | undefined;
  readonly periodKey: string | undefined;
  readonly requestHash: string;
  /** Counts publications on the subject. */
  readonly generation: number;
  /** Whether a memory that it shows became inactive lately and is not replaced by it, or by a summary of a group. */
  readonly isOutdated: boolean;
};

/** Reads for jobs that walk over an owner's memories in steps. */
export type Organizing<Key = NodeKey> = {
  /** The progress of a job; undefined: not begun. */
  walkPlace(job: string, userId: string): Promise<JsonObject | undefined>;
  saveWalkPlace(job: string, userId: string, place: JsonObject): Promise<void>;
  /** An upper bound of the owner's node keys; 0 if none. */
  newestKey(userId: string): Promise<number>;
  /** Texts of several active memories, one of them newer, by ascending hash. */
  repeatedTexts(read: {
    readonly userId: string;
    readonly newerThan: number;
    /** Exclusive; empty: from the first. */
    readonly afterHash: string;
    readonly limit: number;
  }): Promise<readonly RepeatedText<Key>[]>;
  /** All active entities. */
  entityNames(userId: string): Promise<readonly EntityName<Key>[]>;
  /** Tentative and stable ones, newer than a key, by ascending key. */
  newNodes(read: {
    readonly userId: string;
    /** Absent: any but summaries. */
    readonly nodeType?: NodeType | undefined;
    readonly newerThan: number;
    readonly limit: number;
  }): Promise<readonly KeyedNode<Key>[]>;
  /** Tentative and stable ones by (createdAt, id), newest first. */
  newestOfType(
    userId: string,
    nodeType: NodeType,
    limit: number,
  ): Promise<readonly KeyedNode<Key>[]>;
  /** Active memories that are not summaries. @param days `YYYY-MM-DD`; or a key: all days of newer memories */
  periodSources(
    userId: string,
    days: readonly string[] | number,
  ): Promise<readonly PeriodSource<Key>[]>;
  /** @param since what "lately" means; absent: ever */
  publishedSummaries(userId: string, since?: Instant): Promise<readonly PublishedSummary<Key>[]>;
  /** Memories that are subjects of active summaries of sets. */
  consolidatedIds(userId: string): Promise<ReadonlySet<Uuid>>;
};

/** Where a walk stops. */
export type Aging =
  /** Tentative nodes that are old enough and cite enough events (`mayBePromoted`). */
  | { readonly kind: "tentative"; readonly createdBefore: Instant; readonly evidence: number }
  /** Below the thresholds (`mayHaveFaded`), among those that can fade (`canFade`). */
  | ({ readonly kind: "faded" } & FadingMarks)
  /** Archived and deprecated nodes. */
  | { readonly kind: "retired" }
  /** Nodes with a retention that are not pinned. */
  | { readonly kind: "retained" };

export type AgingWalk = {
  readonly owner: Owner;
  readonly at: Aging;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
  /** Nodes examined per page. */
  readonly limit: number;
};

export type AgingPage = {
  /** Where the walk stops. */
  readonly nodes: readonly MemoryNode[];
  /** How many could be among them. */
  readonly considered: number;
  /** Opaque; undefined: the last page. */
  readonly next: string | undefined;
};

/** Every call is short, regardless of the pack's size, unless stated otherwise. */
export type Upkeep = {
  /** Oldest first for each owner and state. Changes to other nodes do not make a walk miss one. */
  walkAging(walk: AgingWalk): Promise<AgingPage>;
  /** When each was last in the context of a kept receipt; others are left out. */
  lastUses(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Instant>>;
  /** Whether an event or receipt is dated within, both ends included. */
  isDated(from: Instant, to: Instant): Promise<boolean>;
  /** The last doubted clock reading. */
  doubtedClock(): Promise<Instant | undefined>;
  doubtClock(at: Instant | undefined): Promise<void>;
  /** In either direction, by (createdAt, id). */
  edgesAt(nodeId: Uuid): Promise<readonly Edge[]>;
  /** The last `LIFECYCLE_CHANGED` or `TOMBSTONE_SWEEP` of each node. */
  lastSteps(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, AuditRecord>>;
  /** Active nodes with a retention (that ends by a moment), without pinned ones. */
  countRetained(owner: Owner, until?: Instant): Promise<number>;
  /** Removes index entries without an active node, among all of the owner's. @param limit nodes at most; 0 only counts */
  sweepIndexes(
    owner: Owner,
    limit: number,
  ): Promise<{ readonly found: number; readonly removed: number }>;
};
