import type {
  EdgeType,
  EpistemicType,
  LifecycleState,
  NodeType,
  Scope,
  SourceType,
} from "../../domain/enums.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord, Page } from "./records.ts";
import type { IndexedNode } from "./search-index.ts";
import type { WorkClaim } from "./work.ts";

export type NodeFilter = {
  readonly owner: Owner;
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
  /** Only nodes that come before this place in the order of (createdAt, id). */
  readonly olderThan?: { readonly createdAt: Instant; readonly id: Uuid };
  readonly oldestFirst: boolean;
  /** At least 0. */
  readonly limit: number;
};

/** One page of an owner's nodes by ascending id. */
export type NodeScan = {
  readonly userId: string;
  /** Absent: any. */
  readonly scope?: Scope | undefined;
  readonly nodeType?: NodeType | undefined;
  /** Empty: nothing matches. */
  readonly lifecycleStates: readonly LifecycleState[];
  /** Exclusive. */
  readonly afterId?: Uuid | undefined;
  /** At least 1. */
  readonly limit: number;
};

export type NeighborhoodRead = {
  /** Of the node. */
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** 1 to 5. */
  readonly maxHops: number;
  /** Maximum nodes visited by the walk, including the first. */
  readonly maxVisited: number;
};

export type ChainDirection = "forward" | "backward";

export type ChainRead = {
  /** Of the node. */
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** `forward`: what replaced the node; `backward`: what it replaced. */
  readonly direction: ChainDirection;
  readonly maxSteps: number;
};

/** Nodes whose retention has ended. */
export type ExpiredRead = {
  readonly owner: Owner;
  readonly now: Instant;
  /** At least 1. */
  readonly limit: number;
};

/** Nodes and the edges between them. */
export type Graph = {
  /**
   * Reads, decides and writes in one transaction: no other writer, of this or any other process, runs in between. Nodes that stop
   * being active lose their entries in both indexes in the same transaction, and what is indexed for their neighbours in a
   * conversation is rewritten.
   * @throws what `decide` throws; then nothing was written
   */
  change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T>;
  node(id: Uuid, owner: Owner): Promise<MemoryNode | undefined>;
  /** Newest first unless `oldestFirst`; ties by id; ends early at `LIMITS.pageChars`. */
  queryNodes(filter: NodeFilter): Promise<readonly MemoryNode[]>;
  /** By ascending id. Other calls run between pages. */
  scanNodes(page: NodeScan): Promise<Page<MemoryNode>>;
  /**
   * Active nodes within `maxHops` edges of a node of the same owner, in either direction, without the node itself, nearest first,
   * then by id. The walk passes through inactive nodes. Ends early at `LIMITS.pageChars`, with
   * at least one node.
   */
  neighborhood(read: NeighborhoodRead): Promise<readonly MemoryNode[]>;
  /**
   * What replaced a node, or what it replaced, nearest first, in any state: one `supersedes` edge of the same owner per step, the
   * newest if there are several. Ends at a node that it has visited before, and early at `LIMITS.pageChars`, with at least one
   * node.
   */
  chain(read: ChainRead): Promise<readonly MemoryNode[]>;
  /** Active nodes whose retention ended before a moment (`retentionEnd`), earliest first, then by id. */
  expired(read: ExpiredRead): Promise<readonly MemoryNode[]>;
  /**
   * Nodes that cite an event as evidence, of the event's owner, in any state, by ascending id: the first
   * `LIMITS.citingNodesMax`; ends early at `LIMITS.pageChars`.
   */
  nodesCiting(eventId: Uuid, owner: Owner): Promise<readonly MemoryNode[]>;
  /** The `contradicts` edges of an owner with both ends among the nodes, by (createdAt, id). */
  contradictionsAmong(userId: string, nodeIds: readonly Uuid[]): Promise<readonly Edge[]>;
  /** The `contradicts` edges at a node whose other end has the same owner and scope, by (createdAt, id). */
  contradictionsOf(nodeId: Uuid, owner: Owner): Promise<readonly Edge[]>;
  countNodes(owner: Owner): Promise<number>;
};

