import { dlopen } from "bun:ffi";
import { SvcError } from "../../domain/errors.ts";
import type { Hit } from "../../ports/store/search-index.ts";
import { KERNEL_LIBRARY, loadFailure, ownLibraryPath } from "./load-library.ts";

/**
 * Vectors as bytes: `count` rows of `dimension` numbers, with the scale and the rounding error of each row. `mean` was subtracted from
 * every direction.
 */
export type Rows = {
  readonly mean: Float32Array;
  readonly rows: Int8Array;
  readonly scales: Float32Array;
  readonly errors: Float32Array;
  readonly count: number;
  readonly dimension: number;
};

/** A question as 16-bit numbers. */
type QuantisedQuestion = {
  readonly numbers: Int16Array;
  /** Scale, rounding error, product with the mean. */
  readonly parameters: Float32Array;
  /** Norm of the rounding error of a unit-length question. */
  readonly error: number;
};

/** Candidates for the best: row numbers, and an upper bound of the score of every other row. */
type Selection = { readonly found: Int32Array; readonly threshold: number };

/** Working memory, for as many rows as are compared; it contains the rows found. */
type AlikeRoom = { readonly agreements: Uint16Array; readonly found: Int32Array };

/** What is taken off every direction before it is coded, and the size from which a number is strong. */
export type Centre = { readonly mean: Float32Array; readonly limit: number };
/** Codes of two bits a number, in words of 64: its sign, and whether it is strong. */
export type CodeRows = { readonly signs: BigUint64Array; readonly strong: BigUint64Array };
export type LikelyRows = { readonly positions: Int32Array; readonly scores: Float32Array };

/** The functions of the search library. See `kernel/rank.h`; those of words are called by SQL (`kernel/words.h`). */
export type Kernel = {
  /** The library's file, whose entry point SQLite may load. */
  readonly path: string;
  /** Writes rows starting at `at`. @returns how many; fewer than given if one is a zero vector */
  quantise(vectors: Float32Array, into: Rows, at: number): number;
  /** Undefined if the question is a zero vector. */
  question(vector: Float32Array, mean: Float32Array): QuantisedQuestion | undefined;
  /** Writes the approximate cosine of each row. */
  score(rows: Rows, question: QuantisedQuestion, scores: Float32Array): void;
  /** Writes the approximate cosine of the rows with these numbers. */
  scoreSome(
    rows: Rows,
    positions: Int32Array,
    question: QuantisedQuestion,
    scores: Float32Array,
  ): void;
  /** Writes the signature of each row: one bit per number, in words of 64 bits. */
  sign(rows: Int8Array, dimension: number, into: BigUint64Array): void;
  /** The rows whose signatures agree with the question's in most bits: `wanted` of them, and ties with the last one. */
  alike(
    signatures: BigUint64Array,
    question: BigUint64Array,
    wanted: number,
    room: AlikeRoom,
  ): Int32Array;
  /** Writes the codes of vectors starting at row `at`. @returns how many; fewer than given if one is a zero vector */
  code(vectors: Float32Array, centre: Centre, into: CodeRows, at: number): number;
  /** A question as its signs and the sizes of its numbers, for comparing codes. */
  ask(vector: Float32Array): BigUint64Array;
  /** About `wanted` of the first `count` rows that are likely to be nearest, with what their codes tell: more is nearer. The next call uses their memory again. */
  likely(rows: CodeRows, count: number, asked: BigUint64Array, wanted: number): LikelyRows;
  /** The next call uses the memory of the result again. @param errors undefined: each score is off by at most `slack` */
  select(
    scores: Float32Array,
    errors: Float32Array | undefined,
    bounds: { readonly slack: number; readonly count: number; readonly wanted: number },
  ): Selection;
};

