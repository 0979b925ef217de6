import { bestFirst } from "./order.ts";

/**
 * A model reads the beginning of a long text. The rest is cut into parts, each with a vector of its own; a memory is as near to a
 * question as the nearest of them. The vectors are kept in a byte for each number, one after the other: rounding changes a cosine by
 * less than 0.005.
 */

/** Bytes of a part. A longer one has too many sentences besides the one that a question asks for. */
const PART_BYTES = 650;
/** Bytes of the shortest text that may have parts: stores find those that have more quickly. */
export const PARTS_FROM = 896;
/**
 * A text has parts from as many times what the model reads. The nearest of several is near to many questions: parts of all texts
 * that are longer than what the model reads cost 1.7 points of recall among the long messages of conversations.
 */
const LONG = 8;
/** Bytes of UTF-8 of a token, at least, of nearly all texts. */
const BYTES_PER_TOKEN = 3.5;
/** Parts of one text; those of a longer one leave gaps. */
const PARTS_MAX = 64;
/** UTF-16 units in which a part begins earlier, so that it begins with a sentence. */
const SENTENCE_MAX = 120;
/** UTF-16 units that tell how many bytes a text has for each. */
const SAMPLE = 2000;

/** UTF-16 units of a text that the model reads. @param tokens that it reads */
function unitsRead(text: string, tokens: number): number {
  const sample = text.slice(0, SAMPLE);
  return Math.floor((tokens * BYTES_PER_TOKEN * sample.length) / Buffer.byteLength(sample));
}

/** Bytes of the shortest text that has parts. @param tokens that the model reads */
export function longFrom(tokens: number): number {
  return Math.max(PARTS_FROM, Math.floor(LONG * tokens * BYTES_PER_TOKEN));
}

/** The parts of a long text behind what a model reads of it; of one that is not long, none. */
export function partsOf(text: string, tokens: number): readonly string[] {
  const read = unitsRead(text, tokens);
  const rest = text.length - read;
  if (text.length <= LONG * read) return [];
  const size = Math.max(1, Math.floor((read * PART_BYTES) / (tokens * BYTES_PER_TOKEN)));
  const count = Math.min(PARTS_MAX, Math.ceil(rest / size));
  const parts: string[] = [];
  for (let part = 0; part < count; part += 1) {
    const at = Math.max(0, text.length - Math.round(((count - part) * rest) / count));
    const from = sentenceBefore(text, at);
    parts.push(text.slice(from, at + Math.min(size, Math.ceil(rest / count))).toWellFormed());
  }
  return parts.filter((part) => part.trim() !== "");
}

/** Where the sentence begins in which a place is, if that is not far before. */
function sentenceBefore(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - SENTENCE_MAX), at);
  const end = Math.max(...[". ", "! ", "? ", "\n", "。"].map((sign) => before.lastIndexOf(sign)));
  const word = before.lastIndexOf(" ");
  const from = end === -1 ? word : end;
  return from === -1 ? at : at - before.length + from + 1;
}

/** The vectors of parts in bytes. */
export function packParts(vectors: readonly Float32Array[]): Uint8Array {
  const dimension = vectors[0]?.length ?? 0;
  const bytes = new Int8Array(vectors.length * dimension);
  for (const [part, vector] of vectors.entries()) {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    for (const [at, value] of vector.entries()) {
      bytes[part * dimension + at] = Math.round((127 * value) / largest);
    }
  }
  return new Uint8Array(bytes.buffer);
}

/** The cosine of a vector with the nearest part; -1 if the parts are of another dimension, or there are none. */
export function nearestPart(vector: Float32Array, packed: Uint8Array): number {
  const dimension = vector.length;
  const bytes = new Int8Array(packed.buffer, packed.byteOffset, packed.byteLength);
  if (bytes.length % dimension !== 0) return -1;
  let square = 0;
  for (let at = 0; at < dimension; at += 1) square += (vector[at] ?? 0) ** 2;
  let best = -1;
  for (let from = 0; from < bytes.length; from += dimension) {
    let [dot, own] = [0, 0];
    for (let at = 0; at < dimension; at += 1) {
      const value = bytes[from + at] ?? 0;
      dot += value * (vector[at] ?? 0);
      own += value * value;
    }
    best = Math.max(best, dot / Math.sqrt(own * square));
  }
  // In single precision, like all cosines.
  return Math.fround(best);
}

/** Hits, each with its nearest part where that is nearer. @param parts the cosine of the nearest part of each key */
export function withParts(
  hits: readonly Near[],
  parts: ReadonlyMap<number, number>,
): readonly Near[] {
  if (parts.size === 0) return hits;
  return hits.map(({ key, score }) => ({ key, score: Math.max(score, parts.get(key) ?? score) }));
}

type Near = { readonly key: number; readonly score: number };

/** The `k` nearest by their texts or by parts of these. @param hits the `k` nearest by their texts, best first */
export function nearestWithParts(
  hits: readonly Near[],
  parts: ReadonlyMap<number, number>,
  k: number,
): readonly Near[] {
  if (parts.size === 0) return hits;
  const isHit = new Set(hits.map(({ key }) => key));
  const others = [...parts].flatMap(([key, score]) => (isHit.has(key) ? [] : [{ key, score }]));
  return [...withParts(hits, parts), ...others].sort(bestFirst).slice(0, k);
}
