import { NO_RANK, type RankTable } from "./rank-table.ts";

/** UTF-16 units of a piece that are merged together; a longer piece, which no word is, is counted in parts of so many. */
export const PART_UNITS = 256;

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES = 3;

/** Working memory for merging the bytes of one part. A run of bytes is identified by the place of its first one. */
type Space = {
  readonly bytes: Buffer;
  /** For the run at each place, where the next one begins; for the last run the end. */
  readonly next: Int32Array;
  readonly before: Int32Array;
  /** Rank of the token that the run at each place makes with the next one. */
  readonly ranks: Int32Array;
};

/**
 * Counts the tokens of one piece, by byte pair encoding: among all neighbouring runs that together are a token, the pair
 * of lowest rank is merged, the leftmost first among equals, until there are none. Merging takes time in the square of a part,
 * so that a piece takes time in its length; parts merge nothing across their ends, which makes a difference of a few tokens for each. A lone
 * surrogate counts as U+FFFD.
 */
export function createPieceCounter(table: RankTable): (piece: string) => number {
  const space = createSpace(PART_UNITS * UNIT_BYTES);
  const countPart = (part: string): number => {
    const length = writeUtf8(part, space.bytes);
    const isToken = length <= table.longest && table.rankOf(space.bytes, 0, length) !== NO_RANK;
    return isToken ? 1 : countMerged(space, length, table);
  };
  return (piece) => {
    if (piece.length <= PART_UNITS) return countPart(piece);
    let count = 0;
    for (let at = 0; at < piece.length; ) {
      const end = at + PART_UNITS - (isHighSurrogate(piece, at + PART_UNITS - 1) ? 1 : 0);
      count += countPart(piece.slice(at, end));
      at = end;
    }
    return count;
  };
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function createSpace(size: number): Space {
  return {
    bytes: Buffer.alloc(size),
    next: new Int32Array(size + 1),
    before: new Int32Array(size + 1),
    ranks: new Int32Array(size + 1),
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

function countMerged({ bytes, next, before, ranks }: Space, length: number, table: RankTable) {
  const weigh = (at: number): void => {
    const middle = next[at] ?? length;
    const end = next[middle] ?? length;
    const isPair = middle < length && end - at <= table.longest;
    ranks[at] = isPair ? table.rankOf(bytes, at, end) : NO_RANK;
  };
  for (let at = 0; at <= length; at += 1) {
    next[at] = at + 1;
    before[at] = at - 1;
  }
  for (let at = 0; at < length; at += 1) weigh(at);
  for (let tokens = length; ; tokens -= 1) {
    const at = placeOfLowest(ranks, next, length);
    if (at === undefined) return tokens;
    const middle = next[at] ?? length;
    const end = next[middle] ?? length;
    next[at] = end;
    before[end] = at;
    weigh(at);
    if (at > 0) weigh(before[at] ?? 0);
  }
}

/** @returns the first run whose pair has the lowest rank */
function placeOfLowest(ranks: Int32Array, next: Int32Array, length: number): number | undefined {
  let lowest = Number.POSITIVE_INFINITY;
  let place: number | undefined;
  for (let at = 0; at < length; at = next[at] ?? length) {
    const rank = ranks[at] ?? NO_RANK;
    if (rank === NO_RANK || rank >= lowest) continue;
    lowest = rank;
    place = at;
  }
  return place;
}
