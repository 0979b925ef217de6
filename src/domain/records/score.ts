import * as f from "../../lib/form.ts";
import { snakeCase } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import {
  FACTORS,
  type Fusion,
  type FusionRecord,
  type PoolFactors,
  type ScoringWeights,
} from "../scoring.ts";

/** Scores and their derivation, as kept in receipts and shown in answers. */

/** A fusion's settings, flat, next to the weights; absent where the fusion does not read them. */
const flatWeights = f.object({
  wSemantic: f.decimal,
  wLexical: f.decimal,
  wGraph: f.decimal,
  wRecency: f.decimal,
  wSalience: f.decimal,
  wConfidence: f.decimal,
  wEpistemic: f.decimal,
  wPaths: f.decimal,
  recencyLambda: f.decimal,
  temporalBoost: f.decimal,
  nodeTypeBoost: f.dictionary(f.decimal),
  relevanceFloor: f.decimal,
  currentUpdateMultiplier: f.decimal,
  fusion: f.noted(f.omitted(f.member(["rrf", "relative", "adaptive"])), {
    description: "Absent: weighted.",
  }),
  rrfK: f.omitted(f.shownAs(f.decimal, f.integer)),
  relativeSemanticShare: f.omitted(f.decimal),
  adaptiveSemanticShare: f.omitted(f.decimal),
  adaptiveFullCoverage: f.omitted(f.decimal),
  rrfRecencyBoost: f.omitted(f.decimal),
  rrfTieBreak: f.omitted(f.constant("event_time")),
  recencyTime: f.omitted(f.constant("event_time")),
});
type FlatWeights = Parameters<typeof flatWeights.json>[0];

export const weightsForm: f.Form<ScoringWeights> = f.noted(
  f.repeated(
    f.through(flatWeights, toFlat, (flat, path) => {
      const { recencyLambda, temporalBoost, relevanceFloor, nodeTypeBoost } = flat;
      return {
        ...{ semantic: flat.wSemantic, lexical: flat.wLexical, graph: flat.wGraph },
        ...{ recency: flat.wRecency, salience: flat.wSalience, confidence: flat.wConfidence },
        ...{ epistemic: flat.wEpistemic, paths: flat.wPaths },
        ...{ recencyLambda, temporalBoost, relevanceFloor, nodeTypeBoost },
        currentUpdateMultiplier: flat.currentUpdateMultiplier,
        fusion: toFusion(flat, path),
      };
    }),
  ),
  { id: "ScoringWeights" },
);

function toFlat(weights: ScoringWeights): FlatWeights {
  const { fusion, semantic, lexical, graph, recency, salience, confidence, ...others } = weights;
  const { epistemic, paths, ...same } = others;
  const isWeighted = fusion.kind === "weighted";
  return {
    ...{ wSemantic: semantic, wLexical: lexical, wGraph: graph, wRecency: recency },
    ...{ wSalience: salience, wConfidence: confidence, wEpistemic: epistemic, wPaths: paths },
    ...same,
    fusion: isWeighted ? undefined : fusion.kind,
    rrfK: fusion.kind === "rrf" ? fusion.k : undefined,
    relativeSemanticShare: fusion.kind === "relative" ? fusion.semanticShare : undefined,
    adaptiveSemanticShare: fusion.kind === "adaptive" ? fusion.semanticShare : undefined,
    adaptiveFullCoverage: fusion.kind === "adaptive" ? fusion.fullCoverage : undefined,
    rrfRecencyBoost: isWeighted ? undefined : fusion.recencyBoost,
    rrfTieBreak: isWeighted ? undefined : fusion.tieBreak,
    recencyTime: isWeighted ? fusion.recencyTime : undefined,
  };
}

