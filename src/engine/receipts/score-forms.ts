import type {
  Adjustment,
  AdjustmentKind,
  Fusion,
  FusionRecord,
  ScoreProvenance,
  ScoreTrace,
  ScoringWeights,
} from "../../domain/scoring.ts";
import {
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

export const traceForm: Form<ScoreTrace> = object<ScoreTrace>({
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
});

const adjustment: Form<Adjustment> = object<Adjustment>({
  kind: member(ADJUSTMENT_KINDS),
  coefficient: decimal,
  neuralScore: nullable(decimal),
  sourceNodeId: nullable(uuid),
});

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

const rankFusion: Form<RankFusion> = object<RankFusion>({
  semanticRank: nullable(count),
  lexicalRank: nullable(count),
  ...factors,
});

const relativeFusion: Form<RelativeFusion> = object<RelativeFusion>({
  semantic: nullable(decimal),
  lexical: nullable(decimal),
  ...factors,
});

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

export const provenanceForm: Form<ScoreProvenance> = through(
  flatProvenance,
  // Told member by member: a copy of the rest of an object takes much longer, and there are hundreds.
  ({ formulaVersion, baseNodeId, trace, weights, adjustments, fusion }) => ({
    formulaVersion,
    baseNodeId,
    trace,
    weights,
    adjustments,
    rankFusion: fusion?.kind === "rrf" ? fusion : undefined,
    relativeFusion: fusion?.kind === "relative" ? fusion : undefined,
  }),
  ({ rankFusion: ranks, relativeFusion: signals, ...rest }, path) => {
    if (ranks !== undefined && signals !== undefined) {
      throw new FormError(`${path}: is of two fusions`);
    }
    if (ranks !== undefined) return { ...rest, fusion: { kind: "rrf", ...ranks } };
    return {
      ...rest,
      fusion: signals === undefined ? undefined : { kind: "relative", ...signals },
    };
  },
);
