import { batchTargetTokens } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, type EmbeddingModel } from "../domain/embedding-models.ts";
import { NODE_TYPES, type NodeType } from "../domain/enums.ts";
import { ORIGINAL_TTL_DAYS } from "../domain/fading.ts";
import type { PackingSettings } from "../domain/records/retrieval-record.ts";
import { DEFAULT_RRF_K, type Fusion, type ScoringWeights } from "../domain/scoring.ts";
import { scoringVersionId } from "../domain/scoring-version.ts";
import type { ExtractionSettings } from "../engine/extract/api.ts";
import type { ObservationSettings } from "../engine/observe/api.ts";
import type {
  AskingSettings,
  EngineSettings,
  OrganizerSettings,
  ReformulationSettings,
  RerankerSettings,
  StoreStepSettings,
  UpkeepSettings,
} from "../engine/settings.ts";
import { camelKeys } from "../lib/text.ts";

/** The part of a configuration that the engine needs. @param pack determines the model of its vectors */
export function toEngineSettings(
  config: Config,
  pack: { readonly model?: EmbeddingModel | undefined } = {},
): EngineSettings {
  const { model = DEFAULT_MODEL } = pack;
  const { fusion = "adaptive" } = config.scoring;
  const scoring = forModel(toScoringWeights(config.scoring, fusion), model);
  return {
    scoring,
    scoringVersion: scoringVersionId(scoring),
    packing: toPackingSettings(config.packing, SEARCH_DEPTH[fusion]),
    epistemicWeights: config.epistemic_weights,
    unverifiedConfidenceThreshold: config.unverified_confidence_threshold,
    queryIntentOrder: config.query_intent_order,
    newerFirst: config.newer_first,
    temporalLanguages: config.temporal_languages,
    reranker: toRerankerSettings(config),
    reformulation: toReformulationSettings(config),
    receiptRetentionDays: config.receipts.retention_days,
    receiptDetail: config.receipts.detail,
    confidenceOverrides: config.confidence_overrides,
    ttlDefaults: ttlDefaults(config.organizer),
    storeSteps: toStoreSteps(config),
    organizer: toOrganizer(config.organizer),
    summaryModel: toAsking(config.extraction),
    extraction: toExtractionSettings(config),
    observation: toObservationSettings(config.vision),
    upkeep: toUpkeep(config.organizer),
    materializationBudgetMs: config.materialization_budget_ms,
    materializationQueueSize: config.materialization_queue_size,
    blobMaxBytes: config.blob_max_bytes,
  };
}

/** The relevance floor is a cosine on the scale of the default model, like every threshold; scores use the pack model's. */
function forModel(scoring: ScoringWeights, { likeQuestions }: EmbeddingModel): ScoringWeights {
  const { scale, shift } = likeQuestions;
  return { ...scoring, relevanceFloor: Math.max(0, (scoring.relevanceFloor - shift) / scale) };
}

/** The settings that determine a score; those that the chosen fusion does not read are left out. */
export function toScoringWeights(scoring: Config["scoring"], kind: Fusion["kind"]): ScoringWeights {
  return {
    semantic: scoring.w_semantic,
    lexical: scoring.w_lexical,
    graph: scoring.w_graph,
    recency: scoring.w_recency,
    salience: scoring.w_salience,
    confidence: scoring.w_confidence,
    epistemic: scoring.w_epistemic,
    paths: scoring.w_paths,
    recencyLambda: scoring.recency_lambda,
    temporalBoost: scoring.temporal_boost,
    relevanceFloor: scoring.relevance_floor,
    currentUpdateMultiplier: scoring.current_update_multiplier,
    nodeTypeBoost: scoring.node_type_boost,
    fusion: toFusion(scoring, kind),
  };
}

function toFusion(scoring: Config["scoring"], kind: Fusion["kind"]): Fusion {
  const shared = { recencyBoost: scoring.rrf_recency_boost, tieBreak: scoring.rrf_tie_break };
  switch (kind) {
    case "weighted":
      return { kind: "weighted", recencyTime: scoring.recency_time };
    case "rrf":
      return { kind: "rrf", k: scoring.rrf_k ?? DEFAULT_RRF_K, ...shared };
    case "relative":
      return { kind: "relative", semanticShare: scoring.relative_semantic_share, ...shared };
    case "adaptive":
      return {
        kind: "adaptive",
        semanticShare: scoring.adaptive_semantic_share,
        fullCoverage: scoring.adaptive_full_coverage,
        ...shared,
      };
  }
}

/**
 * Default candidates of each search. Lower ranks say little, so fusing more than 50 gains nothing; a sum of signals can separate
 * good from bad in a longer list.
 */
