import type {
  EdgeType,
  EpistemicType,
  LifecycleState,
  NodeType,
  Scope,
  SourceType,
} from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Bucket } from "../../lib/local-dates.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { BrowseClock, CountedEntity, Session, StoreCounts } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";

/** `changed`: another state among the active ones, such as contested. */
export const CHANGE_KINDS = [
  "stored",
  "changed",
  "superseded",
  "deprecated",
  "archived",
  "restored",
  "forgotten",
] as const;

/** A change in the feed of an owner. */
export type FeedChange = {
  /** `since` of a call that goes on after it. */
  readonly cursor: string;
  readonly at: Instant;
  readonly change: (typeof CHANGE_KINDS)[number];
  readonly nodeId: Uuid;
  /** Afterwards; undefined: forgotten. */
  readonly state: LifecycleState | undefined;
  /** The memory as it is now; undefined if it has been forgotten since. */
  readonly node: MemoryNode | undefined;
};

export type FeedQuery = Pick<PageQuery, "limit"> & {
  readonly userId: string;
  /** A cursor of the feed, or `now`. Absent: from the beginning. */
  readonly since?: string | null | undefined;
};

/** In the order of the commits; `nextCursor` is the `since` of the next call, also if nothing has changed. */
export type ChangeFeed = {
  readonly changes: readonly FeedChange[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
};

/** When a memory was stored, or when its event happened (storage time if unknown). */
export const CLOCKS = ["learned", "happened"] as const satisfies readonly BrowseClock[];
export const BROWSE_ORDERS = ["newest", "oldest"] as const;
export const CONTRADICTION_STATUSES = ["open", "resolved"] as const;
export type ContradictionStatus = (typeof CONTRADICTION_STATUSES)[number];

/** Filters of a list of memories. Null and absent do not restrict; an empty list matches nothing. */
export type BrowseFilters = {
  readonly userId: string;
  /** Decides the order, and what `timeFrom` and `timeTo` are compared with. Default `learned`. */
  readonly clock?: BrowseClock | null | undefined;
  /** Absent: tentative, stable, contested. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  readonly nodeType?: NodeType | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  readonly sourceTypes?: readonly SourceType[] | null | undefined;
  readonly epistemicTypes?: readonly EpistemicType[] | null | undefined;
  readonly sessionId?: string | null | undefined;
  readonly validAt?: InstantInput | null | undefined;
  /** Inclusive. */
  readonly timeFrom?: InstantInput | null | undefined;
  /** Exclusive. */
  readonly timeTo?: InstantInput | null | undefined;
  /** Memories whose retention ends before this moment; pinned memories do not expire. */
  readonly expiresBefore?: InstantInput | null | undefined;
  /** A literal part of the text, ignoring case; not blank. */
  readonly contains?: string | null | undefined;
};

/** Page of a list and its size. */
export type PageQuery = {
  /** `nextCursor` of the page before. */
  readonly cursor?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};

/** Whether more pages follow, exactly, and the cursor of the next one. */
export type PageEnd<Cursor = string> = {
  readonly hasMore: boolean;
  readonly nextCursor: Cursor | undefined;
};

export type BrowseQuery = BrowseFilters &
  PageQuery & {
    /** Default `newest` first. */
    readonly order?: (typeof BROWSE_ORDERS)[number] | null | undefined;
  };

/** One page of memories. */
export type BrowsedPage = PageEnd & { readonly nodes: readonly MemoryNode[] };

export type TimelineQuery = BrowseFilters & {
  /** Default `day`. */
  readonly bucket?: Bucket | null | undefined;
  /** A name of the IANA database. Default `UTC`. */
  readonly timeZone?: string | null | undefined;
};

/** The number of memories per day, week or month; empty periods are left out. */
export type Timeline = {
  readonly bucket: Bucket;
  readonly timeZone: string;
  readonly total: number;
  /** Newest first. */
  readonly buckets: readonly {
    /** Its first day in the time zone, `YYYY-MM-DD`. */
    readonly from: string;
    readonly count: number;
    readonly byState: Readonly<Record<string, number>>;
  }[];
};

/** The number of memories for each value of a property, most frequent first. */
export type Facet = readonly { readonly value: string; readonly count: number }[];

/** Each property is counted without its own filter. */
export type Facets = {
  /** Over the memories that pass all filters. */
  readonly total: number;
  readonly nodeType: Facet;
  readonly lifecycleState: Facet;
  readonly scope: Facet;
  readonly sourceType: Facet;
  readonly epistemicType: Facet;
};

export type EdgeQuery = Pick<PageQuery, "limit"> & {
  /** Absent: all owners. */
  readonly userId?: string | null | undefined;
  readonly edgeType?: EdgeType | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly targetId?: string | null | undefined;
  /** Only ids after it. */
  readonly afterId?: string | null | undefined;
};

/** One page of edges by ascending id. */
export type ListedEdges = PageEnd<Uuid> & { readonly edges: readonly Edge[] };

export type EntityQuery = PageQuery & {
  readonly userId: string;
  /** A literal part of the name, ignoring case; not blank. */
  readonly contains?: string | null | undefined;
};

/** One page of active entities, those with the most memories first. */
export type ListedEntities = PageEnd & { readonly entities: readonly CountedEntity[] };

export type ContradictionQuery = Pick<PageQuery, "limit"> & {
  readonly userId: string;
  /** Absent: both. */
  readonly status?: ContradictionStatus | null | undefined;
  /** The last edge of the previous page. */
  readonly afterId?: string | null | undefined;
};

/** Two memories recorded as contradicting each other. */
export type NotedContradiction = {
  readonly edgeId: Uuid;
  readonly notedAt: Instant;
  /** Who recorded it; undefined without a record. */
  readonly actor: string | undefined;
  /** Open while both are contested. */
  readonly status: ContradictionStatus;
  /** The one that was named first. */
  readonly nodeA: MemoryNode;
  readonly nodeB: MemoryNode;
};

export type ListedContradictions = PageEnd<Uuid> & {
  /** Oldest first. */
  readonly contradictions: readonly NotedContradiction[];
};

/** Memories by id. */
export type NodeBatch = {
  /** In the order of the ids. */
  readonly nodes: readonly MemoryNode[];
  /** Ids that belong to no memory of this owner. */
  readonly missing: readonly Uuid[];
  /** Ids left out because the answer would be too long; ask for them again. */
  readonly leftOut: readonly Uuid[];
};

export type EventsQuery = PageQuery & {
  readonly userId: string;
  readonly sessionId?: string | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  /** Default `newest` first. */
  readonly order?: (typeof BROWSE_ORDERS)[number] | null | undefined;
};

/** One page of events. */
export type ListedEvents = PageEnd & { readonly events: readonly MemoryEvent[] };

export type SessionsQuery = PageQuery & { readonly userId: string };

/** One page of conversations. */
export type ListedSessions = PageEnd & {
  /** The latest first. */
  readonly sessions: readonly Session[];
};

export type ChangesQuery = SessionsQuery & {
  /** Kinds of operations, such as `LIFECYCLE_CHANGED`. */
  readonly opTypes?: readonly string[] | null | undefined;
  /** Who made them. */
  readonly actorId?: string | null | undefined;
  /** Inclusive. */
  readonly timeFrom?: InstantInput | null | undefined;
  /** Exclusive. */
  readonly timeTo?: InstantInput | null | undefined;
};

/** One page of changes. */
export type ListedChanges = PageEnd & {
  /** Newest first. */
  readonly operations: readonly AuditRecord[];
};

/** Browsing what is stored; read-only. */
export type BrowseMethods = {
  /** One page of an owner's memories by time. @throws SvcError invalid_argument, also for a malformed cursor */
  browse(query: BrowseQuery): Promise<BrowsedPage>;
  /** @throws SvcError invalid_argument, also for an unknown time zone */
  timeline(query: TimelineQuery): Promise<Timeline>;
  facets(query: BrowseFilters): Promise<Facets>;
  /** Edges between memories of one owner, in any state. Unknown ends give an empty page. */
  getEdges(query?: EdgeQuery): Promise<ListedEdges>;
  /** Edges of a memory, in both directions. Undefined for an unknown memory, or one of another owner. */
  getNodeEdges(nodeId: string, query?: EdgeQuery): Promise<ListedEdges | undefined>;
  /**
   * People and things, with how many active memories are one edge away.
   * @throws SvcError invalid_argument, also for a malformed cursor
   */
  listEntities(query: EntityQuery): Promise<ListedEntities>;
  /** Pairs of contradicting memories, oldest first. @throws SvcError invalid_argument, also for an `afterId` that is not in the list */
  listContradictions(query: ContradictionQuery): Promise<ListedContradictions>;
  /** Up to 500 memories in any state by their ids. */
  getNodes(nodeIds: readonly string[], userId: string): Promise<NodeBatch>;
  /** An owner's events by time. @throws SvcError invalid_argument, also for a malformed cursor */
  listEvents(query: EventsQuery): Promise<ListedEvents>;
  /** An owner's conversations. @throws SvcError invalid_argument, also for a malformed cursor */
  listSessions(query: SessionsQuery): Promise<ListedSessions>;
  /** Changes of memories, not stores. @throws SvcError invalid_argument, also for a malformed cursor */
  listChanges(query: ChangesQuery): Promise<ListedChanges>;
  /** What became of an owner's memories, none left out. @throws SvcError invalid_argument for a cursor that is none, or ahead */
  changes(query: FeedQuery): Promise<ChangeFeed>;
  /** Counts of everything in all states, of one owner or of all. */
  storeCounts(userId?: string): Promise<StoreCounts>;
};
