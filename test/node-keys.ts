import type { NodeKey } from "../src/ports/store/search-index.ts";

/** A key as a test makes one up, which no store does anything with. */
export function nodeKey(key: number): NodeKey {
  // SAFETY: what a key stands for is its store's business, and none sees this one.
  return key as NodeKey;
}

export function nodeKeys(...keys: readonly number[]): NodeKey[] {
  return keys.map(nodeKey);
}
