import type { Config } from "../config/schema.ts";
import { NODE_TYPES, type NodeType } from "../domain/enums.ts";
import type { Fusion, ScoringWeights } from "../domain/scoring.ts";
import { scoringVersionId } from "../domain/scoring-version.ts";
import type { EngineSettings } from "../engine/settings.ts";

/** Share of its trigger's score that a neighbour gets when rank fusion names none of its own. */
const GENERAL_SESSION_DECAY = 0.85;

/** What the engine needs to know of a configuration. */
export function toEngineSettings(config: Config): EngineSettings {
  const { packing, scoring } = config;
  return {
    scoring: {
      rrfK: scoring.rrf_k,
      rrfTieBreak: scoring.rrf_tie_break,
      nodeTypeBoost: scoring.node_type_boost,
    },
    scoringVersion: scoringVersionId(toScoringWeights(scoring)),
    packing: {
      tokenBudget: packing.token_budget,
      overheadTokens: packing.overhead_tokens,
      minFidelity: packing.min_fidelity,
      multipathOrdering: packing.multipath_ordering,
      vectorK: packing.vector_k,
      lexicalK: packing.lexical_k,
      sessionContextWindow: packing.session_context_window,
      sessionContextTopK: packing.session_context_top_k,
      sessionContextScoreDecay:
        packing.session_context_rank_fusion_score_decay ?? GENERAL_SESSION_DECAY,
    },
    epistemicWeights: config.epistemic_weights,
    unverifiedConfidenceThreshold: config.unverified_confidence_threshold,
    confidenceOverrides: config.confidence_overrides,
    ttlDefaults: ttlDefaults(config.organizer.default_ttl_days),
    materializationBudgetMs: config.materialization_budget_ms,
    materializationQueueSize: config.materialization_queue_size,
  };
}

/** The scoring settings in the form that identifies them. */
export function toScoringWeights(scoring: Config["scoring"]): ScoringWeights {
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
    fusion: {
      kind: "rrf",
      k: scoring.rrf_k,
      recencyBoost: scoring.rrf_recency_boost,
      tieBreak: scoring.rrf_tie_break,
    },
  };
}

function ttlDefaults(days: Readonly<Record<string, number | null>>): EngineSettings["ttlDefaults"] {
  const defaults: Partial<Record<NodeType, number>> = {};
  for (const type of NODE_TYPES) {
    const value = days[type] ?? undefined;
    if (value !== undefined) defaults[type] = value;
  }
  return defaults;
}
