import {
  BOUND,
  bestFirst,
  type Postings,
  share,
  type Weighed,
  weighWords,
} from "../../../domain/search/bm25.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import type { Bounds, Kernel } from "../../native/kernel.ts";

/** Documents examined in the first round per hit wanted, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 4;

/** The statistics that BM25 compares documents with. */
export type Collection = {
  /** Documents of the owner. */
  readonly documents: number;
  /** Words in a document of the pack, on average; above 0. */
  readonly meanLength: number;
};

export type Ranking = {
  /** Hits wanted. */
  readonly k: number;
  /** Keys whose scores are wanted too. */
  readonly others: readonly number[];
  /** The number of words in each document. */
  readonly lengthsOf: (keys: readonly number[]) => ReadonlyMap<number, number>;
  /** The keys that pass the filter. */
  readonly allowedOf: (keys: readonly number[]) => readonly number[];
};

/**
 * The best documents by BM25, followed by those of `others` that match and pass. The upper bound of a document follows from how
 * often it contains the words; its length is looked up, and the filter applied, only if the bound may be enough.
 * @param words the owner's documents that contain each word of the question, by ascending key
 */
export function rankTexts(
  kernel: Kernel,
  words: readonly Postings[],
  collection: Collection,
  ranking: Ranking,
): Hit<number>[] {
  const weighed = weighWords(words, collection.documents);
  const score = (keys: readonly number[]): Hit<number>[] =>
    scoreAll(weighed, collection, ranking, ranking.allowedOf(keys));
  const best = findBest(kernel, boundAll(kernel, weighed), score, ranking.k);
  const isBest = new Set(best.map(({ key }) => key));
  const others = ranking.others.filter(
    (key) => !isBest.has(key) && weighed.some((word) => frequencyIn(word, key) > 0),
  );
  return [...best, ...score(others).sort(bestFirst)];
}

type Word = Weighed<Postings>;

/** Scores the documents with the highest upper bounds first, then all whose bound reaches the score of the k-th best. */
function findBest(
  kernel: Kernel,
  bounds: Bounds,
  score: (keys: readonly number[]) => Hit<number>[],
  k: number,
): Hit<number>[] {
  if (k === 0) return [];
  const count = bounds.keys.length;
  const reachedBy = (wanted: number): number =>
    kernel.select(bounds.most, undefined, { slack: 0, count, wanted }).threshold;
  let hits: Hit<number>[] = [];
  let seenTo = Number.POSITIVE_INFINITY;
  let from = reachedBy(k * FIRST_LOOK);
  for (let wanted = k * FIRST_LOOK; ; ) {
    hits = [...hits, ...score(keysBetween(bounds, from, seenTo))].sort(bestFirst);
    const last = hits[k - 1]?.score;
    const isEnough = last !== undefined && last >= from;
    if (isEnough || from === Number.NEGATIVE_INFINITY) return hits.slice(0, k);
    seenTo = from;
    wanted *= WIDER;
    from = last ?? reachedBy(wanted);
  }
}

/** The documents with an upper bound of at least `from` but below `to`. */
function keysBetween({ keys, most }: Bounds, from: number, to: number): readonly number[] {
  const between: number[] = [];
  for (let position = 0; position < keys.length; position += 1) {
    const bound = most[position] ?? 0;
    if (bound >= from && bound < to) between.push(keys[position] ?? 0);
  }
  return between;
}

/** The upper bound of each document, whatever its length. */
function boundAll(kernel: Kernel, words: readonly Word[]): Bounds {
  let all: Bounds = { keys: new Float64Array(0), most: new Float32Array(0) };
  for (const word of words) {
    all = kernel.join(all, word, { rarity: word.rarity, ...BOUND });
  }
  return all;
}

function scoreAll(
  words: readonly Word[],
  { meanLength }: Collection,
  { lengthsOf }: Ranking,
  keys: readonly number[],
): Hit<number>[] {
  const lengths = lengthsOf(keys);
  return keys.map((key) => {
    const length = (lengths.get(key) ?? 0) / meanLength;
    let score = 0;
    for (const word of words) score += word.rarity * share(frequencyIn(word, key), length);
    return { key, score };
  });
}

/** How often a document contains a word; 0 if it does not. */
function frequencyIn({ keys, frequencies }: Word, key: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? (frequencies[low] ?? 0) : 0;
}
