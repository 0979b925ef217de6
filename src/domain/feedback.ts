import { withoutNoise } from "../lib/decimal.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import { jaccard, keywords } from "./lexical-analysis.ts";
import type { MemoryNode } from "./node.ts";
import type { ScoringWeights } from "./scoring.ts";

/** The outcome of an answer. */
export const FEEDBACK_SIGNALS = ["used", "ignored", "corrected", "contradicted"] as const;
export type FeedbackSignal = (typeof FEEDBACK_SIGNALS)[number];

const ADDITIVE = ["semantic", "lexical", "graph", "recency", "salience", "confidence"] as const;
type Additive = (typeof ADDITIVE)[number];

const RATE = 0.01;
const BOUNDS = { min: 0.01, max: 0.95 } as const;
const DECIMALS = 1e10;

/**
 * Scoring weights after some signals. Each moves a weight by a hundredth or less: used and ignored the largest additive one, corrected from
 * semantic to confidence, contradicted from confidence to epistemic. Then each is clamped to 0.01 to 0.95, and the six additive ones are
 * scaled to sum to 1, with ten decimals; the largest takes the remainder. Pure.
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

function largest(weights: Readonly<Record<Additive, number>>): Additive {
  return ADDITIVE.reduce((most, name) => (weights[name] > weights[most] ? name : most));
}

function rounded(value: number): number {
  return Math.round(withoutNoise(value) * DECIMALS) / DECIMALS;
}

/** The quality of answers by their outcomes, 0 to 1; 1 without signals. */
export function feedbackQuality(signals: readonly FeedbackSignal[]): number {
  if (signals.length === 0) return 1;
  const count = (wanted: FeedbackSignal) => signals.filter((signal) => signal === wanted).length;
  return (count("used") + 0.3 * count("ignored")) / signals.length;
}

/** What one reinforcement adds, and its cap; a value above the cap stays. */
const BOOST = { step: 0.15, cap: 0.5 } as const;
const CONFIDENCE = { step: 0.05, cap: 0.95 } as const;

/**
 * A memory after one reinforcement. Its boost and its confidence rise by a step up to a cap, its salience becomes salience base plus boost,
 * at most 1, and decay starts again. Evidence is appended, even if already cited.
 */
export function reinforced(
  node: MemoryNode,
  evidenceId: Uuid | undefined,
  at: Instant,
): MemoryNode {
  const reinforcementBoost = raised(node.reinforcementBoost, BOOST);
  const confidenceBase = raised(node.confidenceBase, CONFIDENCE);
  return {
    ...node,
    reinforcementBoost,
    confidenceBase,
    confidence: confidenceBase,
    salience: Math.min(1, withoutNoise(node.salienceBase + reinforcementBoost)),
    lastReinforcedAt: at,
    updatedAt: at,
    evidenceRefs: evidenceId === undefined ? node.evidenceRefs : [...node.evidenceRefs, evidenceId],
  };
}

function raised(value: number, { step, cap }: { readonly step: number; readonly cap: number }) {
  return Math.max(value, Math.min(withoutNoise(value + step), cap));
}

/** Share of keywords that two texts must have in common to be about the same topic. */
const SAME_TOPIC = 0.3;
/** Confidence lost per cycle, and at most, in tenths: tenths add up exactly. */
const TENTHS_PER_CYCLE = 1;
const TENTHS_MAX = 3;
/** Shortest chain of memories that can alternate. */
const CHAIN_MIN = 3;
const TOPIC_WORDS = 5;

type Oscillation = {
  readonly cycleCount: number;
  /** To subtract from the confidence of the newest memory: 0.1 to 0.3. */
  readonly penalty: number;
  /** Up to five keywords in order, separated by spaces. */
  readonly topic: string;
};

/**
 * Whether a chain of replacements returns to its starting point.
 * @param texts the newest memory, then what it replaced, and so on: a memory an even number of steps before the newest was
 *   held one or more turns ago, and counts as a cycle if it is about the same topic
 */
export function findOscillation(texts: readonly string[]): Oscillation | undefined {
  if (texts.length < CHAIN_MIN) return undefined;
  const [newest = new Set<string>(), , earlier = new Set<string>(), ...rest] = texts.map(keywords);
  const cycleCount = [earlier, ...rest.filter((_, index) => index % 2 === 1)].filter(
    (words) => jaccard(newest, words) >= SAME_TOPIC,
  ).length;
  if (cycleCount === 0) return undefined;
  return {
    cycleCount,
    penalty: Math.min(TENTHS_PER_CYCLE * cycleCount, TENTHS_MAX) / 10,
    topic: topicOf(newest, earlier),
  };
}

function topicOf(newest: ReadonlySet<string>, earlier: ReadonlySet<string>): string {
  const common = newest.intersection(earlier);
  const smaller = earlier.size < newest.size ? earlier : newest;
  const words = common.size > 0 ? common : smaller;
  return [...words].sort().slice(0, TOPIC_WORDS).join(" ");
}
