import type { Postings } from "../../../domain/search/bm25.ts";

/**
 * An owner's documents that contain a term, in blocks of 256 keys. A block is a list of two-byte entries: the key in the block, and twice
 * the weighted frequency, at most 255. The last entry of a key counts; frequency 0 removes the key. So every write appends without reading.
 */

/** Keys of a block. */
export const BLOCK_KEYS = 256;
/** Bytes of a block above which it is compacted. */
export const BLOCK_BYTES_MAX = 1024;
const TWICE_MAX = 255;

export function blockOf(key: number): number {
  return Math.floor(key / BLOCK_KEYS);
}

/** The last key of a block. */
export function lastOf(block: number): number {
  return block * BLOCK_KEYS + BLOCK_KEYS - 1;
}

/** An entry. @param frequency weighted; 0 removes the key */
export function postingOf(key: number, frequency: number): readonly [number, number] {
  return [key % BLOCK_KEYS, Math.min(Math.round(frequency * 2), TWICE_MAX)];
}

/** A block as it is stored. */
export type PostingBlock = { readonly block: number; readonly postings: Uint8Array };

/** The keys of blocks, ascending, and the weighted frequency of each. @param blocks by ascending number, each once */
export function readPostings(blocks: readonly PostingBlock[]): Postings {
  const room = blocks.reduce(
    (sum, { postings }) => sum + Math.min(postings.length / 2, BLOCK_KEYS),
    0,
  );
  const keys = new Float64Array(room);
  const frequencies = new Float32Array(room);
  const live = new Uint8Array(BLOCK_KEYS);
  let count = 0;
  for (const { block, postings } of blocks) {
    live.fill(0);
    putInto(live, postings);
    for (let key = 0; key < BLOCK_KEYS; key += 1) {
      const twice = live[key] ?? 0;
      if (twice === 0) continue;
      keys[count] = block * BLOCK_KEYS + key;
      frequencies[count] = twice / 2;
      count += 1;
    }
  }
  return { keys: keys.subarray(0, count), frequencies: frequencies.subarray(0, count) };
}

/** The compacted block; empty if no entry counts. */
export function compacted(postings: Uint8Array): Uint8Array {
  const { keys, frequencies } = readPostings([{ block: 0, postings }]);
  return Uint8Array.from(
    Array.from(keys).flatMap((key, at) => postingOf(key, frequencies[at] ?? 0)),
  );
}

const [STORED, WANTED] = [new Uint8Array(BLOCK_KEYS), new Uint8Array(BLOCK_KEYS)];

/**
 * The compacted block with new entries of some keys; undefined if that changes nothing.
 * @param keys of the block: the first and the last
 * @param fresh their entries
 */
export function replaced(
  postings: Uint8Array,
  [first, last]: readonly [first: number, last: number],
  fresh: Uint8Array,
): Uint8Array | undefined {
  STORED.fill(0);
  putInto(STORED, postings);
  WANTED.set(STORED);
  WANTED.fill(0, first, last + 1);
  putInto(WANTED, fresh);
  if (Buffer.compare(STORED, WANTED) === 0) return undefined;
  const bytes: number[] = [];
  for (const [key, twice] of WANTED.entries()) if (twice > 0) bytes.push(key, twice);
  return Uint8Array.from(bytes);
}

/** @param live twice the frequency of each key */
function putInto(live: Uint8Array, postings: Uint8Array): void {
  for (let at = 0; at + 1 < postings.length; at += 2) {
    live[postings[at] ?? 0] = postings[at + 1] ?? 0;
  }
}

/**
 * The number of words in each document of a block: two bytes per key, little endian, one more than the number, at most 65,535; 0 for a key
 * without a document.
 */
const LENGTH_BYTES = 2;
const LENGTH_MAX = 0xffff;

/** The stored value for a document's number of words. */
export function storedLength(words: number): number {
  return Math.min(words + 1, LENGTH_MAX);
}

/** The block with other lengths at some keys. @param lengths `storedLength`, or 0 for no document */
export function withLengths(
  block: Uint8Array | undefined,
  lengths: ReadonlyMap<number, number>,
): Uint8Array {
  const bytes = new Uint8Array(BLOCK_KEYS * LENGTH_BYTES);
  if (block !== undefined) bytes.set(block);
  const view = new DataView(bytes.buffer);
  for (const [key, length] of lengths) {
    view.setUint16((key % BLOCK_KEYS) * LENGTH_BYTES, length, true);
  }
  return bytes;
}

/** The `storedLength` of a key in a block. */
export function lengthIn(block: Uint8Array | undefined, key: number): number {
  if (block === undefined) return 0;
  const at = (key % BLOCK_KEYS) * LENGTH_BYTES;
  return (block[at] ?? 0) + (block[at + 1] ?? 0) * 256;
}

/** The number of words of each document by key, -1 without one. @param blocks by ascending number */
export function readLengths(
  blocks: readonly { readonly block: number; readonly lengths: Uint8Array }[],
): Int32Array {
  const last = blocks.at(-1)?.block ?? -1;
  const words = new Int32Array((last + 1) * BLOCK_KEYS).fill(-1);
  for (const { block, lengths } of blocks) {
    for (let key = 0; key < BLOCK_KEYS; key += 1) {
      words[block * BLOCK_KEYS + key] = lengthIn(lengths, key) - 1;
    }
  }
  return words;
}
