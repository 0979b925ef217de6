import type { Instant } from "../../lib/instant.ts";
import { nextTurn } from "../../lib/pause.ts";
import { LIMITS } from "../arguments.ts";
import { DEFAULT_MODEL } from "../embedding-models.ts";
import { languagesOfText } from "../language.ts";
import { analyse, dateWords } from "../lexical-analysis.ts";
import type { MemoryNode } from "../node.ts";
import { besideWords, type Stem } from "../stemmed-words.ts";
import { bestFirst } from "./bm25.ts";

/**
 * Code points of blanks. A blank text has no index entry. They are those of `String.prototype.trim`, listed because other languages trim
 * fewer.
 */
export const BLANKS: readonly number[] = [
  9, 10, 11, 12, 13, 32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201,
  8202, 8232, 8233, 8239, 8287, 12288, 65279,
];

/** Whether a text is not blank. */
export function hasText(content: string): boolean {
  return content.trim() !== "";
}

/** The type of memories that form a conversation, if they have a session. */
export const TURN_TYPE = "note";

type OfConversation = Pick<MemoryNode, "nodeType" | "sessionId">;

/** Whether a memory belongs to a conversation: it is a turn, or was one before it became inactive, and has text. */
export function isOfConversation({ nodeType, sessionId }: OfConversation): boolean {
  return nodeType === TURN_TYPE && sessionId !== undefined;
}

/** A turn with its neighbours, nearest first. */
export type Surrounded<T> = {
  readonly turn: T;
  readonly before: readonly T[];
  readonly after: readonly T[];
};

/**
 * The neighbours of each turn, in order.
 * @param turns conversation by conversation (one owner, session and scope), each `earliestFirst`
 * @param reach turns on either side, at least 1
 */
export function* surroundings<T>(
  turns: readonly T[],
  reach: number,
  isOfSame: (one: T, other: T) => boolean,
): Generator<Surrounded<T>> {
  for (const [index, turn] of turns.entries()) {
    const isBeside = (other: T): boolean => isOfSame(turn, other);
    yield {
      turn,
      before: turns
        .slice(Math.max(0, index - reach), index)
        .filter(isBeside)
        .reverse(),
      after: turns.slice(index + 1, index + 1 + reach).filter(isBeside),
    };
  }
}

/**
 * The content of the word index for a memory, in three columns: its own words and, for a turn of a conversation, the beginnings of the
 * turns before and after. These count less; they are there because a question often uses the words of the turn before the answer. In all
 * columns and in questions a word matches every word with the same Porter stem. Stems of other languages, plain spellings, and parts of
 * identifiers follow the words of each text.
 */

/** Turns on either side whose beginnings a document includes. */
export const DOCUMENT_REACH = 2;
/** UTF-16 units of each of these turns that it includes. */
const NEIGHBOUR_CHARS = 240;

/** Words of long texts that are about to be written. */
const readAhead = new Map<string, readonly string[]>();
const joined = new WeakMap<readonly string[], string>();

/** A memory's own words, and the date of its event in words. */
export function ownWords(
  content: string,
  eventTime: Instant | undefined,
  stem: Stem,
): readonly string[] {
  const words = readAhead.get(content) ?? wordsAndStems(content, stem);
  if (eventTime === undefined) return words;
  const dated = [...words, ...dateWords(eventTime)];
  const text = joined.get(words);
  if (text !== undefined) joined.set(dated, `${text} ${dateWords(eventTime).join(" ")}`);
  return dated;
}

/** The words of the turns on one side, nearest turn first. */
export function neighbourWords(contents: readonly string[], stem: Stem): readonly string[] {
  return contents.flatMap((content) => wordsAndStems(content.slice(0, NEIGHBOUR_CHARS), stem));
}

function wordsAndStems(text: string, stem: Stem): readonly string[] {
  const words = analyse(text);
  const others = besideWords(text, words, stem);
  return others.length === 0 ? words : [...words, ...others];
}

export function columnText(words: readonly string[]): string {
  return joined.get(words) ?? words.join(" ");
}

/** Writes memories; the words of long ones are read piecewise beforehand, yielding in between. */
export async function withWordsOf<T>(
  items: readonly { readonly node: { readonly content: string } }[],
  stem: Stem,
  write: () => Promise<T>,
): Promise<T> {
  const long = items
    .map(({ node }) => node.content)
    .filter((content) => content.length > LIMITS.wordingChars);
  if (long.length === 0) return await write();
  try {
    for (const content of long) {
      const words = await readInPieces(content, stem);
      readAhead.set(content, words);
    }
    return await write();
  } finally {
    for (const content of long) readAhead.delete(content);
  }
}

