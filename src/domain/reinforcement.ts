import { withoutNoise } from "../lib/decimal.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { MemoryNode } from "./node.ts";

/** What one reinforcement adds, and its cap; a value above the cap stays. */
const BOOST = { step: 0.15, cap: 0.5 } as const;
const CONFIDENCE = { step: 0.05, cap: 0.95 } as const;

/**
 * A memory after one reinforcement. Its boost and its confidence rise by a step up to a cap, its salience becomes salience base
 * plus boost, at most 1, and decay starts again. Evidence is appended, even if it is already there.
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
