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

/** The right to extract one event, until its lease ends. */
export type ExtractionClaim = {
  readonly event: MemoryEvent;
  /** Place of the job in the queue: the order of admission. */
  readonly order: number;
  /** Counts the claims and the replans of the job. */
  readonly generation: number;
  /** Tries, this one included. */
  readonly attempts: number;
  /** Counts the plans of the event, from 1. */
  readonly revision: number;
  /** The plan that was kept and not carried out. */
  readonly plan: AuditRecord | undefined;
  /** What was extracted from the event before, whole. */
  readonly record: AuditRecord | undefined;
};

/** Which jobs may be claimed. */
export type ExtractionFilter = {
  readonly owner: Owner;
  readonly scope?: Scope | undefined;
  readonly eventId?: Uuid | undefined;
  /** Highest order, inclusive. */
  readonly upTo?: number | undefined;
  /** Whether a job that waits after a failure is passed over. */
  readonly isDueOnly: boolean;
};

/** A turn that waits behind a claimed one: same owner, scope and session. */
export type WaitingTurn = {
  readonly event: MemoryEvent;
  readonly order: number;
  readonly isRecorded: boolean;
};

/** What of the memories of an owner and scope a plan may need. */
export type KnownLookup = {
  readonly event: MemoryEvent;
  /** Names of entities, as `namesToFind` gives them. */
  readonly names: readonly string[];
  /** Values of claims, as `valuesToFind` gives them: claims that none of them may be about are left out. */
  readonly values: readonly string[];
  /** Memories that the request showed. */
  readonly shownIds: readonly Uuid[];
};

/** What carries a plan out, whole or not at all. */
export type PlanPublication = {
  readonly plan: DerivationPlan;
  /** One for each node of the plan, in their order; undefined for one that gets none. */
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly at: Instant;
};

/** How a try ended that published nothing. */
export type ExtractionEnd =
  /** The reason code. Tries 1 to 3 are repeated later, the fourth ends the job. */
  { readonly failure: string } | "cancelled";

/** Owners and scopes with extraction work that is not done. */
export type ExtractionLane = {
  readonly userId: string;
  readonly scope: Scope;
  /** Highest order of it. */
  readonly upTo: number;
  /** When the first of its jobs is due; undefined: now. */
  readonly due: Instant | undefined;
};

/**
 * Extraction of admitted events, one after the other for each owner and scope.
 *
 * For callers: a claim is leased for the seconds that are given and renewed while its holder works. Every write under a claim throws
 * `takenOver` and writes nothing once the claim is over.
 * For implementers: a job that is pending or running holds up the later ones of its owner and scope; one that has failed or is
 * complete does not. Each write checks generation and lease in its own transaction.
 */
