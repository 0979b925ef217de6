/** The tokens of a text for a model with a SentencePiece unigram vocabulary: the likeliest split of each word into pieces. */
export type UnigramTokenizer = {
  /** The ids of a text in its frame, at most `maxTokens` (2 or more): the first ones of a longer text. */
  tokenIds(text: string, maxTokens: number): number[];
};

const BEGIN = 0;
const END = 2;
const UNKNOWN = 3;
/** Begins every word; the vocabulary's form of a blank. */
const MARK = "\u2581";
/** By how much a character without a piece is less likely than the rarest piece. */
const UNKNOWN_PENALTY = 10;
/** Scores have five decimals, but are kept as 32-bit numbers, whose sums would decide ties differently. */
const SCORE_UNIT = 1e5;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROLS = /[\u0001-\u0008\u000B\u000E-\u001F\u007F\u008F\u009F]/g;
const BLANKS =
  /[\t\n\f\r\u00A0\u1680\u2000-\u200F\u2028\u2029\u202F\u205F\u2581\u3000\uFEFF\uFFFD]/g;

type Pieces = {
  /** Hash table: the piece's id plus 1 at the first free slot from its hash; 0: free. The length is a power of two. */
  readonly table: Int32Array;
  readonly bytes: Uint8Array;
  /** The start of each piece in `bytes`. */
  readonly starts: Uint32Array;
  readonly lengths: Uint8Array;
  readonly scores: Float64Array;
  readonly longest: number;
  readonly unknownScore: number;
};

/**
 * Reads a vocabulary: a 32-bit count; for each piece its score, a 32-bit float; for each its length in bytes; all of them as
 * UTF-8. The first four and the last stand for begin, padding, end, unknown and mask, and are never found in a text.
 */
export function loadUnigram(file: Uint8Array): UnigramTokenizer {
  const splitter = new Splitter(readPieces(file));
  return {
    tokenIds: (text, maxTokens) => {
      const ids = [BEGIN];
      for (const word of wordsOf(text)) {
        for (const id of splitter.split(MARK + word)) ids.push(id);
        if (ids.length >= maxTokens) break;
      }
      ids.length = Math.min(ids.length, maxTokens - 1);
      ids.push(END);
      return ids;
    },
  };
}

/** The words of a text in the vocabulary's normal form. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .replace(CONTROLS, "")
    .replace(BLANKS, " ")
    .normalize("NFKC")
    .replace(/ {2,}/g, " ");
  if (plain === "") return [];
  return (plain.startsWith(" ") ? plain.slice(1) : plain).split(" ");
}

const HASH_SEED = -2_128_831_035;

function hashStep(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 16_777_619);
}

function readPieces(file: Uint8Array): Pieces {
  const count = new DataView(file.buffer, file.byteOffset).getUint32(0, true);
  const scoresEnd = 4 + 4 * count;
  const lengths = file.subarray(scoresEnd, scoresEnd + count);
  const bytes = file.subarray(scoresEnd + count);
  // A copy, because the offset of a typed array must be a multiple of its element size.
  const rounded = new Float32Array(new Uint8Array(file.subarray(4, scoresEnd)).buffer);
  const scores = new Float64Array(count);
  const starts = new Uint32Array(count);
  const mask = 2 ** Math.ceil(Math.log2(2 * count)) - 1;
  const table = new Int32Array(mask + 1);
  let longest = 0;
  let lowest = 0;
  for (let id = 0, start = 0; id < count; id += 1) {
    const end = start + (lengths[id] ?? 0);
    starts[id] = start;
    scores[id] = Math.round((rounded[id] ?? 0) * SCORE_UNIT) / SCORE_UNIT;
    if (id > UNKNOWN && id < count - 1) {
      let hash = HASH_SEED;
      for (let at = start; at < end; at += 1) hash = hashStep(hash, bytes[at] ?? 0);
      let place = hash & mask;
      while (table[place] !== 0) place = (place + 1) & mask;
      table[place] = id + 1;
      longest = Math.max(longest, end - start);
      lowest = Math.min(lowest, scores[id] ?? 0);
    }
    start = end;
  }
  return { table, bytes, starts, lengths, scores, longest, unknownScore: lowest - UNKNOWN_PENALTY };
}

/** The id of the piece with the bytes `start` to `end` of a word and this hash, or -1. */
function findPiece(
  pieces: Pieces,
  word: Uint8Array,
  start: number,
  end: number,
  hash: number,
): number {
  const { table, bytes, starts, lengths } = pieces;
  const mask = table.length - 1;
  for (let place = hash & mask; ; place = (place + 1) & mask) {
    const id = (table[place] ?? 0) - 1;
    if (id === -1) return -1;
    if (lengths[id] !== end - start) continue;
    const from = (starts[id] ?? 0) - start;
    let at = start;
    while (at < end && bytes[from + at] === word[at]) at += 1;
    if (at === end) return id;
  }
}

/** Finds the splits of words, reusing its memory. */
class Splitter {
  readonly #pieces: Pieces;
  readonly #encoder = new TextEncoder();
  #word = new Uint8Array(0);
  // For each position in the word: the score of the best split that ends there, its last piece, and where that begins.
  #best = new Float64Array(1);
  #last = new Int32Array(1);
  #begins = new Int32Array(1);

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  /** The pieces of a word's likeliest split. Linear in the word's length, since pieces are short. */
  split(text: string): readonly number[] {
    this.#reserve(3 * text.length);
    const size = this.#encoder.encodeInto(text, this.#word).written;
    this.#best.fill(Number.NEGATIVE_INFINITY, 1, size + 1);
    for (let start = 0; start < size; start += 1) {
      if (!isInside(this.#word[start])) this.#offerFrom(start, size);
    }
    const ids: number[] = [];
    for (let end = size; end > 0; end = this.#begins[end] ?? 0) {
      const id = this.#last[end] ?? UNKNOWN;
      // Unknown characters in a row are one token.
      if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id);
    }
    return ids.reverse();
  }

  #reserve(size: number): void {
    if (this.#word.length >= size) return;
    this.#word = new Uint8Array(size);
    this.#best = new Float64Array(size + 1);
    this.#last = new Int32Array(size + 1);
    this.#begins = new Int32Array(size + 1);
  }

  /** Adds every piece that begins at a position, and the unknown one if no piece matches the character there. */
  #offerFrom(start: number, size: number): void {
    const { longest, scores, unknownScore } = this.#pieces;
    const end = Math.min(size, start + longest);
    let hash = HASH_SEED;
    let isFirst = true;
    for (let at = start + 1; at <= end; at += 1) {
      hash = hashStep(hash, this.#word[at - 1] ?? 0);
      if (at < size && isInside(this.#word[at])) continue;
      const id = findPiece(this.#pieces, this.#word, start, at, hash);
      if (id !== -1) this.#offer(start, at, id, scores[id] ?? 0);
      else if (isFirst) this.#offer(start, at, UNKNOWN, unknownScore);
      isFirst = false;
    }
  }

  #offer(start: number, end: number, id: number, score: number): void {
    const total = (this.#best[start] ?? 0) + score;
    // Ties keep the first: the one with the longer last piece.
    if (total <= (this.#best[end] ?? 0)) return;
    this.#best[end] = total;
    this.#last[end] = id;
    this.#begins[end] = start;
  }
}

/** Whether a byte of UTF-8 continues a character. */
function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}
