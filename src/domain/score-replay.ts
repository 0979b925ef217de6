import type { Adjustment, ScoreProvenance, ScoreTrace } from "./records/score.ts";
import {
  FACTORS,
  type FactorStep,
  type Fusion,
  type FusionRecord,
  type ScoringWeights,
} from "./scoring.ts";

/** A candidate's signals and factors before scoring. */
export type Signals = Omit<ScoreTrace, "compositeScore">;

/** The most a tie-break subtracts: a tenth of a score's last decimal, so that no tie-break outweighs a difference. */
export const TIE_BREAK_WIDTH = 1e-11;

/** A score with 10 decimals. A value too large for that in a double is returned unchanged. */
export function roundScore(value: number): number {
  const scaled = value * 1e10;
  return Math.abs(scaled) < Number.MAX_SAFE_INTEGER ? Math.round(scaled) / 1e10 : value;
}

/** The weighted sum of the signals, with the factors and the relevance floor, to 10 decimals. */
export function weightedScore(signals: Signals, weights: ScoringWeights): number {
  const sum =
    weights.semantic * signals.semanticSimilarity +
    weights.lexical * signals.lexicalRelevance +
    weights.graph * signals.graphProximity +
    weights.recency * signals.recencyFactor +
    weights.salience * signals.salience +
    weights.confidence * signals.confidence;
  const timed = sum * signals.epistemicWeight + weights.temporalBoost * signals.temporalAffinity;
  const score = timed * signals.nodeTypeBoost;
  const limit = relevanceLimit(signals, weights);
  return roundScore(limit === undefined ? score : Math.min(score, limit));
}

/** The combined score of words and meaning if it is below the relevance floor; undefined at or above it, or without a floor. */
export function relevanceLimit(
  { semanticSimilarity, lexicalRelevance }: Signals,
  { relevanceFloor }: ScoringWeights,
): number | undefined {
  const relevance = semanticSimilarity + lexicalRelevance;
  return relevanceFloor > 0 && relevance < relevanceFloor ? relevance : undefined;
}

/** A constant part of every score if a question asks only for a time, so that time decides. */
const TIME_SHARE = 0.5;

/**
 * The fused score of a candidate to 10 decimals, minus its tie-break. `rrf`: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR
 * 2009), rescaled so that ranking first in both gives 1. `relative`: the shares of the rescaled signals. `adaptive`: the same, with shares
 * that depend on the word search.
 * @returns NaN, which equals no score, if the record is of another kind than the settings
 */
export function fusedScore(record: FusionRecord, fusion: Fusion): number {
  let factors = 1;
  for (const { name } of FACTORS) factors *= record[name] ?? 1;
  const signals = fusedSignals(record, fusion);
  const base = record.timeFactor === undefined ? signals : TIME_SHARE + (1 - TIME_SHARE) * signals;
  return roundScore(base * factors) - (record.tieBreak ?? 0);
}

function fusedSignals(record: FusionRecord, fusion: Fusion): number {
  if (record.kind === "rrf" && fusion.kind === "rrf") {
    const { k } = fusion;
    const share = (rank: number | undefined) => (rank === undefined ? 0 : 1 / (k + rank));
    return ((share(record.semanticRank) + share(record.lexicalRank)) * (k + 1)) / 2;
  }
  const [semantic, lexical] = fusedAmounts(record, fusion);
  return semantic + lexical;
}

/** The maximum reduction of the cosine's share in adaptive fusion. */
const CERTAIN_LOSS = 0.75;

/**
 * The share of the cosine in adaptive fusion. BM25 loses weight for what the best word hit leaves unexplained of the question, and the
 * cosine where words alone point to a few memories, so that each search counts as much as it contributes.
 */
export function adaptedShare(
  given: Pick<Extract<FusionRecord, { kind: "adaptive" }>, "coverage" | "certainty">,
  { semanticShare, fullCoverage }: Extract<Fusion, { readonly kind: "adaptive" }>,
): number {
  const { coverage, certainty } = given;
  const words = (1 - semanticShare) * Math.min(1, Math.max(coverage / fullCoverage, certainty));
  const meaning = semanticShare * (1 - CERTAIN_LOSS * certainty);
  // Without cosine and words there is nothing to share.
  return words === 0 ? 1 : meaning / (meaning + words);
}