const OF_CHANNELS = ["rrfRecencyBoost", "rrfTieBreak"] as const;
/** The members that each fusion reads. */
const MEMBERS_OF = {
  weighted: ["recencyTime"],
  rrf: ["rrfK", ...OF_CHANNELS],
  relative: ["relativeSemanticShare", ...OF_CHANNELS],
  adaptive: ["adaptiveSemanticShare", "adaptiveFullCoverage", ...OF_CHANNELS],
} as const satisfies Readonly<Record<Fusion["kind"], readonly (keyof FlatWeights)[]>>;

function toFusion(flat: FlatWeights, path: string): Fusion {
  const kind = flat.fusion ?? "weighted";
  const own: readonly string[] = MEMBERS_OF[kind];
  for (const name of Object.values(MEMBERS_OF).flat()) {
    const isForeign = !own.includes(name) && flat[name] !== undefined;
    if (isForeign) throw new f.FormError(`${path}: ${name} is of another fusion`);
  }
  const needed = (
    name: "rrfK" | `${"relative" | "adaptive"}SemanticShare` | "adaptiveFullCoverage",
  ) => {
    const value = flat[name];
    if (value === undefined) throw new f.FormError(`${path}.${snakeCase(name)}: is missing`);
    return value;
  };
  const shared = { recencyBoost: flat.rrfRecencyBoost, tieBreak: flat.rrfTieBreak };
  switch (kind) {
    case "weighted":
      return { kind, recencyTime: flat.recencyTime };
    case "rrf":
      return { kind, k: needed("rrfK"), ...shared };
    case "relative":
      return { kind, semanticShare: needed("relativeSemanticShare"), ...shared };
    case "adaptive": {
      const semanticShare = needed("adaptiveSemanticShare");
      return { kind, semanticShare, fullCoverage: needed("adaptiveFullCoverage"), ...shared };
    }
  }
}

export const traceForm = f.named(
  "ScoreTrace",
  "The signals of one candidate and its first score.",
  {
    /** Cosine, 0 to 1 (negative values count as 0). */
    semanticSimilarity: f.decimal,
    /** BM25 rescaled over the hits of this question, 0 to 1. */
    lexicalRelevance: f.decimal,
    /** 1 at one hop, 0.7 at two, 0.4 at three, else 0. */
    graphProximity: f.decimal,
    recencyFactor: f.decimal,
    /** After decay; 0 if the fusion does not read it; the same for `confidence`. */
    salience: f.decimal,
    confidence: f.decimal,
    epistemicWeight: f.decimal,
    /** Share of the backends that found it, 0 to 1; breaks ties only. */
    pathScore: f.decimal,
    temporalAffinity: f.decimal,
    nodeTypeBoost: f.decimal,
    compositeScore: f.decimal,
  },
);

/** The signals of one candidate and the resulting score. */
export type ScoreTrace = f.ValueOf<typeof traceForm>;

export const ADJUSTMENT_KINDS = [
  "neural_blend",
  "neural_rank_assignment",
  "current_update",
  "evidence_projection",
  "evidence_augmentation",
  "session_decay",
  "episode_decay",
  "newer_first",
  "behind_newer",
] as const;
export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number];

const adjustment = f.object({
  kind: f.member(ADJUSTMENT_KINDS),
  coefficient: f.decimal,
  /** Only for neural_blend: the reranker's score, 0 to 1. */
  neuralScore: f.nullable(f.decimal),
  /** The candidate that the score was inherited from. */
  sourceNodeId: f.nullable(f.uuid),
});

/** A change to a score after it was computed. */
export type Adjustment = f.ValueOf<typeof adjustment>;

/** Everything needed to recompute a score. */
export type ScoreProvenance = {
  /** 1 weighted, 2 rank fusion, 3 relative fusion, 4 adaptive fusion. */
  readonly formulaVersion: 1 | 2 | 3 | 4;
  /** The node these signals belong to: a different one if the score was inherited. */
  readonly baseNodeId: Uuid;
  readonly trace: ScoreTrace;
  /** As applied, after every shift due to the question. */
  readonly weights: ScoringWeights;
  /** In order of application. */
  readonly adjustments: readonly Adjustment[];
  /** Absent for weighted scores. */
  readonly fusion: FusionRecord | undefined;
};