/** Input of a decision. All of it is read in the transaction that writes the result. */
export type ChangeReads = {
  /** Whose nodes and events are read: those of others are missing, as if they did not exist. Absent: anybody's. */
  readonly owner?: Owner | undefined;
  /** Locked until the change is done. */
  readonly nodeIds: readonly Uuid[];
  readonly auditRecordIds: readonly Uuid[];
  readonly eventIds: readonly Uuid[];
  /** A node all of whose edges are wanted. Absent: none. */
  readonly edgesOf?: Uuid | undefined;
  /** The claim under which the change is made: once it is over, nothing is written (`isTakenOver`). Absent: none. */
  readonly claim?: WorkClaim | undefined;
};

/** What was found; missing objects are absent. Nodes and events may belong to any owner: the decision must check. */
export type ChangeSnapshot = {
  /** The moment of the change: now, and later than the last change of each of the nodes, whichever clock dated that. */
  readonly at: Instant;
  readonly nodes: ReadonlyMap<Uuid, MemoryNode>;
  readonly auditRecords: ReadonlyMap<Uuid, AuditRecord>;
  readonly events: ReadonlyMap<Uuid, MemoryEvent>;
  /** The edges with both ends among the nodes, by (createdAt, id). */
  readonly edges: readonly Edge[];
  /** All edges at the node of `edgesOf`, in either direction, by (createdAt, id). */
  readonly edgesOf: readonly Edge[];
};

/** What a decision writes: everything, or nothing. */
export type Change = {
  /**
   * Existing nodes in their new form: state, numbers, evidence, metadata and times may change; identity, owner, text and session
   * may not.
   */
  readonly nodes: readonly MemoryNode[];
  /**
   * New nodes, and nodes that become active again, with their index entries, as `SearchIndex.addNodes` writes them once `nodes`
   * are written. Absent: none.
   */
  readonly added?: readonly IndexedNode[] | undefined;
  /** New edges between nodes of one owner, of which new ones are written first. */
  readonly edges: readonly Edge[];
  readonly auditRecords: readonly AuditRecord[];
};

export type Decision<T> = {
  /** Undefined: nothing is written, for example for a retry. */
  readonly change: Change | undefined;
  readonly result: T;
};

/** A change caused by another write. It is decided and made in the transaction of that write, which adds all new nodes. */
export type PlannedChange = {
  readonly reads: ChangeReads;
  readonly decide: Decide<unknown>;
};

/**
 * Decides over a snapshot. Pure and synchronous; may run again if the store has to start over. If it throws, nothing changes and
 * the caller gets the error unchanged.
 */
export type Decide<T> = (snapshot: ChangeSnapshot) => Decision<T>;

/** When a memory was stored (`learned`), or when what it tells happened, else when it was stored. */
export type BrowseClock = "learned" | "happened";

/** Which of an owner's memories a person looks through. Absent members do not restrict; an empty list matches nothing. */
export type BrowseFilter = {
  readonly userId: string;
  readonly clock: BrowseClock;
  /** In ascending order of their names, without repeats. */
  readonly lifecycleStates?: readonly LifecycleState[] | undefined;
  readonly nodeType?: NodeType | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly sourceTypes?: readonly SourceType[] | undefined;
  readonly epistemicTypes?: readonly EpistemicType[] | undefined;
  readonly sessionId?: string | undefined;
  readonly validAt?: Instant | undefined;
  /** Inclusive, by the clock. */
  readonly timeFrom?: Instant | undefined;
  /** Exclusive, by the clock. */
  readonly timeTo?: Instant | undefined;
  /** Whose retention ends before this moment. Pinned memories do not expire. */
  readonly expiresBefore?: Instant | undefined;
  /** A literal part of the text, compared in lower case. */
  readonly contains?: string | undefined;
};

/** A place in an order by clock and id. */
type BrowsePlace = { readonly at: Instant; readonly id: Uuid };