const SYMBOLS = {
  svckernel_quantise: { args: ["ptr", "u32", "u32", "ptr", "ptr", "ptr", "ptr"], returns: "u32" },
  svckernel_question: { args: ["ptr", "u32", "ptr", "ptr", "ptr"], returns: "u32" },
  svckernel_score: { args: ["ptr", "ptr", "u32", "u32", "ptr", "ptr", "ptr"], returns: "void" },
  svckernel_score_some: {
    args: ["ptr", "ptr", "ptr", "u32", "u32", "ptr", "ptr", "ptr"],
    returns: "void",
  },
  svckernel_sign: { args: ["ptr", "u32", "u32", "ptr"], returns: "void" },
  svckernel_alike: { args: ["ptr", "u32", "u32", "ptr", "u32", "ptr", "ptr"], returns: "u32" },
  svckernel_code: { args: ["ptr", "u32", "u32", "ptr", "f32", "ptr", "ptr"], returns: "u32" },
  svckernel_ask: { args: ["ptr", "u32", "ptr"], returns: "void" },
  svckernel_likely: {
    args: ["ptr", "u32", "u32", "ptr", "u32", "u32", "ptr", "ptr"],
    returns: "u32",
  },
  svckernel_weigh: { args: ["ptr", "ptr", "ptr", "u32", "u32", "ptr", "ptr"], returns: "void" },
  svckernel_select: { args: ["ptr", "ptr", "f32", "u32", "u32", "ptr", "ptr"], returns: "u32" },
} as const;

let loaded: Kernel | SvcError | undefined;

/** The search library of this thread; undefined if it cannot be loaded. Never throws. */
export function loadKernel(): Kernel | undefined {
  loaded ??= tryOpen();
  return loaded instanceof SvcError ? undefined : loaded;
}

/** Why this thread has no search library, in one line; undefined if it has one. */
export function kernelFailure(): string | undefined {
  loaded ??= tryOpen();
  return loaded instanceof SvcError ? loaded.message : undefined;
}

function tryOpen(): Kernel | SvcError {
  let path = "";
  try {
    path = ownLibraryPath(KERNEL_LIBRARY);
    return openKernel(path);
  } catch (cause) {
    // A file system that forbids running libraries, or a C library that is too old: searches work without it.
    return cause instanceof SvcError ? cause : loadFailure(KERNEL_LIBRARY.title, path, cause);
  }
}

type Symbols = ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"];

function openKernel(path: string): Kernel {
  const { symbols } = dlopen(path, SYMBOLS);
  return {
    path,
    ...rowLoops(symbols),
    ...signatureLoops(symbols),
    ...codeLoops(symbols),
  };
}

type Numbers = Float64Array | Float32Array | Int32Array | Uint16Array;

/** Memory that is used again: fresh memory costs as much as many a loop over it. What it gives is valid until the next time. */
function reused<T extends Numbers>(make: (size: number) => T): (size: number) => T {
  let held = make(0);
  return (size) => {
    if (held.length < size) held = make(Math.ceil(size * GROWTH));
    // SAFETY: a part of numbers has their type.
    return held.subarray(0, size) as T;
  };
}

type RowLoops = Pick<Kernel, "quantise" | "question" | "score" | "select">;

function rowLoops(symbols: Symbols): RowLoops {
  const room = reused((size) => new Int32Array(size));
  return {
    quantise: (vectors, into, at) =>
      symbols.svckernel_quantise(
        vectors,
        vectors.length / into.dimension,
        into.dimension,
        into.mean,
        into.rows.subarray(at * into.dimension),
        into.scales.subarray(at),
        into.errors.subarray(at),
      ),
    question: (vector, mean) => {
      const numbers = new Int16Array(vector.length);
      const parameters = new Float32Array(3);
      const made = symbols.svckernel_question(vector, vector.length, mean, numbers, parameters);
      return made === 0 ? undefined : { numbers, parameters, error: parameters[1] ?? 0 };
    },
    score: ({ rows, scales, count, dimension }, { numbers, parameters }, scores) => {
      symbols.svckernel_score(rows, scales, count, dimension, numbers, parameters, scores);
    },
    select: (scores, errors, { slack, count, wanted }) => {
      const found = room(count);
      const threshold = new Float64Array(1);
      const many = symbols.svckernel_select(
        scores,
        errors ?? null,
        slack,
        count,
        wanted,
        found,
        threshold,
      );
      return {
        found: found.subarray(0, many),
        threshold: threshold[0] ?? Number.NEGATIVE_INFINITY,
      };
    },
  };
}