export type ExtractionQueue = {
  /** Claims the first job of its lane that fits. A lease of a process that is known to be gone is over. */
  claimExtraction(
    filter: ExtractionFilter,
    leaseSeconds: number,
  ): Promise<ExtractionClaim | undefined>;
  /** @returns false when the claim is over */
  renewExtraction(claim: ExtractionClaim, leaseSeconds: number): Promise<boolean>;
  /** Turns after the claimed one that wait, in the order of the queue; none for an event without session. */
  waitingTurns(
    claim: ExtractionClaim,
    page: { readonly upTo: number | undefined; readonly limit: number },
  ): Promise<readonly WaitingTurn[]>;
  /**
   * The newest turns of a claimed one's session and scope that were admitted before it and are not blank, oldest first; none for an
   * event without session.
   */
  earlierTurns(claim: ExtractionClaim, limit: number): Promise<readonly MemoryEvent[]>;
  /** Keeps what was answered: a record that is there already stays as it is. @throws SvcError (`isTakenOver`) */
  saveExtractions(claim: ExtractionClaim, records: readonly AuditRecord[]): Promise<void>;
  knownMemories(lookup: KnownLookup): Promise<KnownMemories>;
  /** Keeps a plan before it is carried out. @throws SvcError (`isTakenOver`) */
  savePlan(claim: ExtractionClaim, plan: DerivationPlan, at: Instant): Promise<AuditRecord>;
  /**
   * Carries a plan out (`publish` of the domain), with its index entries, its receipt and the end of the job, in one transaction.
   * A job that is complete stays as it is.
   * @returns the node because of which the plan no longer fits; then nothing is written
   * @throws SvcError (`isTakenOver`)
   */
  publishPlan(
    claim: ExtractionClaim,
    publication: PlanPublication,
  ): Promise<{ readonly staleId: Uuid } | undefined>;
  /** @returns the job afterwards; as it is if the claim is over */
  endExtraction(claim: ExtractionClaim, end: ExtractionEnd, at: Instant): Promise<ExtractionJob>;
  /** Undefined for an unknown event, one of another owner, or one without such work. */
  extractionJob(eventId: Uuid, owner: Owner): Promise<ExtractionJob | undefined>;
  /**
   * Makes a job that waits or has failed due now. A replan gives up a kept plan too, unless the job is complete or held.
   * @returns as `extractionJob`
   */
  retryExtraction(
    eventId: Uuid,
    owner: Owner,
    how: { readonly isReplan: boolean; readonly at: Instant },
  ): Promise<ExtractionJob | undefined>;
  countExtractions(owner: Owner): Promise<{ readonly pending: number; readonly failed: number }>;
  extractionLanes(owner: Owner): Promise<readonly ExtractionLane[]>;
};

/** A text that several of an owner's active memories have, to the last byte. */
export type RepeatedText<Key = NodeKey> = {
  /** SHA-256 of the text. */
  readonly hash: string;
  readonly keys: readonly Key[];
};

export type EntityName<Key = NodeKey> = {
  readonly key: Key;
  readonly scope: Scope;
  readonly content: string;
};

/** What decides which memories of a period are summed up. */
export type PeriodSource<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  /** `YYYY-MM-DD`, UTC: of the time that the memory speaks of. */
  readonly day: string;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
};

/** An active summary that the organizer published, without its text. */
export type PublishedSummary<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  readonly isOpen: boolean;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
  /** What it is about: a period, or a set of memories. */
  readonly about: string;
  /** `daily`, `weekly`, `monthly`; undefined for one of a set of memories. */
  readonly level: string | undefined;
  readonly periodKey: string | undefined;
  /** What it was made from. */
  readonly requestHash: string;
  /** How often a summary of this was published, this one included. */
  readonly generation: number;
  /**
   * Whether one of the memories whose text it holds stopped being active of late, and was replaced neither by it nor by an active
   * summary of a group (without a level), which says the same.
   */
  readonly isOutdated: boolean;
};

/** What jobs read that go over all memories of an owner, a part in each run. */
export type Organizing<Key = NodeKey> = {
  /** How far a job has come with an owner's memories; undefined: it has not begun. Nothing relies on it but speed. */
  walkPlace(job: string, userId: string): Promise<JsonObject | undefined>;
  saveWalkPlace(job: string, userId: string, place: JsonObject): Promise<void>;
  /** A key that no memory of an owner is newer than: that of the newest one, or of a newer one of others; 0 without any. */
  newestKey(userId: string): Promise<number>;
  /** Texts of several active memories, one of them newer than a key, by ascending hash. */
  repeatedTexts(read: {
    readonly userId: string;
    readonly newerThan: number;
    /** Exclusive; empty: from the first. */
    readonly afterHash: string;
    readonly limit: number;
  }): Promise<readonly RepeatedText<Key>[]>;
  /** All active entities of an owner. */
  entityNames(userId: string): Promise<readonly EntityName<Key>[]>;
  /** Tentative and stable memories that are newer than a key, by ascending key. */
  newNodes(read: {
    readonly userId: string;
    /** Absent: any but summaries. */
    readonly nodeType?: NodeType | undefined;
    readonly newerThan: number;
    readonly limit: number;
  }): Promise<readonly KeyedNode<Key>[]>;
  /** The newest tentative and stable memories of a type, by (createdAt, id), newest first. */
  newestOfType(
    userId: string,
    nodeType: NodeType,
    limit: number,
  ): Promise<readonly KeyedNode<Key>[]>;
  /**
   * The active memories of some days that are no summaries, in no particular order.
   * @param days `YYYY-MM-DD`; or a key: then of all days of memories that are newer
   */
  periodSources(
    userId: string,
    days: readonly string[] | number,
  ): Promise<readonly PeriodSource<Key>[]>;
  /** @param since what "of late" means; absent: ever */
  publishedSummaries(userId: string, since?: Instant): Promise<readonly PublishedSummary<Key>[]>;
  /** The memories that active summaries of sets of memories are about. */
  consolidatedIds(userId: string): Promise<ReadonlySet<Uuid>>;
};

