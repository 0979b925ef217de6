import type { Tokenizer } from "../../ports/models.ts";
import { loadTokens } from "./cl100k-tokens.ts";
import type { TokenList } from "./token-list.ts";

/** Longer texts are rare, and would evict many short ones. */
const MEMO_MAX_TEXT_CHARS = 20_000;
const MEMO_MAX_ENTRIES = 20_000;
/** Characters take 1 or 2 bytes in memory, so this is about 8 MB. */
const MEMO_MAX_CHARS = 4_000_000;

type Count = (text: string) => number;
type Known = Required<Pick<Tokenizer, "count" | "forget">>;
/** Counts by text, by owner. */
type Generation = Map<string, Map<string, number>>;

/**
 * Counts tokens of `cl100k_base`: exactly, unless a word has more than 256 characters, which is counted in parts. The table (1 MB) is
 * loaded by `ready`. Counts of up to 20,000 texts below 20,000 characters are cached per owner within about 8 MB, since the same memories
 * are packed repeatedly. Counting is linear in the length of the text. `count` throws a plain Error if `ready` has not resolved: a bug of
 * the caller.
 */
export function createCl100kTokenizer(): Tokenizer {
  let loading: Promise<void> | undefined;
  let known: Known | undefined;
  return {
    name: "cl100k_base",
    ready: () => {
      loading ??= loadCounter().then((loaded) => {
        known = memoise(loaded);
      });
      return loading;
    },
    count: (text, of) => {
      if (known !== undefined) return known.count(text, of);
      throw new Error("the tokenizer is not loaded: wait for ready() before count()");
    },
    forget: (of) => known?.forget(of),
  };
}

/** Uses the package's table and pattern, but not its table of texts, which takes ten times as long to build, and 40 MB. */
async function loadCounter(): Promise<Count> {
  const [{ CL100K_TOKEN_SPLIT_REGEX: pieces }, tokens] = await Promise.all([
    import("gpt-tokenizer/encodingParams/constants"),
    loadTokens(),
  ]);
  const countPiece = createPieceCounter(createRankTable(tokens));
  return (text) => {
    let count = 0;
    for (const [piece] of text.matchAll(pieces)) count += countPiece(piece);
    return count;
  };
}

/**
 * A cache of two generations: a full young one becomes the old one; entries not used until the next change are dropped. Entries are never
 * removed one by one, which in a large Map costs more than counting.
 */
function memoise(count: Count): Known {
  let young: Generation = new Map();
  let old: Generation = new Map();
  let entries = 0;
  let chars = 0;
  const remember = (of: string, text: string, tokens: number): void => {
    if (entries >= MEMO_MAX_ENTRIES / 2 || chars >= MEMO_MAX_CHARS / 2) {
      old = young;
      young = new Map();
      entries = 0;
      chars = 0;
    }
    const own = young.get(of);
    if (own === undefined) young.set(of, new Map([[text, tokens]]));
    else own.set(text, tokens);
    entries += 1;
    chars += text.length;
  };
  return {
    count: (text, of) => {
      if (of === undefined || text.length >= MEMO_MAX_TEXT_CHARS) return count(text);
      const known = young.get(of)?.get(text);
      if (known !== undefined) return known;
      const tokens = old.get(of)?.get(text) ?? count(text);
      remember(of, text, tokens);
      return tokens;
    },
    forget: (of) => {
      young.delete(of);
      old.delete(of);
    },
  };
}

/** Maximum UTF-16 units merged together; a longer piece, which is never a word, is counted in parts of that size. */
export const PART_UNITS = 256;

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES = 3;

/** Working memory for merging the bytes of one part. A run of bytes is identified by the offset of its first one. */
type Space = {
  readonly bytes: Buffer;
  /** For the run at each offset, where the next one begins; for the last run the end. */
  readonly next: Int32Array;
  readonly before: Int32Array;
  /** Rank of the token formed by the run at each offset and the next one. */
  readonly ranks: Int32Array;
};

/**
 * Counts the tokens of one piece, by byte pair encoding: among all neighbouring runs that form a token, the pair of lowest rank is merged,
 * leftmost first, until there are none. Merging is quadratic within a part, and so linear in the piece; parts do not merge across their
 * ends, which changes the count by a few tokens each. A lone surrogate counts as U+FFFD.
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

/** The ranks of all tokens of an encoding, found by their bytes. */
type RankTable = {
  /** Bytes of the longest token. */
  readonly longest: number;
  /** The rank of the token that is `bytes` from `start` up to `end`, or {@link NO_RANK}. */
  readonly rankOf: (bytes: Uint8Array, start: number, end: number) => number;
};

export const NO_RANK = -1;

/** The table of an encoding. For 100,000 tokens it takes 2 MB, a fifth of a Map of texts, and a lookup creates no text. */
export function createRankTable({ bytes: listed, ends, longest }: TokenList): RankTable {
  const count = ends.length - 1;
  /** Open addressing, at most half full. A slot holds a rank plus one; zero is free. */
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 1)));
  const mask = slots.length - 1;
  const isListed = (rank: number, bytes: Uint8Array, start: number, end: number): boolean => {
    const from = ends[rank] ?? 0;
    if ((ends[rank + 1] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) {
      if (bytes[at] !== listed[from + at - start]) return false;
    }
    return true;
  };
  for (let rank = 0; rank < count; rank += 1) {
    let slot = hashOf(listed, ends[rank] ?? 0, ends[rank + 1] ?? 0) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = rank + 1;
  }
  return {
    longest,
    rankOf: (bytes, start, end) => {
      let slot = hashOf(bytes, start, end) & mask;
      for (;;) {
        const rank = (slots[slot] ?? 0) - 1;
        if (rank < 0) return NO_RANK;
        if (isListed(rank, bytes, start, end)) return rank;
        slot = (slot + 1) & mask;
      }
    },
  };
}

/** FNV-1a in 32 bits, with its high bits folded into the low ones, which pick the slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}
