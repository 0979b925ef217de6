import type {
  EpistemicType,
  LifecycleState,
  NodeType,
  RepresentationLevel,
  RetrievalMode,
  Role,
  Scope,
  SourceType,
} from "../domain/enums.ts";
import type { RankingMultipliers, ScoringWeights } from "../domain/scoring.ts";
import type { InstantInput } from "../domain/validity.ts";

/**
 * What callers pass. Every call checks its input again at run time, so a caller without types gets a clear error.
 * For optional members `undefined` and `null` both mean absent, except for `ttlDays`.
 */
export type StoreInput = {
  /** Exact source text; the event keeps it for ever. */
  readonly content: string;
  readonly userId: string;
  /** Compact text that is indexed, ranked and packed instead of `content`. */
  readonly retrievalContent?: string | null | undefined;
  readonly valueBindings?: readonly unknown[] | null | undefined;
  readonly sessionId?: string | null | undefined;
  /** Default `user`. */
  readonly role?: Role | undefined;
  /** 1 to 200 characters after trimming. */
  readonly speaker?: string | null | undefined;
  /** Default `note`. */
  readonly nodeType?: NodeType | null | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** 0 to 1; absent: derived from the confidence matrix. */
  readonly confidence?: number | null | undefined;
  readonly epistemicType?: EpistemicType | null | undefined;
  readonly sourceType?: SourceType | null | undefined;
  readonly eventTime?: InstantInput | null | undefined;
  /** Inclusive; absent: admission time. */
  readonly validFrom?: InstantInput | null | undefined;
  /** Exclusive; needs an explicit earlier `validFrom`. */
  readonly validTo?: InstantInput | null | undefined;
  /** Integer >= 0; absent: the type's default; null: kept for ever. */
  readonly ttlDays?: number | null | undefined;
  /**
   * Ids of memories of the same owner and scope that this one replaces, at most 16: all of them in the transaction that
   * stores it, or nothing is stored.
   */
  readonly supersedes?: readonly string[] | null | undefined;
  /** Not blank. In whose name the replacement is recorded. Default: `userId`. */
  readonly actorId?: string | null | undefined;
  /** UUID; makes a retry answer with the first call's memory. */
  readonly requestId?: string | null | undefined;
};

export type FastIngestItem = {
  readonly content: string;
  readonly role?: Role | undefined;
  readonly speaker?: string | null | undefined;
  readonly sessionId?: string | null | undefined;
  readonly scope?: Scope | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly eventTime?: InstantInput | null | undefined;
};

export type FastIngestInput = FastIngestItem & { readonly userId: string };

export type FastIngestManyInput = {
  readonly items: readonly FastIngestItem[];
  readonly userId: string;
  /** UUID; makes a retry return the first call's event ids. */
  readonly requestId?: string | null | undefined;
};

export type ProcessPendingInput = {
  /** Absent: the work of every owner. */
  readonly userId?: string | undefined;
  /** Milliseconds >= 0, checked before each group of items; 0 only counts. Default 1000. */
  readonly budgetMs?: number | undefined;
};

export type RebuildInput = {
  /** Nodes that are embedded and written at a time, at least 1. Default 256. */
  readonly batchSize?: number | undefined;
  /** Makes every vector again, also those that are current. Default false. */
  readonly all?: boolean | undefined;
  /** Stops the work after the current batch when aborted; the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
};

/** How far a part of a rebuild has come, in nodes. */
export type RebuildProgress = {
  readonly phase: "vectors" | "texts";
  readonly done: number;
  readonly total: number;
};

export type RetrieveInput = {
  readonly query: string;
  readonly userId: string;
  /** Absent: all scopes. An empty list is refused. */
  readonly scope?: Scope | readonly Scope[] | null | undefined;
  readonly timeFrom?: InstantInput | null | undefined;
  readonly timeTo?: InstantInput | null | undefined;
  /** Clock for recency; never a knowledge cutoff. Default now. */
  readonly referenceTime?: InstantInput | null | undefined;
  /** Keep memories created at or before this moment. */
  readonly knowledgeAt?: InstantInput | null | undefined;
  readonly eventTimeFrom?: InstantInput | null | undefined;
  readonly eventTimeTo?: InstantInput | null | undefined;
  /** Tokens >= 0. Default 4096. */
  readonly tokenBudget?: number | null | undefined;
  /** Finite, >= 0; inclusive. */
  readonly minScore?: number | null | undefined;
  /** Integer >= 0; absent: no cap. */
  readonly limit?: number | null | undefined;
  /** Integer >= 1: results with the same evidence and the same text. */
  readonly maxPerSource?: number | null | undefined;
  /** Integer >= 1: results with the same evidence. */
  readonly maxPerEvidence?: number | null | undefined;
  /** Factors on the weights, each 0.25 to 4, default 1. Weighted fusion only. */
  readonly rankingMultipliers?:
    | { readonly [K in keyof RankingMultipliers]?: number | undefined }
    | null
    | undefined;
  /**
   * Replaces the configured scoring for this request. A member left out has the value of a caller who leaves everything
   * out, whatever is configured: weighted fusion, and the defaults of the settings for the rest.
   */
  readonly weights?: Partial<ScoringWeights> | null | undefined;
  /** Hints from other scopes when `scope` is given. Default true. */
  readonly includeCrossScope?: boolean | null | undefined;
  readonly excludeNodeTypes?: readonly NodeType[] | null | undefined;
  /** Absent: all. Empty: none. */
  readonly sourceTypes?: readonly SourceType[] | null | undefined;
  readonly minFidelity?: RepresentationLevel | null | undefined;
  readonly retrievalMode?: RetrievalMode | undefined;
  /** Stops the work between stages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

export type NodeQuery = {
  readonly userId?: string | null | undefined;
  readonly nodeType?: NodeType | null | undefined;
  readonly scope?: Scope | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  readonly sessionIds?: readonly string[] | null | undefined;
  /** Absent: tentative, stable, contested. Empty: nothing matches. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  readonly validAt?: InstantInput | null | undefined;
  readonly minConfidence?: number | null | undefined;
  readonly minSalience?: number | null | undefined;
  readonly contentContainsAny?: readonly string[] | null | undefined;
  readonly createdBefore?: InstantInput | null | undefined;
  /** Only what is older than this memory; ties by id. With it a list is read page by page, newest first. */
  readonly olderThan?: { readonly createdAt: InstantInput; readonly id: string } | null | undefined;
  readonly oldestFirst?: boolean | undefined;
  /** Integer 0 to 1000. Default 100. */
  readonly limit?: number | undefined;
};

export type EventQuery = {
  readonly userId: string;
  readonly sessionId?: string | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  /** Integer 0 to 1000. Default 100. */
  readonly limit?: number | undefined;
  /** Integer >= 0. Default 0. */
  readonly offset?: number | undefined;
};

/** Everything of `from` becomes that of `into`. */
export type MoveOwnerInput = {
  readonly from: string;
  readonly into: string;
  /** True: `into` has to be an owner already. False: it may not be one yet. */
  readonly isJoin: boolean;
  /** True: nothing changes. Default false. */
  readonly isPreview?: boolean;
  /** Who does it, for the audit log. */
  readonly actorId: string;
};
