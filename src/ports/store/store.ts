import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { Edge } from "../../domain/edge.ts";
import type { LifecycleState, NodeType, Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { ProcessingStatus } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../embedder.ts";
import type { Operation } from "./audit-record.ts";
import type { ChangeReads, Decide, PlannedChange } from "./changes.ts";
import type {
  ChainRead,
  ExpiredRead,
  ExtractionJob,
  NeighborhoodRead,
  NodeScan,
  OperationsOnTarget,
  Page,
} from "./graph-reads.ts";
import type { Owners } from "./owners.ts";
import type { IndexRebuild } from "./rebuild.ts";

/** Everything that one call admits. It becomes durable as a whole or not at all. */
export type Admission = {
  readonly events: readonly MemoryEvent[];
  readonly operations: readonly Operation[];
  /**
   * Nodes of the events that are there at once, with their lexical entries; only their vectors are left to the jobs.
   * Absent: the jobs bring everything.
   */
  readonly nodes?: readonly Pick<Materialization, "node" | "lexical">[];
  /** What the nodes do to others: decided once they are there. What the decision throws leaves nothing of the admission. */
  readonly change?: PlannedChange | undefined;
  /**
   * Keeps the events' jobs away from other workers until the caller has had its chance to run them.
   * Jobs without a lease are free for any worker at once.
   */
  readonly leaseJobs: boolean;
};

/** A job as a worker receives it: the event and, for a direct store, the node that was planned for it. */
export type MaterializationJob = {
  readonly event: MemoryEvent;
  readonly plannedNode: MemoryNode | undefined;
  /** Further active nodes that the event brought and that have lost an index entry (see `addNodes`). Absent: none. */
  readonly unindexed?: readonly MemoryNode[];
};

/** What becomes visible of one job in one transaction. */
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

/** A node that no job stands for, with what its index entries are made of. */
export type IndexedNode = {
  readonly node: MemoryNode;
  /** Of the node's own text. */
  readonly vector: Float32Array;
  readonly at: Instant;
};

/** A search hit: a node's integer key and its raw score, higher is better. */
export type Hit = { readonly key: number; readonly score: number };

/** A node together with the integer key that joins it to the indexes. */
export type KeyedNode = { readonly key: number; readonly node: MemoryNode };

export type NodeFilter = {
  readonly userId?: string;
  readonly nodeType?: NodeType;
  /** Empty or absent: all scopes. */
  readonly scopes?: readonly Scope[];
  /** Empty or absent: all sessions. */
  readonly sessionIds?: readonly string[];
  /** Empty: nothing matches. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly validAt?: Instant;
  /** Inclusive, on stored values. */
  readonly minConfidence?: number;
  readonly minSalience?: number;
  /** Any of these literal substrings, compared in lower case. Empty or absent: no restriction. */
  readonly contentContainsAny?: readonly string[];
  /** Inclusive. */
  readonly createdBefore?: Instant;
  /** Only what comes before this place in the order of (createdAt, id). */
  readonly olderThan?: { readonly createdAt: Instant; readonly id: Uuid };
  readonly oldestFirst: boolean;
  /** At least 0. */
  readonly limit: number;
};

export type EventPage = {
  readonly userId: string;
  readonly sessionId?: string;
  readonly scopes?: readonly Scope[];
  readonly limit: number;
  readonly offset: number;
};

/** The nodes that surround one node in its session, in order of (created_at, id). */
export type SessionWindow = {
  readonly before: readonly KeyedNode[];
  readonly after: readonly KeyedNode[];
};

/** How far a walk over edges goes. */
export type GraphReach = {
  /** 1 to 3. */
  readonly hops: number;
  /** Hits wanted; 0: none. */
  readonly limit: number;
};

/** The record of one retrieval, as the store keeps it. */
export type StoredReceipt = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly createdAt: Instant;
  /** Compact bytes that only the engine reads; a store compresses and encrypts them as it does everything. */
  readonly body: Uint8Array;
};