async function readInPieces(text: string, stem: Stem): Promise<readonly string[]> {
  const pieces: { readonly piece: string; readonly words: readonly string[] }[] = [];
  for (const piece of piecesOf(text)) {
    pieces.push({ piece, words: analyse(piece) });
    await nextTurn();
  }
  const words = pieces.flatMap((piece) => piece.words);
  const languages = languagesOfText(text, words);
  const texts = [];
  for (const { piece, words: own } of pieces) {
    const beside = besideWords(piece, own, stem, languages);
    texts.push(own.join(" "), beside.join(" "));
    for (const word of beside) words.push(word);
    await nextTurn();
  }
  joined.set(words, texts.filter((part) => part !== "").join(" "));
  return words;
}

/** A word boundary in every script. */
const BETWEEN_WORDS = /[\s。、]/g;

function* piecesOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    BETWEEN_WORDS.lastIndex = from + LIMITS.wordingChars;
    to = BETWEEN_WORDS.exec(text)?.index ?? text.length;
    yield text.slice(from, to);
  }
}

/**
 * A model reads only the beginning of a long text. The rest is cut into parts, each with its own vector; the part nearest to a question
 * counts. Vectors are stored as one byte per component: rounding changes a cosine by less than 0.005.
 */

/** Bytes of a part. A longer one has too many sentences besides the relevant one. */
const PART_BYTES = 650;
/** Bytes of the shortest text that may have parts, so that stores find long ones quickly. */
export const PARTS_FROM = 896;
/**
 * A text has parts if it is this many times longer than what the model reads. The nearest of several parts is near to many questions: parts
 * for all longer texts cost 1.7 points of recall among the long messages of conversations.
 */
const LONG = 8;
/** Minimum UTF-8 bytes per token of nearly all texts. */
const BYTES_PER_TOKEN = 3.5;
/** Maximum parts of one text; longer texts have gaps between parts. */
const PARTS_MAX = 64;
/** UTF-16 units by which a part may start earlier, at the beginning of a sentence. */
const SENTENCE_MAX = 120;
/** UTF-16 units sampled to estimate the bytes per unit. */
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

/** The parts of a long text beyond what a model reads of it; none for a short one. */
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

/** The start of the sentence around an offset, if not far before. */
function sentenceBefore(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - SENTENCE_MAX), at);
  const end = Math.max(...[". ", "! ", "? ", "\n", "。"].map((sign) => before.lastIndexOf(sign)));
  const word = before.lastIndexOf(" ");
  const from = end === -1 ? word : end;
  return from === -1 ? at : at - before.length + from + 1;
}

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

/** The cosine of a vector with the nearest part; -1 if there are none, or of another dimension. */
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

/** Hits, with the cosine of the nearest part if higher. @param parts the cosine of the nearest part of each key */
export function withParts(
  hits: readonly Near[],
  parts: ReadonlyMap<number, number>,
): readonly Near[] {
  if (parts.size === 0) return hits;
  return hits.map(({ key, score }) => ({ key, score: Math.max(score, parts.get(key) ?? score) }));
}

type Near = { readonly key: number; readonly score: number };

/** The `k` nearest by text or parts. @param hits the `k` nearest by text, best first */
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

/** Turns on either side mixed into a vector. A turn without a vector yet is skipped. */
export const LEAN_REACH = 1;

/**
 * The indexed vector of a turn: its own mixed with those of the adjacent turns, normalized. An answer often says little without the
 * question before it, and both should be found together.
 * @param own of length one and as returned by `fromPayload`, like the neighbours
 * @param neighbours that of the turn before, then that of the turn after
 * @param weight of each of them, as the model of the vectors has it
 */
export function lean(
  own: Float32Array,
  neighbours: readonly (Float32Array | undefined)[],
  weight: number = DEFAULT_MODEL.lean,
): Float32Array {
  const sum = Float64Array.from(own);
  for (const neighbour of neighbours) {
    if (neighbour === undefined || neighbour.length !== own.length) continue;
    for (let index = 0; index < sum.length; index += 1) {
      sum[index] = (sum[index] ?? 0) + weight * (neighbour[index] ?? 0);
    }
  }
  let square = 0;
  for (const value of sum) square += value * value;
  const length = Math.sqrt(square);
  // A zero vector stays unchanged.
  return length > 0 ? Float32Array.from(sum, (value) => value / length) : own;
}

/**
 * A vector at half the size, as a store keeps a turn's own vector: 16-bit numbers (IEEE 754 binary16, little endian). Cosines change by
 * less than 0.0005.
 */
export function toPayload(vector: Float32Array): Uint8Array {
  return new Uint8Array(new Float16Array(vector).buffer);
}

/** The vector of a payload. */
export function fromPayload(payload: Uint8Array): Float32Array {
  // A copy, because the offset of a typed array must be a multiple of its element size.
  return new Float32Array(new Float16Array(payload.slice().buffer));
}