type RankFusion = Omit<Extract<FusionRecord, { readonly kind: "rrf" }>, "kind">;
type RelativeFusion = Omit<Extract<FusionRecord, { readonly kind: "relative" }>, "kind">;
type AdaptiveFusion = Omit<Extract<FusionRecord, { readonly kind: "adaptive" }>, "kind">;

type FactorForms = { readonly [Name in keyof PoolFactors]-?: f.Form<PoolFactors[Name]> };
// SAFETY: a form for each row of the table, and one for the tie-break.
const factors = Object.fromEntries([
  ...FACTORS.map(({ name, isAlways }) => [name, isAlways ? f.decimal : f.omitted(f.decimal)]),
  ["tieBreak", f.omitted(f.decimal)],
]) as FactorForms;

const rankFusion = f.object<RankFusion>({
  semanticRank: f.nullable(f.shownAs(f.count, f.integer)),
  lexicalRank: f.nullable(f.shownAs(f.count, f.integer)),
  ...factors,
});

const relativeFusion = f.object<RelativeFusion>({
  semantic: f.nullable(f.decimal),
  lexical: f.nullable(f.decimal),
  ...factors,
});

const adaptiveFusion = f.object<AdaptiveFusion>({
  coverage: f.decimal,
  certainty: f.decimal,
  semantic: f.nullable(f.decimal),
  lexical: f.nullable(f.decimal),
  ...factors,
});

type FlatProvenance = Omit<ScoreProvenance, "fusion"> & {
  readonly rankFusion: RankFusion | undefined;
  readonly relativeFusion: RelativeFusion | undefined;
  readonly adaptiveFusion: AdaptiveFusion | undefined;
};

const flatProvenance = f.object<FlatProvenance>({
  formulaVersion: f.noted(f.oneOf(1, 2, 3, 4), {
    description: "1 weighted, 2 rank fusion, 3 relative fusion, 4 adaptive fusion.",
  }),
  baseNodeId: f.uuid,
  trace: traceForm,
  weights: weightsForm,
  adjustments: f.list(adjustment),
  rankFusion: f.omitted(rankFusion),
  relativeFusion: f.omitted(relativeFusion),
  adaptiveFusion: f.omitted(adaptiveFusion),
});

export const provenanceForm: f.Form<ScoreProvenance> = f.noted(
  f.through(
    flatProvenance,
    ({ fusion, ...rest }: ScoreProvenance): FlatProvenance => ({
      ...rest,
      rankFusion: fusion?.kind === "rrf" ? fusion : undefined,
      relativeFusion: fusion?.kind === "relative" ? fusion : undefined,
      adaptiveFusion: fusion?.kind === "adaptive" ? fusion : undefined,
    }),
    ({ rankFusion, relativeFusion, adaptiveFusion, ...rest }, path): ScoreProvenance => {
      const given: readonly FusionRecord[] = [
        rankFusion === undefined ? [] : { kind: "rrf" as const, ...rankFusion },
        relativeFusion === undefined ? [] : { kind: "relative" as const, ...relativeFusion },
        adaptiveFusion === undefined ? [] : { kind: "adaptive" as const, ...adaptiveFusion },
      ].flat();
      if (given.length > 1) throw new f.FormError(`${path}: is of two fusions`);
      return { ...rest, fusion: given[0] };
    },
  ),
  { id: "ScoreProvenance", description: "All that is needed to compute a score again." },
);

export const multipliersForm = f.named("AppliedMultipliers", {
  semantic: f.decimal,
  lexical: f.decimal,
  graph: f.decimal,
  recency: f.decimal,
  salience: f.decimal,
  confidence: f.decimal,
});

/** Factors on the weights of a weighted score for one request, each 0.25 to 4. */
export type RankingMultipliers = f.ValueOf<typeof multipliersForm>;
