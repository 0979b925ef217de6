import { withoutNoise } from "../lib/decimal.ts";
import type { ScoringWeights } from "./scoring.ts";

/** What became of an answer. */
export const FEEDBACK_SIGNALS = ["used", "ignored", "corrected", "contradicted"] as const;
export type FeedbackSignal = (typeof FEEDBACK_SIGNALS)[number];

const ADDITIVE = ["semantic", "lexical", "graph", "recency", "salience", "confidence"] as const;
type Additive = (typeof ADDITIVE)[number];

const RATE = 0.01;
const BOUNDS = { min: 0.01, max: 0.95 } as const;
const DECIMALS = 1e10;

/**
 * Scoring weights after some signals. Each moves a weight by a hundredth or less: used and ignored the largest additive one,
 * corrected from semantic to confidence, contradicted from confidence to epistemic. Then each is put within 0.01 to 0.95 and the
 * six additive ones are scaled to sum to 1, with ten decimals, the rest going to the largest. Pure.
 */
export function tuned(weights: ScoringWeights, signals: readonly FeedbackSignal[]): ScoringWeights {
  if (signals.length === 0) return weights;
  const own: Record<Additive | "epistemic", number> = { ...weights };
  for (const signal of signals) {
    switch (signal) {
      case "used":
        own[largest(own)] += RATE;
        break;
      case "ignored":
        own[largest(own)] -= RATE / 2;
        break;
      case "corrected":
        own.semantic -= RATE;
        own.confidence += RATE;
        break;
      case "contradicted":
        own.confidence -= RATE;
        own.epistemic += RATE;
    }
  }
  for (const name of [...ADDITIVE, "epistemic"] as const) {
    own[name] = Math.min(BOUNDS.max, Math.max(BOUNDS.min, own[name]));
  }
  const sum = ADDITIVE.reduce((total, name) => total + own[name], 0);
  for (const name of ADDITIVE) own[name] = rounded(own[name] / sum);
  const others = largest(own);
  const rest = ADDITIVE.reduce((total, name) => (name === others ? total : total + own[name]), 0);
  own[others] = rounded(1 - rest);
  const { semantic, lexical, graph, recency, salience, confidence, epistemic } = own;
  return {
    ...weights,
    ...{ semantic, lexical, graph, recency, salience, confidence },
    epistemic: rounded(epistemic),
  };
}

/** The first of the largest. */
function largest(weights: Readonly<Record<Additive, number>>): Additive {
  return ADDITIVE.reduce((most, name) => (weights[name] > weights[most] ? name : most));
}

function rounded(value: number): number {
  return Math.round(withoutNoise(value) * DECIMALS) / DECIMALS;
}

/** How good answers were by what became of them, 0 to 1; 1 without signals. */
export function feedbackQuality(signals: readonly FeedbackSignal[]): number {
  if (signals.length === 0) return 1;
  const count = (wanted: FeedbackSignal) => signals.filter((signal) => signal === wanted).length;
  return (count("used") + 0.3 * count("ignored")) / signals.length;
}
