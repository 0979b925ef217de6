import type { Adjustment, ScoreProvenance } from "./records/score.ts";
import { adaptedShare, applyAdjustment, baseScore, relevanceLimit } from "./score-replay.ts";
import type { Fusion, FusionRecord, ScoringWeights } from "./scoring.ts";

/** What a score is made of. `semantic`: meaning; `lexical`: words. */
export type ScoreSignal = "semantic" | "lexical" | "graph" | "recency" | "salience" | "confidence";

/** What a signal brings before any factor. Signals that bring nothing are left out. */
export type ScorePart = { readonly signal: ScoreSignal; readonly amount: number };

/** What raises or lowers the sum of the parts. */
export type BaseStepKind =
  /** How it is known. */
  | "epistemic"
  | "node_type"
  /** How it fits the time of the question. */
  | "temporal"
  /** The question is about the present. */
  | "recency_boost"
  | "speaker"
  /** Words and meaning together stay below the floor, which is as much as it can have. */
  | "relevance_floor"
  /** To 10 decimals: at most 1e-10. */
  | "rounding"
  /** At most 1e-11. */
  | "tie_break";

export type ScoreStep = {
  readonly kind: BaseStepKind | Adjustment["kind"];
  /** What the score was multiplied by, where it was. */
  readonly factor: number | undefined;
  /** The adjustment that this step is; undefined for a step of the base score. */
  readonly adjustment: Adjustment | undefined;
  /** The score behind this step, and its difference to the one before. */
  readonly score: number;
  readonly change: number;
};

/** A score taken apart: the parts, added, then each step in its order. */
export type ScoreParts = {
  readonly parts: readonly ScorePart[];
  /** Factors of 1 are left out; adjustments are all there. */
  readonly steps: readonly ScoreStep[];
  /** That of the last step: equal to the recorded score bit for bit. */
  readonly score: number;
};

/**
 * What a score is made of, from its record alone. The amounts of the parts and the changes of the steps add up to the score, but
 * for the last bits of a sum of doubles.
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
    run.times("epistemic", fusion.epistemicFactor);
    run.times("node_type", fusion.nodeTypeFactor);
    run.times("temporal", fusion.temporalFactor);
    run.times("recency_boost", fusion.recencyBoostFactor);
    run.times("speaker", fusion.speakerFactor);
  }
  const base = baseScore(provenance);
  const tieBreak = fusion?.tieBreak ?? 0;
  run.to("rounding", tieBreak === 0 ? base : base + tieBreak);
  run.to("tie_break", base);
  for (const adjustment of adjustments) run.adjust(adjustment);
  return { parts, steps: run.steps, score: run.score() };
}

/** Collects steps, each from the score of the one before. */
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

function weightedParts({
  trace,
  weights,
}: {
  readonly trace: ScoreProvenance["trace"];
  readonly weights: ScoringWeights;
}): readonly ScorePart[] {
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
  return [
    { signal: "semantic", amount: semantic },
    { signal: "lexical", amount: lexical },
  ];
}

/** NaN, as the score, if the record is of another kind than the settings. */
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