function signatureLoops(symbols: Symbols): Pick<Kernel, "scoreSome" | "sign" | "alike"> {
  return {
    scoreSome: ({ rows, scales, dimension }, positions, { numbers, parameters }, scores) => {
      const { length } = positions;
      symbols.svckernel_score_some(
        rows,
        scales,
        positions,
        length,
        dimension,
        numbers,
        parameters,
        scores,
      );
    },
    sign: (rows, dimension, into) => {
      symbols.svckernel_sign(rows, rows.length / dimension, dimension, into);
    },
    alike: (signatures, question, wanted, { agreements, found }) => {
      const words = question.length;
      const count = signatures.length / words;
      const many = symbols.svckernel_alike(
        signatures,
        count,
        words,
        question,
        wanted,
        agreements,
        found,
      );
      return found.subarray(0, many);
    },
  };
}

/** Rows found by signs alone for each one wanted, and at least; among them the strong numbers decide. */
const FIRST_LOOK = 8;
const FIRST_LOOK_MIN = 8192;

function codeLoops(symbols: Symbols): Pick<Kernel, "code" | "ask" | "likely"> {
  const rows = reused((size) => new Int32Array(size));
  const bits = reused((size) => new Uint16Array(size));
  const sums = reused((size) => new Float32Array(size));
  return {
    code: (vectors, { mean, limit }, { signs, strong }, at) => {
      const [dimension, words] = [mean.length, wordsOf(mean.length)];
      return symbols.svckernel_code(
        vectors,
        vectors.length / dimension,
        dimension,
        mean,
        limit,
        signs.subarray(at * words),
        strong.subarray(at * words),
      );
    },
    ask: (vector) => {
      const asked = new BigUint64Array(4 * wordsOf(vector.length));
      symbols.svckernel_ask(vector, vector.length, asked);
      return asked;
    },
    likely: ({ signs, strong }, count, asked, wanted) => {
      const words = asked.length / 4;
      const look = Math.max(FIRST_LOOK * wanted, FIRST_LOOK_MIN);
      const room = 2 * look;
      const found = rows(room);
      const agreements = bits(room);
      const many = symbols.svckernel_likely(
        signs,
        count,
        words,
        asked,
        look,
        room,
        agreements,
        found,
      );
      const positions = found.subarray(0, many);
      const scores = sums(many);
      if (many > 0) {
        symbols.svckernel_weigh(signs, strong, positions, many, words, asked, scores);
      }
      return { positions, scores };
    },
  };
}

/** Growth factor of a full slab. */
const GROWTH = 1.25;
const ROOM_MIN = 64;
/** Bytes of a row besides its numbers: scale, rounding error, approximate score, key, agreement of signs. */
const ROW_OVERHEAD = 22;
/** Number of vectors from which the mean is computed. */
const MEAN_OF = 256;

/** Numbers whose signs share a word of a signature. */
const WORD_BITS = 64;
/**
 * Minimum rows compared as bytes after the comparison of signatures. In 600 probes of 100,000 rows the nearest one was always among them,
 * and 98% of the nearest three; 94% if even these are far.
 */
const SIGNED = 512;

/** Words of a row's signature. */
export function wordsOf(dimension: number): number {
  return Math.ceil(dimension / WORD_BITS);
}

/** Bytes of a row: its numbers, their signs, and its other data. */
function bytesOfRow(dimension: number): number {
  return dimension + wordsOf(dimension) * BigUint64Array.BYTES_PER_ELEMENT + ROW_OVERHEAD;
}

/** Maximum bytes of a vector, including room to grow. */
export function bytesPerVector(dimension: number): number {
  return GROWTH * bytesOfRow(dimension);
}

/** Result of a search: keys that may be among the best, and an upper bound of the cosine of all other rows. */
type Approximation = { readonly keys: readonly number[]; readonly threshold: number };

/** One owner's vectors as bytes, for searches that read only the rows that may matter. */
export class Slab {
  /** The latest change applied. */
  revision = -1;
  readonly dimension: number;
  readonly #kernel: Kernel;
  #rows: Int8Array;
  #signatures: BigUint64Array;
  #scales: Float32Array;
  #errors: Float32Array;
  #scores: Float32Array;
  #agreements: Uint16Array;
  #keys: Float64Array;
  #count = 0;
  #mean: Float32Array;
  #positions: Map<number, number> | undefined;