const SEARCH_DEPTH = {
  rrf: 50,
  weighted: 50,
  relative: 300,
  adaptive: 300,
} as const satisfies Record<Fusion["kind"], number>;

function toPackingSettings(given: Config["packing"], depth: number): PackingSettings {
  const { tokenizer: _one, ...packing } = given;
  return {
    ...camelKeys(packing),
    vectorK: packing.vector_k ?? depth,
    lexicalK: packing.lexical_k ?? depth,
  };
}

function toRerankerSettings(config: Config): RerankerSettings | undefined {
  if (!config.enable_reranker) return undefined;
  return {
    model: config.reranker_model,
    topK: config.reranker_top_k,
    policy: config.reranker_policy,
    priorWeight: config.reranker_prior_weight,
    timeoutMs: config.reranker_timeout_ms,
  };
}

function toReformulationSettings(config: Config): ReformulationSettings | undefined {
  if (!config.enable_query_reformulation) return undefined;
  return {
    count: config.query_reformulation_count,
    mergePolicy: config.query_reformulation_merge_policy,
    timeoutMs: Math.ceil(config.extraction.timeout * 1000),
  };
}

function toStoreSteps(config: Config): StoreStepSettings {
  return {
    reinforceSimilarity: config.reinforce_similarity_threshold,
    supersedes: config.enable_store_supersedence,
    pairsTurns: config.enable_qa_pairing,
  };
}

function toOrganizer({
  opportunistic_enabled: _enabled,
  opportunistic_cooldown: _cooldown,
  opportunistic_budget_ms: _budget,
  opportunistic_batch_size: _batch,
  default_ttl_days: _days,
  ...rules
}: Config["organizer"]): OrganizerSettings {
  return camelKeys(rules);
}

function toAsking(model: Config["extraction"]): AskingSettings {
  return {
    timeoutMs: Math.ceil(model.timeout * 1000),
    maxRetries: model.max_retries,
    temperature: model.temperature,
  };
}

/** Milliseconds for which messages are collected. */
const EXTRACTION_DELAY_MS = 30_000;

function toExtractionSettings({ extraction, ...config }: Config): ExtractionSettings {
  return {
    batchTargetTokens: batchTargetTokens(config),
    windowTurns: config.enable_windowed_extraction ? config.extraction_window_turns : 0,
    corrections: config.enable_extraction_corrections,
    maxConcurrent: config.max_concurrent_extractions,
    leaseSeconds: extraction.lease_seconds,
    delayMs: EXTRACTION_DELAY_MS,
    timeoutMs: Math.ceil(extraction.timeout * 1000),
    batchTimeoutMs: Math.ceil(extraction.batch_timeout * 1000),
    maxRetries: extraction.max_retries,
    temperature: extraction.temperature,
    speakerGrounding: config.enable_speaker_grounding,
    speakerReferences: config.enable_speaker_references,
    claimSentenceText: config.enable_claim_sentence_text,
    claimMerge: config.enable_claim_merge,
  };
}

function toObservationSettings(vision: Config["vision"]): ObservationSettings {
  return {
    timeoutMs: Math.ceil(vision.timeout * 1000),
    promptVersion: vision.describe_prompt_version,
    extract: vision.extract,
    extractionRetryDelaysMs: vision.extraction_retry_delays.map((seconds) => seconds * 1000),
    fps: vision.fps,
    frameWidth: vision.frame_width,
    changeThreshold: vision.change_threshold,
    maxGapSeconds: vision.max_gap_seconds,
    repeatSimilarity: vision.repeat_similarity,
    thumbnailWidth: vision.thumbnail_width,
    keepThumbnails: vision.keep_thumbnails,
  };
}

function toUpkeep(organizer: Config["organizer"]): UpkeepSettings | undefined {
  if (!organizer.opportunistic_enabled) return undefined;
  return {
    cooldownSeconds: organizer.opportunistic_cooldown,
    budgetMs: organizer.opportunistic_budget_ms,
    batchSize: organizer.opportunistic_batch_size,
  };
}

function ttlDefaults(given: Config["organizer"]): EngineSettings["ttlDefaults"] {
  const { fading, default_ttl_days: days } = given;
  const isGiven = Object.keys(days).length > 0;
  if (!isGiven) return fading === "original" ? ORIGINAL_TTL_DAYS : {};
  const defaults: Partial<Record<NodeType, number>> = {};
  for (const type of NODE_TYPES) {
    const value = days[type] ?? undefined;
    if (value !== undefined) defaults[type] = value;
  }
  return defaults;
}
