import { dlopen } from "bun:ffi";
import { SvcError } from "../../domain/errors.ts";
import type { Postings } from "../../domain/search/bm25.ts";
import { loadFailure } from "./load-library.ts";
import { KERNEL_LIBRARY, ownLibraryPath } from "./own-libraries.ts";

/**
 * Vectors as bytes: `count` rows of `dimension` numbers, with the scale and the rounding error of each row. `mean` was
 * subtracted from every direction.
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
export type QuantisedQuestion = {
  readonly numbers: Int16Array;
  /** Scale, rounding error, product with the mean. */
  readonly parameters: Float32Array;
  /** Length of the rounding error of a question of length one. */
  readonly error: number;
};

/** Candidates for the best: row numbers, and an upper bound of the score of every other row. */
export type Selection = { readonly found: Int32Array; readonly threshold: number };

/** Memory to work in, for as many rows as are compared; the rows that are found lie in it. */
export type AlikeRoom = { readonly agreements: Uint16Array; readonly found: Int32Array };

/** Documents by ascending key, each with its upper bound. */
export type Bounds = { readonly keys: Float64Array; readonly most: Float32Array };

/** The functions of the search library. See `kernel/rank.h` and `kernel/postings.h`. */
export type Kernel = {
  /** The library's file, whose entry point SQLite may load. */
  readonly path: string;
  /** Writes rows starting at `at`. @returns how many; fewer than given if one has no direction */
  quantise(vectors: Float32Array, into: Rows, at: number): number;
  /** Undefined if the question has no direction. */
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
  /** @param errors undefined: each score is off by at most `slack` */
  select(
    scores: Float32Array,
    errors: Float32Array | undefined,
    bounds: { readonly slack: number; readonly count: number; readonly wanted: number },
  ): Selection;
  /** Adds to the bounds of a word's documents what they can gain by it: `raisedBound` of the domain for each of them. */
  join(
    bounds: Bounds,
    word: Postings,
    weight: { readonly rarity: number; readonly growth: number; readonly least: number },
  ): Bounds;
  /** What the auxiliary function `svckernel_gather` sees while `walk` runs, with the `weightedFrequency` of the domain. */
  gather(walk: () => void): Postings;
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
  svckernel_select: { args: ["ptr", "ptr", "f32", "u32", "u32", "ptr", "ptr"], returns: "u32" },
  svckernel_join: {
    args: ["ptr", "ptr", "u32", "ptr", "ptr", "u32", "f64", "f64", "f64", "ptr", "ptr"],
    returns: "u32",
  },
  svckernel_gather_begin: { args: [], returns: "void" },
  svckernel_gather_count: { args: [], returns: "u32" },
  svckernel_gather_take: { args: ["ptr", "ptr"], returns: "void" },
} as const;

let loaded: Kernel | SvcError | undefined;

/** The search library of this thread; undefined if none can be loaded. Never throws. */
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
  return { path, ...rowLoops(symbols), ...signatureLoops(symbols), ...wordLoops(symbols) };
}

type RowLoops = Pick<Kernel, "quantise" | "question" | "score" | "select">;

function rowLoops(symbols: Symbols): RowLoops {
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
      const found = new Int32Array(count);
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

function wordLoops(symbols: Symbols): Pick<Kernel, "join" | "gather"> {
  return {
    join: ({ keys, most }, word, { rarity, growth, least }) => {
      const room = keys.length + word.keys.length;
      const joined = { keys: new Float64Array(room), most: new Float32Array(room) };
      const count = symbols.svckernel_join(
        keys,
        most,
        keys.length,
        word.keys,
        word.frequencies,
        word.keys.length,
        rarity,
        growth,
        least,
        joined.keys,
        joined.most,
      );
      return { keys: joined.keys.subarray(0, count), most: joined.most.subarray(0, count) };
    },
    gather: (walk) => {
      symbols.svckernel_gather_begin();
      walk();
      const count = symbols.svckernel_gather_count();
      const postings = { keys: new Float64Array(count), frequencies: new Float32Array(count) };
      if (count > 0) symbols.svckernel_gather_take(postings.keys, postings.frequencies);
      return postings;
    },
  };
}
