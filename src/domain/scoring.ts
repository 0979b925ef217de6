import type { NodeType } from "./enums.ts";
import { invalid } from "./errors.ts";

/** How a candidate's signals become one score. */
export type Fusion =
  | {
      /** The weighted sum of all signals. */
      readonly kind: "weighted";
      /** "event_time": recency uses the stated time instead of the last change. */
      readonly recencyTime: "event_time" | undefined;
    }
  | {
      /** Reciprocal rank fusion of the semantic and the lexical ranking. */
      readonly kind: "rrf";
      /** 1 to 10000. */
      readonly k: number;
      /** Above 0, at most 4: the boost of the newest memory on a question about the present; undefined: none. */
      readonly recencyBoost: number | undefined;
      /** "event_time": equal scores are ordered newest first. */
      readonly tieBreak: "event_time" | undefined;
    }
  | {
      /** Rescaled cosine plus rescaled BM25. */
      readonly kind: "relative";
      /** Share of the cosine, 0 to 1; BM25 has the rest. */
      readonly semanticShare: number;
      readonly recencyBoost: number | undefined;
      readonly tieBreak: "event_time" | undefined;
    }
  | {
      /** The same, with both weights adjusted by the result of the word search. */
      readonly kind: "adaptive";
      /** Share of the cosine while BM25 counts fully, 0 to 1. */
      readonly semanticShare: number;
      /** The coverage from which BM25 counts fully, above 0, at most 1. */
      readonly fullCoverage: number;
      readonly recencyBoost: number | undefined;
      readonly tieBreak: "event_time" | undefined;
    };

/** The fusions of two channels. */
export type ChannelFusion = Exclude<Fusion, { readonly kind: "weighted" }>;

/** Everything that determines a score. Two sets with the same version give the same scores for the same candidates. */
export type ScoringWeights = {
  readonly semantic: number;
  readonly lexical: number;
  readonly graph: number;
  readonly recency: number;
  readonly salience: number;
  readonly confidence: number;
  /** Recorded; no formula reads it or `paths`. */
  readonly epistemic: number;
  readonly paths: number;
  /** Per day. */
  readonly recencyLambda: number;
  /** 0 or less turns temporal affinity off. */
  readonly temporalBoost: number;
  /** 0 turns the relevance floor off. */
  readonly relevanceFloor: number;
  /** 1 to 2; 1 turns the boost of current updates off. */
  readonly currentUpdateMultiplier: number;
  readonly nodeTypeBoost: Readonly<Partial<Record<NodeType, number>>>;
  readonly fusion: Fusion;
};

/**
 * The signals that multiply a fused score: a row each, and a formula in `engine/retrieve/score`. Everything that stores, recomputes,
 * explains or shows them reads this table. All are shares of the largest value in the pool, 0 to 1. `of`: its step in a score; `label`: its
 * name on the page, `explain`: what lowers a score.
 */
export const FACTORS = [
  {
    name: "epistemicFactor",
    of: "epistemic",
    label: "knowledge",
    isAlways: true,
    explain: "it is less certain than others",
  },
  {
    name: "nodeTypeFactor",
    of: "node_type",
    label: "type",
    isAlways: true,
    explain: "its type counts less",
  },
  {
    name: "temporalFactor",
    of: "temporal",
    label: "time",
    isAlways: true,
    explain: "others fit the time of the question better",
  },
  {
    // Absent without a recency boost in the settings.
    name: "recencyBoostFactor",
    of: "recency_boost",
    label: "recent",
    isAlways: false,
    explain: "the question is about the present, and others are newer",
  },
  {
    // Absent if the question names no speaker.
    name: "speakerFactor",
    of: "speaker",
    label: "speaker",
    isAlways: false,
    explain: "somebody other than the question names said it",
  },
  {
    // Absent if the question asks for more than a time. If present, the other signals count half.
    name: "timeFactor",
    of: "time",
    label: "time",
    isAlways: false,
    explain: "the question asks for another time",
  },
] as const;

type Factor = (typeof FACTORS)[number];
export type FactorName = Factor["name"];
export type FactorStep = Factor["of"];
type Lasting = Extract<Factor, { readonly isAlways: true }>["name"];

/** A candidate's factors. */
export type PoolFactors = { readonly [Name in Lasting]: number } & {
  readonly [Name in Exclude<FactorName, Lasting>]?: number | undefined;
} & {
  /** Subtracted so that newer memories come first, 0 to 1e-11; undefined without a tie-break. */
  readonly tieBreak: number | undefined;
};

