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
  /** Empty or absent: all. */
  readonly scopes?: readonly Scope[];
  /** Empty or absent: all. */
  readonly sessionIds?: readonly string[];
  /** Empty: nothing. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly validAt?: Instant;
  /** Inclusive, on stored values. */
  readonly minConfidence?: number;
  readonly minSalience?: number;
  /** Any of these literal substrings, in lower case. Empty or absent: all. */
  readonly contentContainsAny?: readonly string[];
  readonly createdBefore?: Instant;
  /** Before this position in the order of (createdAt, id). */
  readonly olderThan?: { readonly createdAt: Instant; readonly id: Uuid };
  readonly oldestFirst: boolean;
  /** At least 0. */
  readonly limit: number;
};

/** By ascending id. */
export type NodeScan = {
  readonly userId: string;
  readonly scope?: Scope | undefined;
  readonly nodeType?: NodeType | undefined;
  /** Empty: nothing. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly afterId?: Uuid | undefined;
  readonly limit: number;
};

export type NeighborhoodRead = {
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** 1 to 5. */
  readonly maxHops: number;
  /** Nodes visited by the walk, the first included. */
  readonly maxVisited: number;
};

export type ChainDirection = "forward" | "backward";

export type ChainRead = {
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** `forward`: what replaced the node; `backward`: what it replaced. */
  readonly direction: ChainDirection;
  readonly maxSteps: number;
};

export type ExpiredRead = { readonly owner: Owner; readonly now: Instant; readonly limit: number };

/** Lists of nodes end early at `LIMITS.pageChars`, with at least one node. */
export type Graph = {
  /**
   * Reads, decides and writes in one transaction; other writers wait. Nodes that become inactive leave both indexes, and their neighbours
   * in a conversation are reindexed.
   * @throws what `decide` throws; nothing is written then
   */
  change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T>;
  node(id: Uuid, owner: Owner): Promise<MemoryNode | undefined>;
  /** Newest first unless `oldestFirst`; ties by id. */
  queryNodes(filter: NodeFilter): Promise<readonly MemoryNode[]>;
  /** By ascending id. */
  scanNodes(page: NodeScan): Promise<Page<MemoryNode>>;
  /** Active nodes of the owner within `maxHops` edges in either direction, also via inactive ones; nearest first, then by id. */
  neighborhood(read: NeighborhoodRead): Promise<readonly MemoryNode[]>;
  /** One `supersedes` edge of the owner per step, the newest; nodes in any state, nearest first, until a cycle. */
  chain(read: ChainRead): Promise<readonly MemoryNode[]>;
  /** Active nodes past their retention (`retentionEnd`), earliest first, then by id. */
  expired(read: ExpiredRead): Promise<readonly MemoryNode[]>;
  /** Nodes of the event's owner that cite it, in any state, by id: the first `LIMITS.citingNodesMax`. */
  nodesCiting(eventId: Uuid, owner: Owner): Promise<readonly MemoryNode[]>;
  /** With both ends among the nodes, by (createdAt, id). */
  contradictionsAmong(userId: string, nodeIds: readonly Uuid[]): Promise<readonly Edge[]>;
  /** Whose other end has the same owner and scope, by (createdAt, id). */
  contradictionsOf(nodeId: Uuid, owner: Owner): Promise<readonly Edge[]>;
  countNodes(owner: Owner): Promise<number>;
};

/** Input of a decision, read in the transaction that writes the result. */
export type ChangeReads = {
  /** Nodes and events of other owners are missing. Absent: any owner's. */
  readonly owner?: Owner | undefined;
  /** Locked until the change is done. */
  readonly nodeIds: readonly Uuid[];
  readonly auditRecordIds: readonly Uuid[];
  readonly eventIds: readonly Uuid[];
  /** A node whose edges are all read. */
  readonly edgesOf?: Uuid | undefined;
  /** Nothing is written once the claim is over (`isTakenOver`). */
  readonly claim?: WorkClaim | undefined;
};

/** Missing objects are absent. */
export type ChangeSnapshot = {
  /** The current time, later than the last change of each node. */
  readonly at: Instant;
  readonly nodes: ReadonlyMap<Uuid, MemoryNode>;
  readonly auditRecords: ReadonlyMap<Uuid, AuditRecord>;
  readonly events: ReadonlyMap<Uuid, MemoryEvent>;
  /** With both ends among the nodes, by (createdAt, id). */
  readonly edges: readonly Edge[];
  /** At the node of `edgesOf`, in either direction, by (createdAt, id). */
  readonly edgesOf: readonly Edge[];
};

export type Change = {
  /** Existing nodes; identity, owner, text and session stay. */
  readonly nodes: readonly MemoryNode[];
  /** New or reactivated nodes with their index entries, written after `nodes`. */
  readonly added?: readonly IndexedNode[] | undefined;
  readonly edges: readonly Edge[];
  readonly auditRecords: readonly AuditRecord[];
};

export type Decision<T> = {
  /** Undefined: nothing is written. */
  readonly change: Change | undefined;
  readonly result: T;
};

