import type { RankingMultipliers } from "../../../domain/records/score.ts";
import type { ScoringWeights } from "../../../domain/scoring.ts";

/** How a question shifts the weights. */
export type WeightShifts = {
  /** Words do not help to decide which of several answers is right. */
  readonly ignoresWords: boolean;
  readonly favours: "newest" | "recent" | undefined;
  readonly multipliers: RankingMultipliers | undefined;
};

/** The lowest weight of recency, and the lowest decay per day if there is one. */
type Least = { readonly recency: number; readonly lambda: number | undefined };

const NEWEST: Least = { recency: 0.25, lambda: 0.05 };
const RECENT: Least = { recency: 0.2, lambda: undefined };

/** The weights with which a question is scored. Pure. */
export function shiftWeights(weights: ScoringWeights, shifts: WeightShifts): ScoringWeights {
  let shifted = weights;
  if (shifts.ignoresWords) {
    shifted = { ...shifted, semantic: shifted.semantic + shifted.lexical, lexical: 0 };
  }
  if (shifts.favours === "newest") shifted = withRecency(shifted, NEWEST);
  if (shifts.favours === "recent") shifted = withRecency(shifted, RECENT);
  return shifts.multipliers === undefined ? shifted : multiplied(shifted, shifts.multipliers);
}

/** Raises the weight of recency at the expense of cosine and words, proportionally, by at most what they have. */
function withRecency(weights: ScoringWeights, least: Least): ScoringWeights {
  const held = weights.semantic + weights.lexical;
  if (weights.recency >= least.recency || held <= 0) return weights;
  const taken = Math.min(least.recency - weights.recency, held);
  return {
    ...weights,
    semantic: weights.semantic - taken * (weights.semantic / held),
    lexical: weights.lexical - taken * (weights.lexical / held),
    recency: weights.recency + taken,
    recencyLambda: Math.max(weights.recencyLambda, least.lambda ?? weights.recencyLambda),
  };
}

/** The six weights times their factors, summing to 1. */
function multiplied(weights: ScoringWeights, factors: RankingMultipliers): ScoringWeights {
  const product = {
    semantic: weights.semantic * factors.semantic,
    lexical: weights.lexical * factors.lexical,
    graph: weights.graph * factors.graph,
    recency: weights.recency * factors.recency,
    salience: weights.salience * factors.salience,
    confidence: weights.confidence * factors.confidence,
  };
  const sum = Object.values(product).reduce((total, weight) => total + weight, 0);
  if (sum <= 0) return weights;
  return {
    ...weights,
    semantic: product.semantic / sum,
    lexical: product.lexical / sum,
    graph: product.graph / sum,
    recency: product.recency / sum,
    salience: product.salience / sum,
    confidence: product.confidence / sum,
  };
}
