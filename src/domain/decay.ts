import { daysBetween, type Instant } from "../lib/instant.ts";
import type { DecayProfile, LifecycleState } from "./enums.ts";
import type { MemoryNode } from "./node.ts";

/** How fast a memory fades, per day. */
export const DECAY_RATES: Readonly<Record<DecayProfile, number>> = {
  permanent: 0,
  slow: 0.005,
  medium: 0.02,
  fast: 0.07,
  rapid: 0.2,
};

/** How fast the boost of a reinforcement fades, per day, for every profile. */
const REINFORCEMENT_RATE = 0.1;
/** Days for which an observed memory keeps its confidence. */
const OBSERVED_CONFIDENCE_DAYS = 180;
const SETTLED_STATES: readonly LifecycleState[] = ["archived", "deprecated"];

/** Salience and confidence at some moment, each 0 to 1. */
export type Decayed = Pick<MemoryNode, "salience" | "confidence">;

/**
 * Salience and confidence at a moment: exponential decay since the last reinforcement, confidence at half the rate. An earlier
 * moment counts as that of the reinforcement. Pinned, permanent, archived and deprecated memories do not fade. Pure; nothing is
 * ever written back.
 */
export function decayed(
  node: Pick<
    MemoryNode,
    | "pinned"
    | "decayProfile"
    | "lifecycleState"
    | "epistemicType"
    | "salienceBase"
    | "confidenceBase"
    | "reinforcementBoost"
    | "lastReinforcedAt"
  >,
  moment: Instant,
): Decayed {
  const { salienceBase, confidenceBase, reinforcementBoost } = node;
  const settled = SETTLED_STATES.includes(node.lifecycleState);
  if (node.pinned || settled || node.decayProfile === "permanent") {
    return { salience: salienceBase, confidence: confidenceBase };
  }
  const rate = DECAY_RATES[node.decayProfile];
  const days = Math.max(0, daysBetween(node.lastReinforcedAt, moment));
  const keepsConfidence = node.epistemicType === "observed" && days < OBSERVED_CONFIDENCE_DAYS;
  return {
    salience: toUnit(
      salienceBase * Math.exp(-rate * days) +
        reinforcementBoost * Math.exp(-REINFORCEMENT_RATE * days),
    ),
    confidence: keepsConfidence
      ? confidenceBase
      : toUnit(confidenceBase * Math.exp((-rate / 2) * days)),
  };
}

function toUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}
