import { createLeastFirst, type LeastFirst } from "./least-first.ts";
import { NO_RANK, type RankTable } from "./rank-table.ts";

/** A rank and a place share one number: it represents ranks below 2^20 and places below 2^32 exactly. */
const PLACES = 2 ** 32;

/** Large enough for words; a longer piece gets its own space, which is released afterwards. */
const SHARED_BYTES = 1024;

/** Up to this many bytes, scanning all pairs before each step is faster than a heap. */
const SCANNED_BYTES = 48;

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES = 3;

/** Working memory for merging the bytes of one piece. A part of the piece is identified by the place of its first byte. */
type Space = {
  readonly bytes: Buffer;
  /** For the part at each place, where the next one begins; for the last part the end. */
  readonly next: Int32Array;
  readonly before: Int32Array;
  /** Rank of the token that the part at each place makes with the next one. */
  readonly ranks: Int32Array;
  /** Those ranks with their places, for a piece that is not scanned; also outdated ones. Empty between two pieces. */
  readonly pairs: LeastFirst;
};

/**
 * Counts the tokens of one piece, by byte pair encoding: among all neighbouring parts that together are a token, the pair
 * of lowest rank is merged, the leftmost first among equals, until there are none. O(n log n) time and at most 36 n bytes
 * of memory for n bytes of UTF-8. A lone surrogate counts as U+FFFD.
 */
export function createPieceCounter(table: RankTable): (piece: string) => number {
  const shared = createSpace(SHARED_BYTES);
  return (piece) => {
    const isShort = piece.length * UNIT_BYTES <= SHARED_BYTES;
    const space = isShort ? shared : createSpace(Buffer.byteLength(piece));
    const length = writeUtf8(piece, space.bytes);
    const isToken = length <= table.longest && table.rankOf(space.bytes, 0, length) !== NO_RANK;
    return isToken ? 1 : countMerged(space, length, table);
  };
}

function createSpace(size: number): Space {
  return {
    bytes: Buffer.alloc(size),
    next: new Int32Array(size + 1),
    before: new Int32Array(size + 1),
    ranks: new Int32Array(size + 1),
    pairs: createLeastFirst(size),
  };
}

/** @returns the number of bytes written. Most pieces are short and ASCII, where a call into the runtime costs more than the loop. */
function writeUtf8(piece: string, bytes: Buffer): number {
  for (let at = 0; at < piece.length; at += 1) {
    const code = piece.charCodeAt(at);
    if (code > 0x7f) return bytes.write(piece);
    bytes[at] = code;
  }
  return piece.length;
}

function countMerged(space: Space, length: number, table: RankTable): number {
  const { bytes, next, before, ranks, pairs } = space;
  const isScanned = length <= SCANNED_BYTES;
  const weigh = (at: number): void => {
    const middle = next[at] ?? length;
    const end = next[middle] ?? length;
    const isPair = middle < length && end - at <= table.longest;
    const rank = isPair ? table.rankOf(bytes, at, end) : NO_RANK;
    ranks[at] = rank;
    if (rank !== NO_RANK && !isScanned) pairs.push(rank * PLACES + at);
  };
  for (let at = 0; at <= length; at += 1) {
    next[at] = at + 1;
    before[at] = at - 1;
  }
  for (let at = 0; at < length; at += 1) weigh(at);
  for (let tokens = length; ; tokens -= 1) {
    const at = isScanned ? scannedPlace(ranks, length) : poppedPlace(pairs, ranks);
    if (at === undefined) return tokens;
    const middle = next[at] ?? length;
    const end = next[middle] ?? length;
    next[at] = end;
    before[end] = at;
    ranks[middle] = NO_RANK;
    weigh(at);
    if (at > 0) weigh(before[at] ?? 0);
  }
}

/** @returns the first place of lowest rank */
function scannedPlace(ranks: Int32Array, length: number): number | undefined {
  let lowest = Number.POSITIVE_INFINITY;
  let place: number | undefined;
  for (let at = 0; at < length; at += 1) {
    const rank = ranks[at] ?? NO_RANK;
    if (rank === NO_RANK || rank >= lowest) continue;
    lowest = rank;
    place = at;
  }
  return place;
}

/** @returns the first place of lowest rank. Skips pairs of which one part has since been merged with another neighbour. */
function poppedPlace(pairs: LeastFirst, ranks: Int32Array): number | undefined {
  for (let least = pairs.pop(); least !== undefined; least = pairs.pop()) {
    const rank = Math.floor(least / PLACES);
    const at = least - rank * PLACES;
    if (ranks[at] === rank) return at;
  }
  return undefined;
}