/** The score before any adjustment, computed from the record alone; NaN if the record contradicts its weights. */
export function baseScore(given: Pick<ScoreProvenance, "trace" | "weights" | "fusion">): number {
  const { trace, weights, fusion } = given;
  if (fusion !== undefined) return fusedScore(fusion, weights.fusion);
  return weights.fusion.kind === "weighted" ? weightedScore(trace, weights) : Number.NaN;
}

/** A score that a factor can change: 0, the lowest of a rescaled pool, counts as the last decimal of a score. */
export function movable(score: number): number {
  return score === 0 ? 1e-10 : score;
}

/** The score after one adjustment. Pure; receipts are replayed with it. */
export function applyAdjustment(
  score: number,
  { kind, coefficient, neuralScore }: Adjustment,
): number {
  switch (kind) {
    case "neural_blend":
      return (1 - coefficient) * (neuralScore ?? 0) + coefficient * score;
    case "neural_rank_assignment":
      return coefficient;
    case "current_update":
    case "evidence_projection":
    case "evidence_augmentation":
    case "session_decay":
    case "episode_decay":
      return score * coefficient;
    case "newer_first":
    case "behind_newer":
      return movable(score) * coefficient;
  }
}

/** The recomputed score: the base, then every adjustment in order. Equal to the recorded score bit for bit. */
export function replayScore(provenance: ScoreProvenance): number {
  return provenance.adjustments.reduce(applyAdjustment, baseScore(provenance));
}

const FORMULA_VERSIONS = {
  weighted: 1,
  rrf: 2,
  relative: 3,
  adaptive: 4,
} as const satisfies Record<Fusion["kind"], ScoreProvenance["formulaVersion"]>;

export function formulaVersion(kind: Fusion["kind"]): ScoreProvenance["formulaVersion"] {
  return FORMULA_VERSIONS[kind];
}

/** The parts of a score. `semantic`: meaning; `lexical`: words. */
type ScoreSignal =
  | "semantic"
  | "lexical"
  | "graph"
  | "recency"
  | "salience"
  | "confidence"
  | "time";

/** The contribution of a signal before any factor. Zero contributions are left out. */
type ScorePart = { readonly signal: ScoreSignal; readonly amount: number };

/** What raises or lowers the sum of the parts. */
type BaseStepKind =
  | FactorStep
  /** Words and meaning together stay below the floor, which caps the score. */
  | "relevance_floor"
  /** To 10 decimals: at most 1e-10. */
  | "rounding"
  /** At most 1e-11. */
  | "tie_break";

type ScoreStep = {
  readonly kind: BaseStepKind | Adjustment["kind"];
  /** The factor applied to the score, if any. */
  readonly factor: number | undefined;
  /** The adjustment of this step; undefined for a step of the base score. */
  readonly adjustment: Adjustment | undefined;
  /** The score after this step, and its difference from the previous one. */
  readonly score: number;
  readonly change: number;
};

/** A breakdown of a score: the sum of the parts, then each step in order. */
export type ScoreParts = {
  readonly parts: readonly ScorePart[];
  /** Factors of 1 are left out; adjustments never are. */
  readonly steps: readonly ScoreStep[];
  /** The score after the last step: equal to the recorded score bit for bit. */
  readonly score: number;
};

/**
 * The breakdown of a score, from its record alone. The amounts of the parts and the changes of the steps add up to the score, up to the
 * rounding of a sum of doubles.
 */