/** At which nodes a walk stops. */
export type Aging =
  /** Of the tentative ones that are not younger, those that cite at least so many events (`mayBePromoted`). */
  | { readonly kind: "tentative"; readonly createdBefore: Instant; readonly evidence: number }
  /**
   * Those that are below the marks (`mayHaveFaded`); considered are those that can fade (`canFade`) or are of a type with a mark.
   */
  | ({ readonly kind: "faded" } & FadingMarks)
  /** All that are archived or deprecated: not active ones. */
  | { readonly kind: "retired" }
  /** All whose retention ends, those that are pinned left out. */
  | { readonly kind: "retained" };

export type AgingWalk = {
  readonly owner: Owner;
  readonly at: Aging;
  /** `next` of the page before. Absent: from the beginning. */
  readonly after?: string | undefined;
  /** Nodes that are looked at for one page, at least 1. */
  readonly limit: number;
};

export type AgingPage = {
  /** At which the walk stops. */
  readonly nodes: readonly MemoryNode[];
  /** How many could be among them: those that are old enough, or can fade. */
  readonly considered: number;
  /** Where the next page begins; only the store knows its meaning. Undefined: that was the last one. */
  readonly next: string | undefined;
};

/** What the upkeep of a pack looks for. Every call is short, however large the pack is, unless it says otherwise. */
export type Upkeep = {
  /** Walks over active nodes, for each owner and state the oldest first. A walk whose nodes change meanwhile misses no other. */
  walkAging(walk: AgingWalk): Promise<AgingPage>;
  /** When each of these nodes was last in the context of an answer whose receipt is kept; those that never were are left out. */
  lastUses(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Instant>>;
  /** Whether an event or a receipt of anybody is dated in a span: from, inclusive; to, inclusive. */
  isDated(from: Instant, to: Instant): Promise<boolean>;
  /** The reading of the clock that a pass doubted last (`doubtClock`). */
  doubtedClock(): Promise<Instant | undefined>;
  doubtClock(at: Instant | undefined): Promise<void>;
  /** All edges at a node, in either direction, by (createdAt, id). */
  edgesAt(nodeId: Uuid): Promise<readonly Edge[]>;
  /** What moved each of these nodes to its next state last: `LIFECYCLE_CHANGED` or `TOMBSTONE_SWEEP`; others are left out. */
  lastSteps(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, AuditRecord>>;
  /** Active nodes whose retention ends, by a moment if one is given; those that are pinned left out. */
  countRetained(owner: Owner, until?: Instant): Promise<number>;
  /**
   * Removes entries from both indexes that belong to no active node. Looks through all of the owner's.
   * @param limit nodes whose entries are removed at most; 0 only counts
   */
  sweepIndexes(
    owner: Owner,
    limit: number,
  ): Promise<{ readonly found: number; readonly removed: number }>;
};
