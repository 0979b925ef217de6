import type { Edge } from "../../domain/edge.ts";
import type {
  EdgeType,
  EpistemicType,
  LifecycleState,
  NodeType,
  Scope,
  SourceType,
} from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Page } from "./page.ts";

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
export type BrowsePlace = { readonly at: Instant; readonly id: Uuid };

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
