import type {
  Adjustment,
  AdjustmentKind,
  Fusion,
  FusionRecord,
  PoolFactors,
  ScoreProvenance,
  ScoreTrace,
  ScoringWeights,
} from "../../domain/scoring.ts";
import type { Json } from "../../lib/json.ts";
import {
  byLiteral,
  constant,
  count,
  decimal,
  dictionary,
  type Form,
  FormError,
  list,
  member,
  nullable,
  object,
  omitted,
  repeated,
  through,
  uuid,
} from "./form.ts";

export const ADJUSTMENT_KINDS = [
  "neural_blend",
  "neural_rank_assignment",
  "current_update",
  "evidence_projection",
  "evidence_augmentation",
  "session_decay",
  "episode_decay",
  "newer_first",
] as const satisfies readonly AdjustmentKind[];

/** The settings of a fusion laid flat beside the weights; what the fusion does not read is absent. */
type FlatWeights = {
  readonly wSemantic: number;
  readonly wLexical: number;
  readonly wGraph: number;
  readonly wRecency: number;
  readonly wSalience: number;
  readonly wConfidence: number;
  readonly wEpistemic: number;
  readonly wPaths: number;
  readonly recencyLambda: number;
  readonly temporalBoost: number;
  readonly nodeTypeBoost: Readonly<Record<string, number>>;
  readonly relevanceFloor: number;
  readonly currentUpdateMultiplier: number;
  /** Absent: weighted. */
  readonly fusion: "rrf" | "relative" | undefined;
  readonly rrfK: number | undefined;
  readonly relativeSemanticShare: number | undefined;
  readonly rrfRecencyBoost: number | undefined;
  readonly rrfTieBreak: "event_time" | undefined;
  readonly recencyTime: "event_time" | undefined;
};

const flatWeights: Form<FlatWeights> = object<FlatWeights>({
  wSemantic: decimal,
  wLexical: decimal,
  wGraph: decimal,
  wRecency: decimal,
  wSalience: decimal,
  wConfidence: decimal,
  wEpistemic: decimal,
  wPaths: decimal,
  recencyLambda: decimal,
  temporalBoost: decimal,
  nodeTypeBoost: dictionary(decimal),
  relevanceFloor: decimal,
  currentUpdateMultiplier: decimal,
  fusion: omitted(member(["rrf", "relative"])),
  rrfK: omitted(decimal),
  relativeSemanticShare: omitted(decimal),
  rrfRecencyBoost: omitted(decimal),
  rrfTieBreak: omitted(constant("event_time")),
  recencyTime: omitted(constant("event_time")),
});

export const weightsForm: Form<ScoringWeights> = repeated(
  through(flatWeights, toFlat, (flat, path) => {
    const fusion = toFusion(flat, path);
    return {
      semantic: flat.wSemantic,
      lexical: flat.wLexical,
      graph: flat.wGraph,
      recency: flat.wRecency,
      salience: flat.wSalience,
      confidence: flat.wConfidence,
      epistemic: flat.wEpistemic,
      paths: flat.wPaths,
      recencyLambda: flat.recencyLambda,
      temporalBoost: flat.temporalBoost,
      relevanceFloor: flat.relevanceFloor,
      currentUpdateMultiplier: flat.currentUpdateMultiplier,
      nodeTypeBoost: flat.nodeTypeBoost,
      fusion,
    };
  }),
);

function toFlat(weights: ScoringWeights): FlatWeights {
  const { fusion } = weights;
  const isWeighted = fusion.kind === "weighted";
  return {
    wSemantic: weights.semantic,
    wLexical: weights.lexical,
    wGraph: weights.graph,
    wRecency: weights.recency,
    wSalience: weights.salience,
    wConfidence: weights.confidence,
    wEpistemic: weights.epistemic,
    wPaths: weights.paths,
    recencyLambda: weights.recencyLambda,
    temporalBoost: weights.temporalBoost,
    nodeTypeBoost: weights.nodeTypeBoost,
    relevanceFloor: weights.relevanceFloor,
    currentUpdateMultiplier: weights.currentUpdateMultiplier,
    fusion: isWeighted ? undefined : fusion.kind,
    rrfK: fusion.kind === "rrf" ? fusion.k : undefined,
    relativeSemanticShare: fusion.kind === "relative" ? fusion.semanticShare : undefined,
    rrfRecencyBoost: isWeighted ? undefined : fusion.recencyBoost,
    rrfTieBreak: isWeighted ? undefined : fusion.tieBreak,
    recencyTime: isWeighted ? fusion.recencyTime : undefined,
  };
}

function toFusion(flat: FlatWeights, path: string): Fusion {
  const { rrfK, relativeSemanticShare, rrfRecencyBoost, rrfTieBreak, recencyTime } = flat;
  const foreign = (values: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) throw new FormError(`${path}: ${name} is of another fusion`);
    }
  };
  switch (flat.fusion) {
    case undefined:
      foreign({ rrfK, relativeSemanticShare, rrfRecencyBoost, rrfTieBreak });
      return { kind: "weighted", recencyTime };
    case "rrf":
      foreign({ relativeSemanticShare, recencyTime });
      if (rrfK === undefined) throw new FormError(`${path}.rrf_k: is missing`);
      return { kind: "rrf", k: rrfK, recencyBoost: rrfRecencyBoost, tieBreak: rrfTieBreak };
    case "relative":
      foreign({ rrfK, recencyTime });
      if (relativeSemanticShare === undefined) {
        throw new FormError(`${path}.relative_semantic_share: is missing`);
      }
      return {
        kind: "relative",
        semanticShare: relativeSemanticShare,
        recencyBoost: rrfRecencyBoost,
        tieBreak: rrfTieBreak,
      };
  }
}