/** One page of an owner's operations of a kind of which each has a target of its own, by ascending target. */
export type OperationPage = {
  readonly opType: string;
  /** The owner, as `namespaceId` of the operations. */
  readonly userId: string;
  /** Exclusive. */
  readonly afterTargetId: string | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** The durable facts of a pack about itself. */
export type Manifest = {
  readonly formatVersion: number;
  readonly softwareVersion: string;
  readonly embedding: EmbeddingIdentity;
  readonly scoringVersion: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

/**
 * The event log, the graph, both indexes and the work queue of one pack or database.
 *
 * For callers: a promise that resolved is a promise kept across kill -9. Writes of overlapping calls are committed in
 * groups, in call order. Reads see every write that was acknowledged before the read began, by any process.
 * For implementers: each write method is one transaction. A method given an owner treats a foreign object exactly
 * like a missing one. Failures are SvcError (storage_failed, storage_busy, disk_full, engine_closed).
 */
export type Store = {
  readonly backend: "sqlite" | "postgres";
  readonly rebuild: IndexRebuild;
  readonly owners: Owners;
  manifest(): Manifest;

  /** Appends events, their pending jobs, the operations and the nodes, and makes the change. @throws what the change throws */
  admit(admission: Admission): Promise<void>;
  /**
   * As `admit`, unless an operation with the id of `guard` exists already: then nothing is written and that
   * operation is returned. Parallel identical calls leave one record.
   */
  admitOnce(admission: Admission, guard: Uuid): Promise<Operation | undefined>;

  /**
   * Reads, decides and writes in one transaction: no other writer, of this or any other process, comes in between.
   * Nodes that stop being active lose their entries in both indexes in the same transaction, and what is indexed of their
   * neighbours in a conversation is written again.
   * @throws what `decide` throws; then nothing was written
   */
  change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T>;

  /**
   * Takes up to `limit` pending jobs of the owner (of all owners when absent) that no live worker holds, fewest
   * attempts first, then in the order in which they became durable, and leases them to this process.
   */
  claimJobs(userId: string | undefined, limit: number): Promise<readonly MaterializationJob[]>;
  /** Gives back, unfinished, those of the jobs that this process still holds. */
  releaseJobs(eventIds: readonly Uuid[]): Promise<void>;
  /**
   * Writes nodes, index entries and job states; a job that is already complete is left alone, a node that exists is
   * kept, an inactive node is never indexed. Vectors of another model than the pack's are not written: their jobs stay
   * pending with the reason `embedding_mismatch`.
   * @returns the states of the jobs afterwards, in the order of the items; an item without a job is left out
   */
  materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]>;
  /**
   * Writes nodes with text and their entries in both indexes; a node that exists is kept, an inactive node is never indexed.
   * @throws SvcError embedding_mismatch when the pack's vectors are of another model than the store was opened for
   */
  addNodes(items: readonly IndexedNode[]): Promise<void>;
  /** Records a failed try of jobs whose node could not be written at all. */
  failJobs(eventIds: readonly Uuid[], reason: string, at: Instant): Promise<void>;
  jobStatus(eventId: Uuid, userId: string | undefined): Promise<ProcessingStatus | undefined>;
  countJobs(
    userId: string | undefined,
  ): Promise<{ readonly pending: number; readonly failed: number }>;

  event(id: Uuid, userId: string | undefined): Promise<MemoryEvent | undefined>;
  /** Newest first, then by id descending; ends early at `LIMITS.pageChars`. */
  events(page: EventPage): Promise<readonly MemoryEvent[]>;
  node(id: Uuid, userId: string | undefined): Promise<MemoryNode | undefined>;
  /** Newest first unless `oldestFirst`; ties by id; ends early at `LIMITS.pageChars`. */
  queryNodes(filter: NodeFilter): Promise<readonly MemoryNode[]>;
  /** By ascending id. Other calls come in between pages. */
  scanNodes(page: NodeScan): Promise<Page<MemoryNode>>;
  /**
   * Active nodes within `maxHops` edges of a node of the same owner, in either direction, without the node itself, nearest
   * first, then by id. The walk passes through inactive nodes; aliases that nobody verified are not walked. Ends early at
   * `LIMITS.pageChars`, with at least one node.
   */
  neighborhood(read: NeighborhoodRead): Promise<readonly MemoryNode[]>;
  /**
   * What replaced a node, or what it replaced, nearest first, in any state: one `supersedes` edge of the same owner a step,
   * the newest where there are several. Ends at a node that was met before, and early at `LIMITS.pageChars`, with at least
   * one node.
   */
  chain(read: ChainRead): Promise<readonly MemoryNode[]>;
  /** Active nodes whose retention ended before a moment (`retentionEnd`), the earliest ended first, then by id. */
  expired(read: ExpiredRead): Promise<readonly MemoryNode[]>;
  /**
   * Nodes that cite an event as evidence, of the event's owner, in any state, by ascending id: the first
   * `LIMITS.citingNodesMax`; ends early at `LIMITS.pageChars`.
   */
  nodesCiting(eventId: Uuid): Promise<readonly MemoryNode[]>;
  /** Events by id, of any owner, in no particular order; missing ones are left out. The rest is read by their ids again. */
  eventsById(ids: readonly Uuid[]): Promise<Page<MemoryEvent>>;
  /** The `contradicts` edges of an owner with both ends among the nodes, by (createdAt, id). */
  contradictionsAmong(userId: string, nodeIds: readonly Uuid[]): Promise<readonly Edge[]>;
  /** The `contradicts` edges at a node whose other end has the same owner and scope, by (createdAt, id). */
  contradictionsOf(nodeId: Uuid): Promise<readonly Edge[]>;
  /** Undefined for an unknown or foreign event, and where there is no such work. */
  extractionJob(eventId: Uuid, userId: string | undefined): Promise<ExtractionJob | undefined>;
  countNodes(userId: string | undefined): Promise<number>;
  countEvents(userId: string | undefined): Promise<number>;

  /**
   * The `k` active nodes nearest to `vector` by cosine among those that pass the filter; ties by key. Score = cosine.
   * @throws SvcError embedding_mismatch when the pack's vectors are of another model than the store was opened for
   */
  searchVectors(vector: Float32Array, filter: CandidateFilter, k: number): Promise<readonly Hit[]>;
  /**
   * About the `k` active nodes nearest to `vector`, as `searchVectors` gives them, at a fifth of its cost: now and then a
   * near one is missing.
   * @throws SvcError embedding_mismatch
   */
  nearVectors(vector: Float32Array, filter: CandidateFilter, k: number): Promise<readonly Hit[]>;
  /** The cosine of `vector` with each of the owner's active nodes in `keys` that has a vector, in no particular order. */
  cosines(vector: Float32Array, userId: string, keys: readonly number[]): Promise<readonly Hit[]>;
  /** The vector of the own text of each of the owner's active nodes in `keys` that has one; L2-normalised. */
  ownVectors(userId: string, keys: readonly number[]): Promise<ReadonlyMap<number, Float32Array>>;
  /**
   * The `k` best active nodes by BM25 among those that pass the filter, and after them those of `others` that match and
   * pass too but rank lower. Score = BM25, positive, best first, ties by key. Words are weighed by their rarity among
   * the owner's own memories.
   */
  searchText(
    query: string,
    filter: CandidateFilter,
    k: number,
    others?: readonly number[],
  ): Promise<readonly Hit[]>;
  /**
   * Active nodes that edges join to the entities of a question, over one to three hops and through inactive nodes too, by
   * stored confidence, then newest first. Score = proximity: 1 at one hop, 0.7 at two, 0.4 at three. Seeds are the newest
   * 100 active entities whose text contains one of `names`, whatever its case; wildcards are literal. Never leaves the
   * owner; aliases that nobody verified are not walked. Every step is bounded.
   */
  searchGraph(
    names: readonly string[],
    filter: CandidateFilter,
    reach: GraphReach,
  ): Promise<readonly Hit[]>;
  /**
   * Keys of tentative and stable nodes that have a claim of their own to the context, and pass the filter: the newest 500
   * that are pinned (`isPinned`) and the newest 500 tasks, without repeats.
   */
  pinned(filter: CandidateFilter): Promise<readonly number[]>;
  /** The other end of each contested node's newest outgoing `contradicts` edge, else of its newest incoming one. */
  contradictions(userId: string, keys: readonly number[]): Promise<ReadonlyMap<number, Uuid>>;
  /** Active nodes of the owner by id, in no particular order; missing and inactive ones are left out. */
  nodesById(userId: string, ids: readonly Uuid[]): Promise<readonly KeyedNode[]>;
  /** Active nodes by key, in no particular order; missing and inactive ones are left out. */
  nodesByKey(userId: string, keys: readonly number[]): Promise<readonly KeyedNode[]>;
  /** Active neighbours of each node in its own session and scope, at most `span` on either side, nearest first. */
  sessionWindows(
    userId: string,
    keys: readonly number[],
    span: number,
  ): Promise<ReadonlyMap<number, SessionWindow>>;

  /** Keeps a receipt. A request id that is there already is left as it is. */
  saveReceipt(receipt: StoredReceipt): Promise<void>;
  /** Undefined for an unknown or foreign request. */
  receipt(requestId: Uuid, userId: string | undefined): Promise<StoredReceipt | undefined>;
  /** Removes up to `limit` receipts written before a moment, oldest first. @returns how many */
  pruneReceipts(before: Instant, limit: number): Promise<number>;
  operationsOf(page: OperationPage): Promise<Page<Operation>>;
  operation(id: Uuid): Promise<Operation | undefined>;
  operationsOn(page: OperationsOnTarget): Promise<Page<Operation>>;

  /**
   * Finishes queued writes, closes the files and forgets the key; every call but `unlock` and `close` then fails with
   * pack_locked. Locking what is locked does nothing. @throws SvcError unsupported for all but encrypted directory packs
   */
  lock(): Promise<void>;
  /** Opens the files again; does nothing when they are open. @throws SvcError unsupported, and what opening throws */
  unlock(key: string): Promise<void>;

  /** Finishes queued writes, then closes. Later calls reject with engine_closed. Idempotent. */
  close(): Promise<void>;
};