  constructor(kernel: Kernel, dimension: number, room: number) {
    const size = Math.max(room, ROOM_MIN);
    this.#kernel = kernel;
    this.dimension = dimension;
    this.#mean = new Float32Array(dimension);
    this.#rows = new Int8Array(size * dimension);
    this.#signatures = new BigUint64Array(size * wordsOf(dimension));
    this.#scales = new Float32Array(size);
    this.#errors = new Float32Array(size);
    this.#scores = new Float32Array(size);
    this.#agreements = new Uint16Array(size);
    this.#keys = new Float64Array(size);
  }

  /** Number of vectors. */
  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#keys.length * bytesOfRow(this.dimension);
  }

  /**
   * Adds new vectors.
   * @param vectors one after the other, as many as keys
   * @returns false if one is a zero vector; the slab is then unusable
   */
  append(keys: ArrayLike<number>, vectors: Float32Array): boolean {
    this.#reserve(this.#count + keys.length);
    if (this.#count === 0) this.#mean = meanOf(vectors, this.dimension);
    const made = this.#kernel.quantise(vectors, this.#all(), this.#count);
    if (made < keys.length) return false;
    this.#sign(this.#count, keys.length);
    this.#keys.set(keys, this.#count);
    if (this.#positions !== undefined) {
      for (let index = 0; index < keys.length; index += 1) {
        this.#positions.set(keys[index] ?? 0, this.#count + index);
      }
    }
    this.#count += keys.length;
    return true;
  }

  /** Removes vectors; the last rows take their places. */
  remove(keys: Iterable<number>): void {
    this.#positions ??= new Map(
      Array.from(this.#keys.subarray(0, this.#count), (key, position) => [key, position]),
    );
    for (const key of keys) {
      const position = this.#positions.get(key);
      if (position === undefined) continue;
      this.#count -= 1;
      this.#move(this.#count, position);
      this.#positions.set(this.#keys[position] ?? 0, position);
      this.#positions.delete(key);
    }
  }

  /** Removes all vectors except those of the keys. */
  keepOnly(keys: ReadonlySet<number>): void {
    this.remove(this.#keys.subarray(0, this.#count).filter((key) => !keys.has(key)));
  }

  /** Compares all rows with a question. @returns undefined if the question is a zero vector */
  compare(question: Float32Array): ((wanted: number) => Approximation) | undefined {
    const quantised = this.#kernel.question(question, this.#mean);
    if (quantised === undefined) return undefined;
    this.#kernel.score(this.#all(), quantised, this.#scores);
    return (wanted) => {
      const bounds = { slack: slackOf(quantised), count: this.#count, wanted };
      const { found, threshold } = this.#kernel.select(this.#scores, this.#errors, bounds);
      return { keys: Array.from(found, (position) => this.#keys[position] ?? 0), threshold };
    };
  }

  /**
   * Approximately the `wanted` nearest rows with their approximate cosines, nearest first. Reads an eighth of what `compare` does:
   * the signs of all numbers, then the rows whose signs agree most. Undefined if the question has no direction.
   */
  nearby(question: Float32Array, wanted: number): readonly Hit<number>[] | undefined {
    const quantised = this.#kernel.question(question, this.#mean);
    const signed = this.#signatureOf(question);
    if (quantised === undefined || signed === undefined) return undefined;
    const signatures = this.#signatures.subarray(0, this.#count * signed.length);
    // Fresh memory costs as much as the comparison; the scores' memory is free.
    const room = { agreements: this.#agreements, found: new Int32Array(this.#scores.buffer) };
    const likely = this.#kernel.alike(signatures, signed, Math.max(SIGNED, wanted), room);
    const scores = new Float32Array(likely.length);
    this.#kernel.scoreSome(this.#all(), likely, quantised, scores);
    const bounds = { slack: 0, count: likely.length, wanted };
    const { found } = this.#kernel.select(scores, undefined, bounds);
    return Array.from(found)
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
      .slice(0, wanted)
      .map((index) => ({ key: this.#keys[likely[index] ?? 0] ?? 0, score: scores[index] ?? 0 }));
  }

  /** Overwrites everything. */
  wipe(): void {
    const { rows, mean } = this.#all();
    this.#signatures.fill(0n);
    const columns = [this.#scales, this.#errors, this.#scores, this.#agreements, this.#keys];
    for (const memory of [rows, mean, ...columns]) memory.fill(0);
    this.#positions = undefined;
    this.#count = 0;
  }

  #all(): Rows {
    return {
      mean: this.#mean,
      rows: this.#rows,
      scales: this.#scales,
      errors: this.#errors,
      count: this.#count,
      dimension: this.dimension,
    };
  }

  /** Writes the signatures of rows. */
  #sign(at: number, count: number): void {
    const { dimension } = this;
    const words = wordsOf(dimension);
    const rows = this.#rows.subarray(at * dimension, (at + count) * dimension);
    this.#kernel.sign(rows, dimension, this.#signatures.subarray(at * words));
  }

  /** The signature of a vector that is not a row. Undefined for a zero vector. */
  #signatureOf(vector: Float32Array): BigUint64Array | undefined {
    const { dimension } = this;
    const [rows, one] = [new Int8Array(dimension), new Float32Array(1)];
    const into = { ...this.#all(), rows, scales: one, errors: new Float32Array(1), count: 1 };
    if (this.#kernel.quantise(vector, into, 0) === 0) return undefined;
    const signature = new BigUint64Array(wordsOf(dimension));
    this.#kernel.sign(rows, dimension, signature);
    return signature;
  }

  #move(from: number, to: number): void {
    const { dimension } = this;
    const words = wordsOf(dimension);
    this.#signatures.copyWithin(to * words, from * words, (from + 1) * words);
    this.#rows.copyWithin(to * dimension, from * dimension, (from + 1) * dimension);
    for (const column of [this.#scales, this.#errors, this.#keys])
      column.copyWithin(to, from, from + 1);
  }

  #reserve(count: number): void {
    if (count <= this.#keys.length) return;
    const size = Math.ceil(count * GROWTH);
    const rows = new Int8Array(size * this.dimension);
    rows.set(this.#rows.subarray(0, this.#count * this.dimension));
    this.#rows.fill(0);
    this.#rows = rows;
    const signatures = new BigUint64Array(size * wordsOf(this.dimension));
    signatures.set(this.#signatures);
    this.#signatures.fill(0n);
    this.#signatures = signatures;
    this.#scales = grown(this.#scales, size);
    this.#errors = grown(this.#errors, size);
    this.#scores = new Float32Array(size);
    this.#agreements = new Uint16Array(size);
    const keys = new Float64Array(size);
    keys.set(this.#keys);
    this.#keys = keys;
  }
}

function grown(column: Float32Array, size: number): Float32Array {
  const larger = new Float32Array(size);
  larger.set(column);
  return larger;
}

/** The mean direction of the first vectors. Any value is correct; a good one makes the bounds tight. */
function meanOf(vectors: Float32Array, dimension: number): Float32Array {
  const mean = new Float64Array(dimension);
  const count = Math.min(vectors.length / dimension, MEAN_OF);
  for (let row = 0; row < count; row += 1) {
    const vector = vectors.subarray(row * dimension, (row + 1) * dimension);
    let square = 0;
    for (const value of vector) square += value * value;
    // A zero vector makes the slab unusable in any case.
    if (!(square > 0 && square < Number.POSITIVE_INFINITY)) continue;
    const share = 1 / (count * Math.sqrt(square));
    for (const [index, value] of vector.entries()) {
      mean[index] = (mean[index] ?? 0) + value * share;
    }
  }
  return Float32Array.from(mean);
}

/**
 * Maximum error of an approximate cosine besides the rounding error of its row: the rounding of the question, times the length of
 * a row minus the mean, and the rounding of 32-bit sums, here and in the exact comparison (two unit roundoffs of 2^-24 for each
 * number).
 */
function slackOf({ error, numbers }: QuantisedQuestion): number {
  return 2 * error + numbers.length * 2 ** -23 + 2 ** -20;
}