export const traceForm: Form<ScoreTrace> = byLiteral(
  object<ScoreTrace>({
    semanticSimilarity: decimal,
    lexicalRelevance: decimal,
    graphProximity: decimal,
    recencyFactor: decimal,
    salience: decimal,
    confidence: decimal,
    epistemicWeight: decimal,
    pathScore: decimal,
    temporalAffinity: decimal,
    nodeTypeBoost: decimal,
    compositeScore: decimal,
  }),
  (trace) => ({
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
  }),
);

const adjustment: Form<Adjustment> = byLiteral(
  object<Adjustment>({
    kind: member(ADJUSTMENT_KINDS),
    coefficient: decimal,
    neuralScore: nullable(decimal),
    sourceNodeId: nullable(uuid),
  }),
  ({ kind, coefficient, neuralScore, sourceNodeId }) => ({
    kind,
    coefficient,
    neural_score: neuralScore ?? null,
    source_node_id: sourceNodeId ?? null,
  }),
);

type RankFusion = Omit<Extract<FusionRecord, { readonly kind: "rrf" }>, "kind">;
type RelativeFusion = Omit<Extract<FusionRecord, { readonly kind: "relative" }>, "kind">;

const factors = {
  epistemicFactor: decimal,
  nodeTypeFactor: decimal,
  temporalFactor: decimal,
  recencyBoostFactor: omitted(decimal),
  speakerFactor: omitted(decimal),
  tieBreak: omitted(decimal),
} as const;

const rankFusion: Form<RankFusion> = byLiteral(
  object<RankFusion>({
    semanticRank: nullable(count),
    lexicalRank: nullable(count),
    ...factors,
  }),
  (record) =>
    withOptional(record, {
      semantic_rank: record.semanticRank ?? null,
      lexical_rank: record.lexicalRank ?? null,
      epistemic_factor: record.epistemicFactor,
      node_type_factor: record.nodeTypeFactor,
      temporal_factor: record.temporalFactor,
    }),
);

const relativeFusion: Form<RelativeFusion> = byLiteral(
  object<RelativeFusion>({
    semantic: nullable(decimal),
    lexical: nullable(decimal),
    ...factors,
  }),
  (record) =>
    withOptional(record, {
      semantic: record.semantic ?? null,
      lexical: record.lexical ?? null,
      epistemic_factor: record.epistemicFactor,
      node_type_factor: record.nodeTypeFactor,
      temporal_factor: record.temporalFactor,
    }),
);

/** Adds the factors that a fusion may lack, at their place behind the others. */
function withOptional(
  { recencyBoostFactor, speakerFactor, tieBreak }: PoolFactors,
  json: Record<string, Json>,
): Json {
  if (recencyBoostFactor !== undefined) json["recency_boost_factor"] = recencyBoostFactor;
  if (speakerFactor !== undefined) json["speaker_factor"] = speakerFactor;
  if (tieBreak !== undefined) json["tie_break"] = tieBreak;
  return json;
}

type FlatProvenance = Omit<ScoreProvenance, "fusion"> & {
  readonly rankFusion: RankFusion | undefined;
  readonly relativeFusion: RelativeFusion | undefined;
};

const flatProvenance: Form<FlatProvenance> = object<FlatProvenance>({
  formulaVersion: through(
    count,
    (version) => version,
    (version, path) => {
      if (version === 1 || version === 2 || version === 3) return version;
      throw new FormError(`${path}: ${version} is not a version of the formula`);
    },
  ),
  baseNodeId: uuid,
  trace: traceForm,
  weights: weightsForm,
  adjustments: list(adjustment),
  rankFusion: omitted(rankFusion),
  relativeFusion: omitted(relativeFusion),
});

export const provenanceForm: Form<ScoreProvenance> = {
  json: ({ formulaVersion, baseNodeId, trace, weights, adjustments, fusion }) => {
    const json: Record<string, Json> = {
      formula_version: formulaVersion,
      base_node_id: baseNodeId,
      trace: traceForm.json(trace),
      weights: weightsForm.json(weights),
      adjustments: adjustments.map(adjustment.json),
    };
    if (fusion?.kind === "rrf") json["rank_fusion"] = rankFusion.json(fusion);
    if (fusion?.kind === "relative") json["relative_fusion"] = relativeFusion.json(fusion);
    return json;
  },
  read: (json, path) => {
    const { rankFusion: ranks, relativeFusion: shares, ...rest } = flatProvenance.read(json, path);
    if (ranks !== undefined && shares !== undefined) {
      throw new FormError(`${path}: is of two fusions`);
    }
    if (ranks !== undefined) return { ...rest, fusion: { kind: "rrf", ...ranks } };
    return { ...rest, fusion: shares === undefined ? undefined : { kind: "relative", ...shares } };
  },
};
