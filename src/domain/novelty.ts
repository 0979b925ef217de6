import { withoutNoise } from "../lib/decimal.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { MemoryNode } from "./node.ts";

/** The initial salience of a memory, by how different it is from all others. */
export type NoveltyRules = {
  /** Novelty from which a memory gains salience, 0 to 1. */
  readonly highThreshold: number;
  /** Novelty up to which it loses some, 0 to 1. */
  readonly lowThreshold: number;
  /** 0 to 0.5. */
  readonly salienceBoost: number;
  /** 0 to 0.5. */
  readonly saliencePenalty: number;
};

/** The existing memory most similar to a new one. */
export type Nearest = { readonly nodeId: Uuid; readonly similarity: number };

/** Decimals of the note stored with a memory. */
const DECIMALS = 4;

/**
 * A memory not yet written, with the salience of its novelty and a note of it in the metadata. Novelty is 1 minus its greatest
 * cosine with another memory; without a nearest memory it is 1.
 */
export function withNovelty(
  node: MemoryNode,
  nearest: Nearest | undefined,
  rules: NoveltyRules,
): MemoryNode {
  const similarity = nearest?.similarity ?? 0;
  const novelty = toUnit(1 - similarity);
  const salience = toUnit(withoutNoise(node.salienceBase + adjustment(novelty, rules)));
  const note: JsonObject = {
    novelty_score: rounded(novelty),
    max_similarity: rounded(similarity),
    nearest_node_id: nearest?.nodeId ?? null,
  };
  return { ...node, salience, salienceBase: salience, metadata: { ...node.metadata, ...note } };
}

function adjustment(novelty: number, rules: NoveltyRules): number {
  if (novelty >= rules.highThreshold) return rules.salienceBoost;
  return novelty <= rules.lowThreshold ? -rules.saliencePenalty : 0;
}

function toUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function rounded(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