export function scoreParts(provenance: ScoreProvenance): ScoreParts {
  const { trace, weights, fusion, adjustments } = provenance;
  const parts = (
    fusion === undefined ? weightedParts(provenance) : fusedParts(fusion, weights.fusion)
  ).filter(({ amount }) => amount !== 0);
  const run = stepsFrom(parts.reduce((sum, { amount }) => sum + amount, 0));
  if (fusion === undefined) {
    run.times("epistemic", trace.epistemicWeight);
    run.to("temporal", run.score() + weights.temporalBoost * trace.temporalAffinity);
    run.times("node_type", trace.nodeTypeBoost);
    const limit = relevanceLimit(trace, weights);
    if (limit !== undefined) run.to("relevance_floor", Math.min(run.score(), limit));
  } else {
    for (const { name, of } of FACTORS) run.times(of, fusion[name]);
  }
  const base = baseScore(provenance);
  const tieBreak = fusion?.tieBreak ?? 0;
  run.to("rounding", tieBreak === 0 ? base : base + tieBreak);
  run.to("tie_break", base);
  for (const adjustment of adjustments) run.adjust(adjustment);
  return { parts, steps: run.steps, score: run.score() };
}

/** Collects steps, each from the score of the previous one. */
function stepsFrom(sum: number) {
  const steps: ScoreStep[] = [];
  let score = sum;
  const add = (step: Pick<ScoreStep, "kind" | "factor" | "adjustment">, next: number): void => {
    steps.push({ ...step, score: next, change: next - score });
    score = next;
  };
  return {
    steps,
    score: () => score,
    times: (kind: BaseStepKind, factor = 1): void => {
      if (factor !== 1) add({ kind, factor, adjustment: undefined }, score * factor);
    },
    to: (kind: BaseStepKind, next: number): void => {
      if (next !== score) add({ kind, factor: undefined, adjustment: undefined }, next);
    },
    adjust: (adjustment: Adjustment): void => {
      const { kind, coefficient } = adjustment;
      const next = applyAdjustment(score, adjustment);
      const isBlend = kind === "neural_blend" || kind === "neural_rank_assignment";
      const isFactor = !isBlend && Object.is(next, score * coefficient);
      add({ kind, factor: isFactor ? coefficient : undefined, adjustment }, next);
    },
  };
}

function weightedParts(given: {
  readonly trace: ScoreProvenance["trace"];
  readonly weights: ScoringWeights;
}): readonly ScorePart[] {
  const { trace, weights } = given;
  return [
    { signal: "semantic", amount: weights.semantic * trace.semanticSimilarity },
    { signal: "lexical", amount: weights.lexical * trace.lexicalRelevance },
    { signal: "graph", amount: weights.graph * trace.graphProximity },
    { signal: "recency", amount: weights.recency * trace.recencyFactor },
    { signal: "salience", amount: weights.salience * trace.salience },
    { signal: "confidence", amount: weights.confidence * trace.confidence },
  ];
}

function fusedParts(record: FusionRecord, fusion: Fusion): readonly ScorePart[] {
  const [semantic, lexical] = fusedAmounts(record, fusion);
  const time = record.timeFactor === undefined ? 0 : TIME_SHARE;
  return [
    { signal: "semantic", amount: (1 - time) * semantic },
    { signal: "lexical", amount: (1 - time) * lexical },
    { signal: "time", amount: time },
  ];
}

/** NaN, like the score, if the record does not match the settings. */
function fusedAmounts(record: FusionRecord, fusion: Fusion): readonly [number, number] {
  if (record.kind === "rrf" && fusion.kind === "rrf") {
    const share = (rank: number | undefined) =>
      rank === undefined ? 0 : (fusion.k + 1) / (fusion.k + rank) / 2;
    return [share(record.semanticRank), share(record.lexicalRank)];
  }
  if (record.kind !== "rrf" && fusion.kind === record.kind) {
    const semanticShare = shareOf(record, fusion);
    return [semanticShare * (record.semantic ?? 0), (1 - semanticShare) * (record.lexical ?? 0)];
  }
  return [Number.NaN, Number.NaN];
}

function shareOf(record: FusionRecord, fusion: Fusion): number {
  if (record.kind === "adaptive" && fusion.kind === "adaptive") return adaptedShare(record, fusion);
  return fusion.kind === "relative" ? fusion.semanticShare : Number.NaN;
}
