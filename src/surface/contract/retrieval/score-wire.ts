import { z } from "zod";
import type {
  Adjustment,
  FusionRecord,
  RankingMultipliers,
  ScoreProvenance,
  ScoreTrace,
  ScoringWeights,
} from "../../../domain/scoring.ts";
import { uuidOut } from "../core/fields.ts";

/** Scores and how they came about, as answers and receipts show them. */

export const weightsSchema = z
  .strictObject({
    w_semantic: z.number(),
    w_lexical: z.number(),
    w_graph: z.number(),
    w_recency: z.number(),
    w_salience: z.number(),
    w_confidence: z.number(),
    w_epistemic: z.number(),
    w_paths: z.number(),
    recency_lambda: z.number(),
    temporal_boost: z.number(),
    node_type_boost: z.record(z.string(), z.number()),
    relevance_floor: z.number(),
    current_update_multiplier: z.number(),
    fusion: z.enum(["rrf", "relative"]).optional().meta({ description: "Absent: weighted." }),
    rrf_k: z.int().optional(),
    relative_semantic_share: z.number().optional(),
    rrf_recency_boost: z.number().optional(),
    rrf_tie_break: z.literal("event_time").optional(),
    recency_time: z.literal("event_time").optional(),
  })
  .meta({ id: "ScoringWeights" });

export const traceSchema = z
  .strictObject({
    semantic_similarity: z.number(),
    lexical_relevance: z.number(),
    graph_proximity: z.number(),
    recency_factor: z.number(),
    salience: z.number(),
    confidence: z.number(),
    epistemic_weight: z.number(),
    path_score: z.number(),
    temporal_affinity: z.number(),
    node_type_boost: z.number(),
    composite_score: z.number(),
  })
  .meta({ id: "ScoreTrace", description: "The signals of one candidate and its first score." });

const adjustmentSchema = z.strictObject({
  kind: z.enum([
    "neural_blend",
    "neural_rank_assignment",
    "current_update",
    "evidence_projection",
    "evidence_augmentation",
    "session_decay",
    "episode_decay",
    "newer_first",
  ]),
  coefficient: z.number(),
  neural_score: z.number().nullable(),
  source_node_id: uuidOut.nullable(),
});

const poolFactors = {
  epistemic_factor: z.number(),
  node_type_factor: z.number(),
  temporal_factor: z.number(),
  recency_boost_factor: z.number().optional(),
  speaker_factor: z.number().optional(),
  tie_break: z.number().optional(),
};

const rankFusionSchema = z.strictObject({
  semantic_rank: z.int().nullable(),
  lexical_rank: z.int().nullable(),
  ...poolFactors,
});

const relativeFusionSchema = z.strictObject({
  semantic: z.number().nullable(),
  lexical: z.number().nullable(),
  ...poolFactors,
});

export const provenanceSchema = z
  .strictObject({
    formula_version: z
      .union([z.literal(1), z.literal(2), z.literal(3)])
      .meta({ description: "1 weighted, 2 rank fusion, 3 relative fusion." }),
    base_node_id: uuidOut,
    trace: traceSchema,
    weights: weightsSchema,
    adjustments: z.array(adjustmentSchema),
    rank_fusion: rankFusionSchema.optional(),
    relative_fusion: relativeFusionSchema.optional(),
  })
  .meta({ id: "ScoreProvenance", description: "All that is needed to compute a score again." });

/** The six factors, each 0.25 to 4. */
export const multipliersOut = z
  .strictObject({
    semantic: z.number(),
    lexical: z.number(),
    graph: z.number(),
    recency: z.number(),
    salience: z.number(),
    confidence: z.number(),
  })
  .meta({ id: "AppliedMultipliers" });

