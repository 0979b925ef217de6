import {
  constant,
  count,
  decimal,
  dictionary,
  type Form,
  FormError,
  integer,
  list,
  member,
  nullable,
  object,
  omitted,
  oneOf,
  repeated,
  through,
  uuid,
} from "../../lib/form.ts";
import { noted, shownAs } from "../../lib/view.ts";
import {
  ADJUSTMENT_KINDS,
  type Adjustment,
  type Fusion,
  type FusionRecord,
  type RankingMultipliers,
  type ScoreProvenance,
  type ScoreTrace,
  type ScoringWeights,
} from "../scoring.ts";

/** Scores and how they came about, as receipts keep them and answers show them. */

/** The settings of a fusion laid flat beside the weights; what the fusion does not read is absent. */
const flatWeights = object({
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
  fusion: noted(omitted(member(["rrf", "relative"])), { description: "Absent: weighted." }),
  rrfK: omitted(shownAs(decimal, integer)),
  relativeSemanticShare: omitted(decimal),
  rrfRecencyBoost: omitted(decimal),
  rrfTieBreak: omitted(constant("event_time")),
  recencyTime: omitted(constant("event_time")),
});
type FlatWeights = Parameters<typeof flatWeights.json>[0];

export const weightsForm: Form<ScoringWeights> = noted(
  repeated(
    through(flatWeights, toFlat, (flat, path) => ({
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
      fusion: toFusion(flat, path),
    })),
  ),
  { id: "ScoringWeights" },
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

export const traceForm: Form<ScoreTrace> = noted(
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
  { id: "ScoreTrace", description: "The signals of one candidate and its first score." },
);

const adjustment = object<Adjustment>({
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

const rankFusion = object<RankFusion>({
  semanticRank: nullable(shownAs(count, integer)),
  lexicalRank: nullable(shownAs(count, integer)),
  ...factors,
});

const relativeFusion = object<RelativeFusion>({
  semantic: nullable(decimal),
  lexical: nullable(decimal),
  ...factors,
});

type FlatProvenance = Omit<ScoreProvenance, "fusion"> & {
  readonly rankFusion: RankFusion | undefined;
  readonly relativeFusion: RelativeFusion | undefined;
};

const flatProvenance = object<FlatProvenance>({
  formulaVersion: noted(oneOf(1, 2, 3), {
    description: "1 weighted, 2 rank fusion, 3 relative fusion.",
  }),
  baseNodeId: uuid,
  trace: traceForm,
  weights: weightsForm,
  adjustments: list(adjustment),
  rankFusion: omitted(rankFusion),
  relativeFusion: omitted(relativeFusion),
});

export const provenanceForm: Form<ScoreProvenance> = noted(
  through(
    flatProvenance,
    ({ fusion, ...rest }: ScoreProvenance): FlatProvenance => ({
      ...rest,
      rankFusion: fusion?.kind === "rrf" ? fusion : undefined,
      relativeFusion: fusion?.kind === "relative" ? fusion : undefined,
    }),
    ({ rankFusion: ranks, relativeFusion: shares, ...rest }, path): ScoreProvenance => {
      if (ranks !== undefined && shares !== undefined) {
        throw new FormError(`${path}: is of two fusions`);
      }
      if (ranks !== undefined) return { ...rest, fusion: { kind: "rrf", ...ranks } };
      return { ...rest, fusion: shares && { kind: "relative", ...shares } };
    },
  ),
  { id: "ScoreProvenance", description: "All that is needed to compute a score again." },
);

export const multipliersForm: Form<RankingMultipliers> = noted(
  object<RankingMultipliers>({
    semantic: decimal,
    lexical: decimal,
    graph: decimal,
    recency: decimal,
    salience: decimal,
    confidence: decimal,
  }),
  { id: "AppliedMultipliers" },
);
