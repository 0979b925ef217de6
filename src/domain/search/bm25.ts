import type { Instant } from "../../lib/instant.ts";
import { compareUnits } from "../../lib/text.ts";

/**
 * BM25, as every store computes it to the last bit: the order of additions is part of the rule. Words are weighed by their rarity among the
 * owner's own documents, so that other owners' documents neither affect ranking nor leak; only the length of a document is compared with
 * the mean over all owners. The constants are those of FTS5, which computes the scores if there is no kernel. The kernel
 * (adapters/native/kernel) repeats `weightedFrequency` and `share`; a test compares them.
 */

/** How quickly further occurrences stop counting. */
export const K1 = 1.2;
/** The influence of a document's length, 0 to 1. */
export const B = 0.75;

/** How often a word occurs in each column of a document (`lexical-document.ts`). */
type Occurrences = { readonly own: number; readonly previous: number; readonly next: number };

/** Weight of one occurrence in each column. Multiples of 0.5, so that their sums are exact. */
export const COLUMN_WEIGHTS: Occurrences = { own: 1, previous: 0.5, next: 0.5 };

/** The frequency of a word in a document: its occurrences times their weights, as a 32-bit number. */
export function weightedFrequency({ own, previous, next }: Occurrences): number {
  return Math.fround(
    own * COLUMN_WEIGHTS.own + previous * COLUMN_WEIGHTS.previous + next * COLUMN_WEIGHTS.next,
  );
}

/**
 * The weight of a word: its inverse document frequency. A word in more than half of the documents has almost no weight.
 * @param documents of the owner
 * @param withWord those that contain the word, before any filter
 */
export function rarity(documents: number, withWord: number): number {
  const idf = Math.log((documents - withWord + 0.5) / (withWord + 0.5));
  return idf <= 0 ? 1e-6 : idf;
}

/**
 * The rarity of all words of a question together: the score of a mean-length document with each of them once. A word that no document
 * contains counts most: it was not found.
 * @param words the number of the owner's documents that contain each
 */
export function totalRarity(words: readonly number[], documents: number): number {
  return words.reduce((sum, withWord) => sum + rarity(documents, withWord), 0);
}

/**
 * Hits of a word search with the share of the question that each explains.
 * @param holding the number of the owner's documents that contain each word of the question
 */
export function withCoverage<Hit extends { readonly score: number }>(
  hits: readonly Hit[],
  holding: readonly number[],
  documents: number,
): (Hit & { readonly coverage: number; readonly known: number })[] {
  const all = totalRarity(holding, documents);
  const held = holding.filter((count) => count > 0);
  const known = totalRarity(held, documents) / all;
  return hits.map((hit) => ({ ...hit, coverage: hit.score / all, known }));
}

/** Words of a question by which documents are ranked. */
export const RANKED_WORDS_MAX = 64;
/** Maximum documents counted per word to find the rarest words. */
export const COUNTED_MAX = 2000;

/**
 * Which words of a long question rank documents: the rarest of those that any document contains.
 * @param holding the number of the owner's documents that contain each word, at most `COUNTED_MAX`
 * @returns whether each does
 */
export function rarestWords(holding: readonly number[]): readonly boolean[] {
  const rarest = [...holding.keys()]
    .filter((at) => (holding[at] ?? 0) > 0)
    .sort((a, b) => (holding[a] ?? 0) - (holding[b] ?? 0) || a - b);
  const chosen = new Set(rarest.slice(0, RANKED_WORDS_MAX));
  return holding.map((_, at) => chosen.has(at));
}

export type Weighed<Word> = Word & { readonly rarity: number };

/**
 * The words that some document contains, each with its weight, rarest first. The score of a document is the sum of `rarity *
 * share(frequency, length)` over them, in this order.
 * @param words each with the keys of the owner's documents that contain it, in the order of the question
 */
export function weighWords<Word extends { readonly keys: ArrayLike<number> }>(
  words: readonly Word[],
  documents: number,
): readonly Weighed<Word>[] {
  return words
    .filter(({ keys }) => keys.length > 0)
    .map((word) => ({ ...word, rarity: rarity(documents, word.keys.length) }))
    .sort((a, b) => a.keys.length - b.keys.length);
}

/**
 * The share of a word in the score of a document, for a rarity of 1.
 * @param frequency weighted; 0 gives 0
 * @param length words in all columns of the document; 1 is the mean of all owners' documents
 */
export function share(frequency: number, length: number): number {
  return (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * length));
}

/** The order of hits: best first, ties by key, which is the order of writing. */
export function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || a.key - b.key;
}
type Scored = { readonly key: number; readonly score: number };

/** The order of a conversation; it has no ties. */
export function earliestFirst(a: Placed, b: Placed): number {
  return compareUnits(a.createdAt, b.createdAt) || compareUnits(a.id, b.id);
}

/** The opposite of `earliestFirst`. */
export function newestFirst(a: Placed, b: Placed): number {
  return earliestFirst(b, a);
}
type Placed = { readonly createdAt: Instant; readonly id: string };

/** The order of nodes reached over edges, and of claims: by stored confidence, then newest first, then by ascending id. */
export function surestFirst(a: Held, b: Held): number {
  return (
    b.confidence - a.confidence ||
    compareUnits(b.createdAt, a.createdAt) ||
    compareUnits(a.id, b.id)
  );
}
type Held = Placed & { readonly confidence: number };

/** The keys of the documents that contain a word, ascending, and the weighted frequency in each. */
export type Postings = { readonly keys: Float64Array; readonly frequencies: Float32Array };

/** The documents that contain any form of a word, by ascending key, each with the frequency of its most frequent form. */
export function anyOf(forms: readonly Postings[]): Postings {
  const [first = EMPTY, ...others] = forms.filter(({ keys }) => keys.length > 0);
  return others.reduce(either, first);
}

/** The documents that contain a form whose occurrences count less. */
export function weighted({ keys, frequencies }: Postings, weight: number): Postings {
  return { keys, frequencies: weight === 1 ? frequencies : frequencies.map((one) => one * weight) };
}

const EMPTY: Postings = { keys: new Float64Array(0), frequencies: new Float32Array(0) };

function either(one: Postings, other: Postings): Postings {
  const keys = new Float64Array(one.keys.length + other.keys.length);
  const frequencies = new Float32Array(keys.length);
  let [left, right, count] = [0, 0, 0];
  while (left < one.keys.length || right < other.keys.length) {
    const leftKey = one.keys[left] ?? Number.POSITIVE_INFINITY;
    const rightKey = other.keys[right] ?? Number.POSITIVE_INFINITY;
    const inLeft = leftKey <= rightKey ? (one.frequencies[left++] ?? 0) : 0;
    const inRight = rightKey <= leftKey ? (other.frequencies[right++] ?? 0) : 0;
    keys[count] = Math.min(leftKey, rightKey);
    frequencies[count] = Math.max(inLeft, inRight);
    count += 1;
  }
  return { keys: keys.slice(0, count), frequencies: frequencies.slice(0, count) };
}