export type BrowsePage = BrowseFilter & {
  readonly oldestFirst: boolean;
  /** Exclusive. */
  readonly after?: BrowsePlace | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** The properties by which memories are counted. */
export type FacetValues = {
  readonly nodeType: NodeType;
  readonly lifecycleState: LifecycleState;
  readonly scope: Scope;
  readonly sourceType: SourceType;
  readonly epistemicType: EpistemicType;
};

/** Memories with the same properties. */
export type FacetCount = FacetValues & { readonly count: number };

/** Memories in one state of one quarter of an hour. */
export type QuarterCount = {
  /** The start of the quarter in UTC, `2026-03-01T12:15`. */
  readonly quarter: string;
  readonly lifecycleState: LifecycleState;
  readonly count: number;
};

/** One page of edges by ascending id, whose ends both belong to the owner of the edge. */
export type EdgePage = {
  readonly owner: Owner;
  /** At either end. */
  readonly nodeId?: Uuid | undefined;
  readonly sourceId?: Uuid | undefined;
  readonly targetId?: Uuid | undefined;
  readonly edgeType?: EdgeType | undefined;
  /** Exclusive. */
  readonly afterId?: Uuid | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** A contradiction that was noted: `nodeA` was named first. Open while both are contested. */
export type NotedContradiction = {
  readonly edge: Edge;
  readonly nodeA: MemoryNode;
  readonly nodeB: MemoryNode;
  /** Who noted it, as recorded; undefined without a record. */
  readonly actorId: string | undefined;
};

/** One page of contradictions, oldest first, ties by id. */
export type ContradictionPage = {
  readonly userId: string;
  /** Absent: both. */
  readonly isOpen?: boolean | undefined;
  /** The id of a `contradicts` edge of the owner; exclusive. Any other is invalid_argument: an empty page would say that there is no more. */
  readonly afterId?: Uuid | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** One page of an owner's active entities: those with the most memories first, ties by id. */
export type EntityPage = {
  readonly userId: string;
  /** A literal part of the name, compared in lower case. */
  readonly contains?: string | undefined;
  /** Exclusive. */
  readonly after?: { readonly memories: number; readonly id: Uuid } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** An entity with the number of active memories one edge away, other entities left out. */
export type CountedEntity = {
  readonly node: MemoryNode;
  readonly memories: number;
  /** How many of them are contested. */
  readonly contested: number;
};

/** Numbers of what is stored, in all states. */
export type StoreCounts = {
  readonly nodes: readonly (Pick<FacetValues, "nodeType" | "lifecycleState" | "scope"> & {
    readonly count: number;
    /** Sums over these nodes. */
    readonly confidence: number;
    readonly salience: number;
  })[];
  readonly edges: readonly { readonly edgeType: EdgeType; readonly count: number }[];
  readonly events: number;
};

/** Looking through what is stored. */
export type Browse = {
  /** By clock, then id, newest first unless `oldestFirst`. */
  browse(page: BrowsePage): Promise<Page<MemoryNode>>;
  facetCounts(filter: BrowseFilter): Promise<readonly FacetCount[]>;
  /** In no particular order. */
  quarterCounts(filter: BrowseFilter): Promise<readonly QuarterCount[]>;
  edges(page: EdgePage): Promise<Page<Edge>>;
  entities(page: EntityPage): Promise<Page<CountedEntity>>;
  notedContradictions(page: ContradictionPage): Promise<Page<NotedContradiction>>;
  storeCounts(owner: Owner): Promise<StoreCounts>;
  /** In any state, in no particular order; missing ones are left out. Ends at `LIMITS.pageChars`, with at least one node. */
  nodesOf(userId: string, ids: readonly Uuid[]): Promise<Page<MemoryNode>>;
};

/** One page of an owner's events by (timestamp, id). */
export type EventWalk = {
  readonly userId: string;
  readonly sessionId?: string | undefined;
  /** Absent: all. Empty: nothing matches. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly oldestFirst: boolean;
  /** Exclusive. */
  readonly after?: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** A conversation: its events and its active memories. */
export type Session = {
  readonly sessionId: string;
  /** Of the earliest and the latest of both. */
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly events: number;
  readonly memories: number;
};

/** One page of an owner's sessions, the latest first; ties by id, descending. */
export type SessionPage = {
  readonly userId: string;
  /** Exclusive. */
  readonly after?: { readonly at: Instant; readonly sessionId: string } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** The store as a whole, and how much of it is an owner's. */
export type StoreState = {
  /** Another text after every committed change, by whatever process. Only the store knows its meaning. */
  readonly changeSequence: string;
  /** On disk, without what waits in a log. */
  readonly bytes: number;
  /** Undefined where its server decides and does not tell. */
  readonly isEncrypted: boolean | undefined;
  /** Nodes; states without any are left out. */
  readonly states: Readonly<Partial<Record<LifecycleState, number>>>;
  readonly receipts: number;
};

/** What has happened in a store. */
export type Activity = {
  eventsByTime(page: EventWalk): Promise<Page<MemoryEvent>>;
  sessions(page: SessionPage): Promise<Page<Session>>;
  storeState(owner: Owner): Promise<StoreState>;
};