/** A decision made in the transaction of another write. */
export type PlannedChange = { readonly reads: ChangeReads; readonly decide: Decide<unknown> };

/** Pure and synchronous; may run again. If it throws, nothing changes. */
export type Decide<T> = (snapshot: ChangeSnapshot) => Decision<T>;

/** When it was stored (`learned`), or happened, else stored. */
export type BrowseClock = "learned" | "happened";

/** Absent members do not restrict; empty lists match nothing. */
export type BrowseFilter = {
  readonly userId: string;
  readonly clock: BrowseClock;
  /** Ascending, without repeats. */
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
  /** Whose retention ends before this. */
  readonly expiresBefore?: Instant | undefined;
  /** A literal part of the text, in lower case. */
  readonly contains?: string | undefined;
};

type BrowsePlace = { readonly at: Instant; readonly id: Uuid };

export type BrowsePage = BrowseFilter & {
  readonly oldestFirst: boolean;
  readonly after?: BrowsePlace | undefined;
  readonly limit: number;
};

/** Properties by which memories are counted. */
export type FacetValues = {
  readonly nodeType: NodeType;
  readonly lifecycleState: LifecycleState;
  readonly scope: Scope;
  readonly sourceType: SourceType;
  readonly epistemicType: EpistemicType;
};

export type FacetCount = FacetValues & { readonly count: number };

/** Memories of one state in a quarter of an hour. */
export type QuarterCount = {
  /** Its start in UTC, `2026-03-01T12:15`. */
  readonly quarter: string;
  readonly lifecycleState: LifecycleState;
  readonly count: number;
};

/** By ascending id; both ends belong to the owner of the edge. */
export type EdgePage = {
  readonly owner: Owner;
  /** At either end. */
  readonly nodeId?: Uuid | undefined;
  readonly sourceId?: Uuid | undefined;
  readonly targetId?: Uuid | undefined;
  readonly edgeType?: EdgeType | undefined;
  readonly afterId?: Uuid | undefined;
  readonly limit: number;
};

/** `nodeA` was named first. Open while both are contested. */
export type NotedContradiction = {
  readonly edge: Edge;
  readonly nodeA: MemoryNode;
  readonly nodeB: MemoryNode;
  /** Undefined without a record. */
  readonly actorId: string | undefined;
};

/** Oldest first, ties by id. */
export type ContradictionPage = {
  readonly userId: string;
  /** Absent: both. */
  readonly isOpen?: boolean | undefined;
  /** The id of a `contradicts` edge of the owner, else invalid_argument. */
  readonly afterId?: Uuid | undefined;
  readonly limit: number;
};

/** Active entities, those with the most memories first, ties by id. */
export type EntityPage = {
  readonly userId: string;
  /** A literal part of the name, in lower case. */
  readonly contains?: string | undefined;
  readonly after?: { readonly memories: number; readonly id: Uuid } | undefined;
  readonly limit: number;
};

/** With the active memories one edge away that are no entities. */
export type CountedEntity = {
  readonly node: MemoryNode;
  readonly memories: number;
  readonly contested: number;
};

/** Of nodes in all states. */
export type StoreCounts = {
  readonly nodes: readonly (Pick<FacetValues, "nodeType" | "lifecycleState" | "scope"> & {
    readonly count: number;
    /** Sums over the nodes. */
    readonly confidence: number;
    readonly salience: number;
  })[];
  readonly edges: readonly { readonly edgeType: EdgeType; readonly count: number }[];
  readonly events: number;
};

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
  /** In any state, in no particular order, without missing ones. */
  nodesOf(userId: string, ids: readonly Uuid[]): Promise<Page<MemoryNode>>;
};

/** By (timestamp, id). */
export type EventWalk = {
  readonly userId: string;
  readonly sessionId?: string | undefined;
  /** Absent: all. Empty: nothing. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly oldestFirst: boolean;
  readonly after?: { readonly at: Instant; readonly id: Uuid } | undefined;
  readonly limit: number;
};

/** Events and active memories of a conversation. */
export type Session = {
  readonly sessionId: string;
  /** Of both. */
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly events: number;
  readonly memories: number;
};

/** Latest first; ties by id, descending. */
export type SessionPage = {
  readonly userId: string;
  readonly after?: { readonly at: Instant; readonly sessionId: string } | undefined;
  readonly limit: number;
};

/** Statistics of the store and of one owner in it. */
export type StoreState = {
  /** Changes with every commit of any process. */
  readonly changeSequence: string;
  /** On disk, without the log. */
  readonly bytes: number;
  /** Undefined: unknown. */
  readonly isEncrypted: boolean | undefined;
  /** Nodes by state. */
  readonly states: Readonly<Partial<Record<LifecycleState, number>>>;
  readonly receipts: number;
};

export type Activity = {
  eventsByTime(page: EventWalk): Promise<Page<MemoryEvent>>;
  sessions(page: SessionPage): Promise<Page<Session>>;
  storeState(owner: Owner): Promise<StoreState>;
};