/** The wire form of a trace. */
export function toTraceWire(trace: ScoreTrace): z.infer<typeof traceSchema> {
  return {
    semantic_similarity: trace.semanticSimilarity,
    lexical_relevance: trace.lexicalRelevance,
    graph_proximity: trace.graphProximity,
    recency_factor: trace.recencyFactor,
    salience: trace.salience,
    confidence: trace.confidence,
    epistemic_weight: trace.epistemicWeight,
    path_score: trace.pathScore,
    temporal_affinity: trace.temporalAffinity,
    node_type_boost: trace.nodeTypeBoost,
    composite_score: trace.compositeScore,
  };
}

/** The wire form of a provenance: the same keys as in a receipt. */
export function toProvenanceWire(provenance: ScoreProvenance): z.infer<typeof provenanceSchema> {
  return {
    formula_version: provenance.formulaVersion,
    base_node_id: provenance.baseNodeId,
    trace: toTraceWire(provenance.trace),
    weights: toWeightsWire(provenance.weights),
    adjustments: provenance.adjustments.map(toAdjustmentWire),
    ...toFusionWire(provenance.fusion),
  };
}

/** The wire form of multipliers. */
export function toMultipliersWire(given: RankingMultipliers): z.infer<typeof multipliersOut> {
  const { semantic, lexical, graph, recency, salience, confidence } = given;
  return { semantic, lexical, graph, recency, salience, confidence };
}

function toWeightsWire(weights: ScoringWeights): z.infer<typeof weightsSchema> {
  return {
    w_semantic: weights.semantic,
    w_lexical: weights.lexical,
    w_graph: weights.graph,
    w_recency: weights.recency,
    w_salience: weights.salience,
    w_confidence: weights.confidence,
    w_epistemic: weights.epistemic,
    w_paths: weights.paths,
    recency_lambda: weights.recencyLambda,
    temporal_boost: weights.temporalBoost,
    node_type_boost: { ...weights.nodeTypeBoost },
    relevance_floor: weights.relevanceFloor,
    current_update_multiplier: weights.currentUpdateMultiplier,
    ...toFusionSettingsWire(weights.fusion),
  };
}

function toFusionSettingsWire(
  fusion: ScoringWeights["fusion"],
): Partial<z.infer<typeof weightsSchema>> {
  if (fusion.kind === "weighted") return given({ recency_time: fusion.recencyTime });
  return {
    fusion: fusion.kind,
    ...(fusion.kind === "rrf"
      ? { rrf_k: fusion.k }
      : { relative_semantic_share: fusion.semanticShare }),
    ...given({ rrf_recency_boost: fusion.recencyBoost, rrf_tie_break: fusion.tieBreak }),
  };
}

function toFusionWire(record: FusionRecord | undefined): Partial<z.infer<typeof provenanceSchema>> {
  if (record === undefined) return {};
  const factors = {
    epistemic_factor: record.epistemicFactor,
    node_type_factor: record.nodeTypeFactor,
    temporal_factor: record.temporalFactor,
    ...given({
      recency_boost_factor: record.recencyBoostFactor,
      speaker_factor: record.speakerFactor,
      tie_break: record.tieBreak,
    }),
  };
  if (record.kind === "rrf") {
    const ranks = {
      semantic_rank: record.semanticRank ?? null,
      lexical_rank: record.lexicalRank ?? null,
    };
    return { rank_fusion: { ...ranks, ...factors } };
  }
  const signals = { semantic: record.semantic ?? null, lexical: record.lexical ?? null };
  return { relative_fusion: { ...signals, ...factors } };
}

function toAdjustmentWire(step: Adjustment): z.infer<typeof adjustmentSchema> {
  return {
    kind: step.kind,
    coefficient: step.coefficient,
    neural_score: step.neuralScore ?? null,
    source_node_id: step.sourceNodeId ?? null,
  };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the members that are undefined. */
function given<T extends object>(members: T): Given<T> {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  // SAFETY: the entries are those of `members`, less those whose value is undefined.
  return Object.fromEntries(present) as Given<T>;
}
