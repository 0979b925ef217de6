import { bestFirst, type Postings, share, weighWords } from "../../../domain/search/bm25.ts";
import type { Hit } from "../../../ports/store/search-index.ts";

/** An owner's documents. */
export type Collection = {
  readonly documents: number;
  /** Words in all of them. */
  readonly words: number;
  /** Words in the document of each key; -1 without one. */
  readonly lengths: Int32Array;
};

/** The scores of all documents that have a word of the question. */
export type Ranking = {
  /** The `count` best, best first. */
  readonly best: (count: number) => readonly Hit<number>[];
  /** The hit of a key; undefined without any of the words. */
  readonly hitOf: (key: number) => Hit<number> | undefined;
};

/**
 * Scores documents by BM25, with the same sums in the same order as every store.
 * @param words the owner's documents that contain each word of the question, by ascending key
 */
export function rankWords(
  words: readonly Postings[],
  { documents, words: total, lengths }: Collection,
): Ranking {
  const meanLength = total / documents;
  const scores = new Float64Array(lengths.length);
  for (const { keys, frequencies, rarity } of weighWords(words, documents)) {
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] ?? 0;
      const length = lengths[key] ?? -1;
      if (length < 0) continue;
      scores[key] = (scores[key] ?? 0) + rarity * share(frequencies[at] ?? 0, length / meanLength);
    }
  }
  return {
    best: (count) => bestOf(scores, count),
    hitOf: (key) => {
      const score = scores[key] ?? 0;
      return score > 0 ? { key, score } : undefined;
    },
  };
}

/** The `count` highest scores above 0. */
function bestOf(scores: Float64Array, count: number): readonly Hit<number>[] {
  if (count === 0) return [];
  let best: Hit<number>[] = [];
  let least = 0;
  for (let key = 0; key < scores.length; key += 1) {
    const score = scores[key] ?? 0;
    // Keys ascend: of equal scores the first ones count.
    if (score <= least) continue;
    best.push({ key, score });
    if (best.length < 2 * count) continue;
    best = best.sort(bestFirst).slice(0, count);
    least = best[count - 1]?.score ?? 0;
  }
  return best.sort(bestFirst).slice(0, count);
}
