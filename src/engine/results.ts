import type {
  NodeType,
  QueryIntent,
  RepresentationLevel,
  RetrievalMode,
  Scope,
  SourceType,
} from "../domain/enums.ts";
import type { ProcessingStatus } from "../domain/jobs.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";

/** What `storeWithReceipt` returns. */
export type StoreReceipt = {
  readonly eventId: Uuid;
  readonly nodeId: Uuid;
  readonly node: MemoryNode;
  readonly processingStatus: ProcessingStatus;
};

export type Stats = {
  /** Active nodes, of the owner when one was named. */
  readonly nodeCount: number;
  readonly eventCount: number;
  readonly backend: "sqlite" | "postgres";
  readonly details: JsonObject;
};

export type RebuildResult = {
  /** Active nodes that are in both indexes now. */
  readonly nodesIndexed: number;
  /** Active nodes whose text is blank. */
  readonly nodesSkipped: number;
  readonly totalActive: number;
  /** Texts that the model read in this call. */
  readonly nodesEmbedded: number;
};

/** The sources of candidates, as named on the wire. */
export type CandidatePath = "VECTOR" | "LEXICAL" | "SESSION_CONTEXT";

export type ScoreTrace = {
  /** Cosine, 0 to 1 (negative values count as 0). */
  readonly semanticSimilarity: number;
  /** BM25 rescaled over the hits of this question, 0 to 1. */
  readonly lexicalRelevance: number;
  readonly graphProximity: number;
  readonly recencyFactor: number;
  readonly salience: number;
  readonly confidence: number;
  readonly epistemicWeight: number;
  /** Share of the backends that found it, 0 to 1; breaks ties only. */
  readonly pathScore: number;
  readonly temporalAffinity: number;
  readonly nodeTypeBoost: number;
  readonly compositeScore: number;
};

export type ResultCandidate = {
  /** Joins the memory to its index entries inside one store; never on the wire. */
  readonly key: number;
  readonly node: MemoryNode;
  readonly compositeScore: number;
  readonly pathScore: number;
  readonly paths: readonly CandidatePath[];
  /** Cosine of this memory, or of the neighbour that pulled it in, 0 to 1. */
  readonly semanticRelevance: number;
  /** Absent for a memory that was pulled in by a neighbour. */
  readonly trace: ScoreTrace | undefined;
};

/** A record in the context, at the fidelity at which it fitted. */
export type PackedRecord = {
  readonly candidate: ResultCandidate;
  readonly representation: RepresentationLevel;
  /** Tokens of its own line. */
  readonly tokenCost: number;
  readonly renderedText: string;
};

export type SectionName =
  | "entity_snapshots"
  | "stable_facts"
  | "recent_decisions"
  | "active_tasks"
  | "provenance_refs"
  | "contested_claims"
  | "system_instructions"
  | "summaries";

export type MemoryBundle = {
  /** In order of first use. */
  readonly sections: ReadonlyMap<SectionName, readonly PackedRecord[]>;
  readonly includedCount: number;
  readonly excludedIds: readonly Uuid[];
  /** Tokens of `renderedContext`, counted exactly. */
  readonly tokensUsed: number;
  readonly tokenBudget: number;
  readonly budgetRemaining: number;
  readonly minFidelity: RepresentationLevel;
  readonly renderedContext: string;
  readonly tokenizer: string;
  readonly contextFormat: "reader";
};

/** Why a candidate is not among the results. */
export type Exclusion = {
  readonly nodeId: Uuid;
  readonly reason: string;
  readonly compositeScore: number | undefined;
};

export type StageName = "analyze" | "candidates" | "merge" | "filter" | "score" | "pack";

/** What one stage took and gave. */
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
};

export type FilterMetadata = {
  readonly scopeFilter: readonly Scope[] | undefined;
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly excludeNodeTypes: readonly NodeType[] | undefined;
  readonly sourceTypes: readonly SourceType[] | undefined;
  readonly retrievalMode: RetrievalMode;
};

/** A value binding whose short form is visible in the context. */
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
};
