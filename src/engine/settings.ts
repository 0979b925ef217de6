import type { EpistemicType } from "../domain/enums.ts";
import type { ConfidenceOverrides } from "../domain/epistemics.ts";
import type { FadingRules, TtlDefaults } from "../domain/fading.ts";
import type { ReceiptDetail } from "../domain/records/receipt.ts";
import type { PackingSettings } from "../domain/records/retrieval-record.ts";
import type { ScoringWeights } from "../domain/scoring.ts";
import type { ExtractionSettings } from "./extract/api.ts";
import type { ObservationSettings } from "./observe/api.ts";

export const RERANKER_POLICIES = ["legacy", "score_envelope", "anchored_score_envelope"] as const;
export type RerankerPolicy = (typeof RERANKER_POLICIES)[number];

export type RerankerSettings = {
  readonly model: string;
  /** Best candidates that are reranked. */
  readonly topK: number;
  readonly policy: RerankerPolicy;
  /** Share of the previous score in the new one, 0 to 1. */
  readonly priorWeight: number;
  /** Milliseconds after which the previous order is used and the answer reports it. */
  readonly timeoutMs: number;
};

export type ReformulationSettings = {
  /** Alternative questions, 1 to 5. */
  readonly count: number;
  readonly mergePolicy: "new_only" | "max_signals";
  /** Milliseconds after which the answer is made without alternatives. */
  readonly timeoutMs: number;
};

/** What a store does besides storing. */
export type StoreStepSettings = {
  /** Cosine from which similar memories are reinforced, 0 to 1; undefined: never. */
  readonly reinforceSimilarity: number | undefined;
  /** Whether memories that a new one declares ended are retired. */
  readonly supersedes: boolean;
  /** Whether a turn is also stored together with the previous one. */
  readonly pairsTurns: boolean;
};

/** Background work. */
export type UpkeepSettings = {
  /** Between two passes for one owner. */
  readonly cooldownSeconds: number;
  readonly budgetMs: number;
  /** Maximum memories changed in one pass, at least 1. */
  readonly batchSize: number;
};

/** When the organizer does what. Thresholds are 0 to 1. */
export type OrganizerSettings = FadingRules & {
  readonly defaultOrganizeBudgetMs: number;
  readonly promotionAgeDays: number;
  readonly promotionEvidenceCount: number;
  readonly dedupSimilarityThreshold: number;
  readonly consolidationMinClusterSize: number;
  readonly consolidationSimilarityThreshold: number;
  readonly consolidationPreserveRecentDays: number;
  readonly consolidationMinConfidencePreserve: number;
  readonly summarizationDailyMinEvents: number;
  readonly summarizationWeeklyMinSummaries: number;
  readonly summarizationMonthlyMinSummaries: number;
  readonly summarizationMaxItemsPerSummary: number;
  /** Whether summaries quote whole memories instead of asking a model. */
  readonly extractiveSummaries: boolean;
};

/** How a language model is asked. */
export type AskingSettings = {
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
};

/** The part of the configuration that the engine needs. */
export type EngineSettings = {
  readonly scoring: ScoringWeights;
  /** 12 hexadecimal digits. */
  readonly scoringVersion: string;
  readonly packing: PackingSettings;
  readonly epistemicWeights: Readonly<Partial<Record<EpistemicType, number>>>;
  /** 0 to 1: unverified memories below it are left out by default. */
  readonly unverifiedConfidenceThreshold: number;
  readonly queryIntentOrder: "entity_first" | "temporal_first";
  /** Whether a newer memory is ranked before the one it outdates. */
  readonly newerFirst: boolean;
  /** Languages of dates in questions; empty: all supported ones. */
  readonly temporalLanguages: readonly string[];
  /** Undefined: off. */
  readonly reranker: RerankerSettings | undefined;
  readonly reformulation: ReformulationSettings | undefined;
  /** Days that receipts are kept; 0: none is written; undefined: unlimited. */
  readonly receiptRetentionDays: number | undefined;
  readonly receiptDetail: ReceiptDetail;
  readonly confidenceOverrides: ConfidenceOverrides;
  readonly ttlDefaults: TtlDefaults;
  readonly storeSteps: StoreStepSettings;
  readonly organizer: OrganizerSettings;
  readonly summaryModel: AskingSettings;
  readonly extraction: ExtractionSettings;
  readonly observation: ObservationSettings;
  /** Undefined: off. */
  readonly upkeep: UpkeepSettings | undefined;
  /** Milliseconds that a retrieve may spend on the owner's pending work first. */
  readonly materializationBudgetMs: number;
  /** Maximum jobs tried in one processing pass. */
  readonly materializationQueueSize: number;
  /** Bytes of a blob. */
  readonly blobMaxBytes: number;
};