/** A candidate's signals, rescaled over the pool, 0 to 1; undefined: not on that channel. */
type Rescaled = { readonly semantic: number | undefined; readonly lexical: number | undefined };

/** How a fused score was computed. */
export type FusionRecord =
  | ({
      readonly kind: "rrf";
      /** Competition ranks, from 1; undefined: not on that channel. */
      readonly semanticRank: number | undefined;
      readonly lexicalRank: number | undefined;
    } & PoolFactors)
  | ({ readonly kind: "relative" } & Rescaled & PoolFactors)
  | ({
      readonly kind: "adaptive";
      /** The share of the question explained by the best word hit, 0 to 1; equal for all candidates. */
      readonly coverage: number;
      /** How specifically the words of the question point to a few memories, 0 to 1; equal for all candidates. */
      readonly certainty: number;
    } & Rescaled &
      PoolFactors);

/** The largest weight or factor: keeps products and differences finite. */
export const MAX_WEIGHT = 1e6;

/** Maximum deviation of the six weights from a sum of 1. */
const SUM_TOLERANCE = 1e-6;

/**
 * Accepts usable weights: finite numbers, each in its documented range, the six from `semantic` to `confidence` summing to 1.
 * @throws SvcError invalid_argument naming the member, such as `weights.recencyLambda`
 */
export function requireScoringWeights(weights: ScoringWeights): void {
  requireBounded("weights", weights);
  requireBounded("weights.fusion", weights.fusion);
  for (const [type, factor] of Object.entries(weights.nodeTypeBoost)) {
    requireWithin(`weights.nodeTypeBoost.${type}`, factor, 0, MAX_WEIGHT);
  }
  // Negative, it would grow without bound with the age of a memory.
  requireWithin("weights.recencyLambda", weights.recencyLambda, 0, MAX_WEIGHT);
  requireWithin("weights.currentUpdateMultiplier", weights.currentUpdateMultiplier, 1, 2);
  const { semantic, lexical, graph, recency, salience, confidence, fusion } = weights;
  const sum = semantic + lexical + graph + recency + salience + confidence;
  if (Math.abs(sum - 1) > SUM_TOLERANCE) {
    throw invalid(
      "weights",
      `semantic, lexical, graph, recency, salience and confidence sum to ${sum}; they must sum to 1`,
    );
  }
  if (fusion.kind === "weighted") return;
  if (fusion.kind === "rrf") requireWithin("weights.fusion.k", fusion.k, 1, 10_000);
  else requireWithin("weights.fusion.semanticShare", fusion.semanticShare, 0, 1);
  if (fusion.kind === "adaptive" && !(fusion.fullCoverage > 0 && fusion.fullCoverage <= 1)) {
    throw invalid("weights.fusion.fullCoverage", `${fusion.fullCoverage} is not above 0 to 1`);
  }
  const { recencyBoost } = fusion;
  if (recencyBoost !== undefined && !(recencyBoost > 0 && recencyBoost <= 4)) {
    throw invalid("weights.fusion.recencyBoost", `${recencyBoost} is not above 0 to 4`);
  }
}

function requireBounded(field: string, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== "number") continue;
    if (!Number.isFinite(value)) {
      throw invalid(`${field}.${name}`, `${value} is not a finite number`);
    }
    requireWithin(`${field}.${name}`, value, -MAX_WEIGHT, MAX_WEIGHT);
  }
}

function requireWithin(field: string, value: number, min: number, max: number): void {
  if (!(value >= min && value <= max)) {
    throw invalid(field, `${value} is not ${min} to ${max}`);
  }
}

/** The default scoring of a request. A configuration, in contrast, defaults to rank fusion. */
export const DEFAULT_SCORING: ScoringWeights = {
  semantic: 0.3,
  lexical: 0.15,
  graph: 0.2,
  recency: 0.1,
  salience: 0.1,
  confidence: 0.15,
  epistemic: 0.05,
  paths: 0,
  recencyLambda: 0.02,
  temporalBoost: 0.15,
  relevanceFloor: 0.35,
  currentUpdateMultiplier: 1.3,
  nodeTypeBoost: { fact: 1.15, preference: 1.15, decision: 1.15, instruction: 1.15, summary: 1.1 },
  fusion: { kind: "weighted", recencyTime: undefined },
};

/** The k of rank fusion if none is given. */
export const DEFAULT_RRF_K = 60;

/** Share of the cosine in relative and adaptive fusion if none is given; BM25 has the rest. */
export const DEFAULT_SEMANTIC_SHARE = 0.65;

/** The coverage from which BM25 counts in full in adaptive fusion if none is given. */
export const DEFAULT_FULL_COVERAGE = 0.5;
