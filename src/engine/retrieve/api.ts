import type { Strength } from "../../domain/candidate-filter.ts";
import type {
  NodeType,
  QueryIntent,
  RepresentationLevel,
  RetrievalMode,
  Scope,
  SourceType,
} from "../../domain/enums.ts";
import type { Became, InstantInput } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type {
  Coverage,
  ExplainedAnswer,
  HistoricalCoverage,
} from "../../domain/records/receipt.ts";
import type {
  CandidatePath,
  ContextFormat,
  SectionName,
} from "../../domain/records/retrieval-record.ts";
import type {
  RankingMultipliers,
  ScoreProvenance,
  ScoreTrace,
} from "../../domain/records/score.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { NodeKey } from "../../ports/store/search-index.ts";

export type RetrieveInput = {
  readonly query: string;
  readonly userId: string;
  /** Absent: all scopes. An empty list is refused. */
  readonly scope?: Scope | readonly Scope[] | null | undefined;
  readonly timeFrom?: InstantInput | null | undefined;
  readonly timeTo?: InstantInput | null | undefined;
  /** Clock for recency; never a knowledge cutoff. Default: `asOf`, else now. */
  readonly referenceTime?: InstantInput | null | undefined;
  /** Answers as of this moment: what was known and valid then, including memories retired since, with the state and order of then. */
  readonly asOf?: InstantInput | null | undefined;
  /** The specification's name of `asOf`. */
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
  /** Scoring of this request. Missing members have the defaults of the settings, not their configured values. */
  readonly weights?: Partial<ScoringWeights> | null | undefined;
  /** Hints from other scopes when `scope` is given. Default true. */
  readonly includeCrossScope?: boolean | null | undefined;
  readonly excludeNodeTypes?: readonly NodeType[] | null | undefined;
  /** Absent: all. Empty: none. */
  readonly sourceTypes?: readonly SourceType[] | null | undefined;
  readonly minFidelity?: RepresentationLevel | null | undefined;
  readonly retrievalMode?: RetrievalMode | undefined;
  /** False: no receipt of this answer is kept. Default true. */
  readonly keepReceipt?: boolean | null | undefined;
  /** True: the answer includes its receipt and explanation, whether or not the receipt is kept. Default false. */
  readonly explain?: boolean | null | undefined;
  /** The requesting program, kept with the receipt; cut after 100 characters. */
  readonly client?: string | null | undefined;
  /** Stops the work between stages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

/** The trigger whose session window contains a memory. */
export type SessionLink = {
  readonly triggerId: Uuid;
  /** Positions after the trigger; negative before it. */
  readonly offset: number;
};

export type ResultCandidate = {
  /** Identifies the memory in the indexes of one store; never sent to clients. */
  readonly key: NodeKey;
  readonly node: MemoryNode;
  readonly paths: readonly CandidatePath[];
  /** Number of paths that found it; session neighbours count only if the settings say so. */
  readonly pathCount: number;
  /** Its own cosine, 0 to 1; undefined without one. */
  readonly semanticScore: number | undefined;
  /** Its own BM25, rescaled, 0 to 1; undefined if no word matches. */
  readonly lexicalScore: number | undefined;
  /** 1, 0.7 or 0.4 by hops from an entity of the question; 0 elsewhere. */
  readonly graphProximity: number;
  readonly compositeScore: number;
  /** min(pathCount / 3, 1) at scoring time; breaks ties only. */
  readonly pathScore: number;
  /** Cosine of this memory, or of the one it came with if larger, 0 to 1. */
  readonly semanticRelevance: number;
  /** Absent for an inherited score. */
  readonly trace: ScoreTrace | undefined;
  readonly provenance: ScoreProvenance;
  /** 0 to 1. */
  readonly rerankerScore: number | undefined;
  readonly sessionLink: SessionLink | undefined;
  /** Its claim is contested. */
  readonly conflictFlag: boolean;
  readonly contradictsId: Uuid | undefined;
  /** A newer memory among the candidates that states the current fact about the same thing. Absent: none. */
  readonly olderThan?: OlderThan | undefined;
  /** The later memory ranked before it, whether or not it outdates this one. Absent: none. */
  readonly behind?: Uuid | undefined;
  /** Absent for hints, which are not rated. */
  readonly strength?: Strength | undefined;
  /** In an answer as of an earlier moment: what happened to the memory since. Absent: it is active. */
  readonly became?: Became | undefined;
};

/** The memory that outdates another one, and the time it refers to. */
export type OlderThan = { readonly nodeId: Uuid; readonly at: Instant };

/** A record in the context, at the highest fidelity that fits. */
export type PackedRecord = {
  readonly candidate: ResultCandidate;
  readonly representation: RepresentationLevel;
  /** Tokens of its own line. */
  readonly tokenCost: number;
  /** Its own line. */
  readonly renderedText: string;
  /** The text of the memory on the line, before JSON encoding. */
  readonly text: string;
  /** How many results share its text, which appears once in the context; undefined for one. */
  readonly repeats?: number | undefined;
  /** `m1`, `m2`, ...; undefined if the format has no references. */
  readonly reference: string | undefined;
};

export type MemoryBundle = {
  /** In order of first use. */
  readonly sections: ReadonlyMap<SectionName, readonly PackedRecord[]>;
  readonly includedCount: number;
  /** Best first. */
  readonly excludedIds: readonly Uuid[];
  /** Excluded ids whose memories have no text; never sent to clients. */
  readonly blankIds: readonly Uuid[];
  /** Excluded ids that would fit, but not with the other side of their dispute; never sent to clients. */
  readonly oneSidedIds: readonly Uuid[];
  /** Excluded ids of weak results far behind strong ones; never sent to clients. */
  readonly weakIds: readonly Uuid[];
  /** Excluded ids whose text is part of a record in the context, with that record; never sent to clients. */
  readonly folded: ReadonlyMap<Uuid, Uuid>;
  /** The least `tokenBudget` that holds a record; undefined unless there were results and none fits. */
  readonly neededTokens?: number | undefined;
  /** Tokens of `renderedContext`, counted exactly. */
  readonly tokensUsed: number;
  readonly tokenBudget: number;
  readonly budgetRemaining: number;
  readonly minFidelity: RepresentationLevel;
  readonly renderedContext: string;
  readonly tokenizer: string;
  readonly contextFormat: ContextFormat;
  /** The line explaining the record format to the model; undefined without records. Never sent to clients. */
  readonly header: string | undefined;
  /** What the records do not cover, placed before them; undefined without such a line. */
  readonly coverageNotice: string | undefined;
  /** Reading guidance for this kind of question; undefined if none. */
  readonly contextGuidance: string | undefined;
  /** `m1`, `m2`, ... of the packed records, in packing order; empty if the format has no references. */
  readonly contextReferences: ReadonlyMap<string, Uuid>;
};

/** Why a candidate is not among the results. */
export type Exclusion = {
  readonly nodeId: Uuid;
  readonly reason: string;
  /** Only for candidates dropped by selection; the same holds for the relevance. */
  readonly compositeScore: number | undefined;
  readonly semanticRelevance?: number | undefined;
};

/** In order. Absent: stages without reformulation, expired memories in the way, or a reranker. */
export type StageName =
  | "past"
  | "analyze"
  | "candidates"
  | "merge"
  | "search_again"
  | "reformulate"
  | "filter"
  | "score"
  | "rerank"
  | "expand"
  | "select"
  | "pack";

/** Input and output of one stage. */
export type StageTrace = {
  readonly stage: StageName;
  readonly timingMs: number;
  readonly input: number;
  readonly output: number;
};

export type RetrievalMetadata = {
  readonly requestId: Uuid;
  readonly referenceTime: Instant;
  readonly intent: QueryIntent;
  readonly candidatesGenerated: Readonly<Record<string, number>>;
  readonly candidatesFiltered: number;
  readonly candidatesIncluded: number;
  /** 12 hexadecimal digits: the hash of the scoring settings. */
  readonly scoringConfigVersion: string;
  readonly timingMs: number;
  readonly stages: readonly StageTrace[];
  readonly backendsUsed: readonly string[];
  readonly embeddingMismatch: boolean;
  readonly backendFailures: Readonly<Record<string, string>>;
  readonly minScore: number | undefined;
  readonly minScoreSkipped: boolean;
  readonly resultLimit: number | undefined;
  readonly maxPerSource: number | undefined;
  readonly maxPerEvidence: number | undefined;
  readonly rankingMultipliers: RankingMultipliers | undefined;
  /** Whether the receipt of this retrieval is durable. */
  readonly receiptPersisted: boolean;
  readonly aggregationCoverage: Coverage | undefined;
  readonly historicalCoverage: HistoricalCoverage | undefined;
  /** What the optional stages did; absent while they are off. */
  readonly reranker: "applied" | "timeout" | "failed" | undefined;
  readonly reformulation: "applied" | "timeout" | "failed" | undefined;
};

export type FilterMetadata = {
  readonly scopeFilter: readonly Scope[] | undefined;
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly crossScopeEnabled: boolean;
  readonly excludeNodeTypes: readonly NodeType[] | undefined;
  readonly sourceTypes: readonly SourceType[] | undefined;
  readonly retrievalMode: RetrievalMode;
};

/** A value binding whose short form appears in the context. */
export type VisibleBinding = {
  readonly contextRef: string;
  readonly nodeId: Uuid;
  readonly reference: string;
  readonly kind: string;
  readonly presentation: string;
  readonly lookup: string;
  readonly lookupAuthority: "caller";
};

export type RetrievalResponse = {
  readonly results: readonly ResultCandidate[];
  readonly bundle: MemoryBundle;
  readonly valueBindings: readonly VisibleBinding[];
  readonly metadata: RetrievalMetadata;
  readonly filterMetadata: FilterMetadata;
  readonly excluded: readonly Exclusion[];
  /** The best memories of the other scopes; never in results or context. */
  readonly crossScopeHints: readonly ResultCandidate[];
  /** Number of results scored on their own, in order. */
  readonly scoreTraces: readonly ScoreTrace[];
  /** If it was asked for. */
  readonly explained?: ExplainedAnswer | undefined;
};

/** Finding memories. */
export type RetrieveMethods = { retrieve(input: RetrieveInput): Promise<RetrievalResponse> };
