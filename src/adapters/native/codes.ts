import { type Centre, type CodeRows, type Kernel, wordsOf } from "./kernel.ts";

/** Growth factor of full memory. */
const GROWTH = 1.25;
const ROOM_MIN = 64;
/** Keys looked up one by one; for more, all rows are read once. */
const LOOKED_UP_MAX = 64;

/** Bytes of a code with its key. */
export function bytesPerCode(dimension: number): number {
  return 2 * wordsOf(dimension) * BigUint64Array.BYTES_PER_ELEMENT + Float64Array.BYTES_PER_ELEMENT;
}

/** A likely neighbour: more is nearer. */
export type Likely = { readonly key: number; readonly score: number };

/**
 * An owner's vectors as codes of two bits a number, a fifteenth of their size. They find the rows that are likely to be nearest, which the
 * caller then compares exactly.
 */
export class Codes {
  /** The latest change applied. */
  revision = -1;
  /** Only vectors of keys up to this one are held. */
  last = Number.POSITIVE_INFINITY;
  readonly dimension: number;
  readonly centre: Centre;
  readonly #kernel: Kernel;
  #rows: CodeRows;
  #keys: Float64Array;
  #count = 0;
  #highest = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel, centre: Centre, room: number) {
    const size = Math.max(Math.ceil(room), ROOM_MIN);
    this.#kernel = kernel;
    this.centre = centre;
    this.dimension = centre.mean.length;
    this.#rows = emptyRows(size * wordsOf(this.dimension));
    this.#keys = new Float64Array(size);
  }

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#keys.length * bytesPerCode(this.dimension);
  }

  /** Adds the codes of keys that are not held. */
  append(keys: ArrayLike<number>, { signs, strong }: CodeRows): void {
    const at = this.#reserve(keys.length) * wordsOf(this.dimension);
    this.#rows.signs.set(signs, at);
    this.#rows.strong.set(strong, at);
    this.#keys.set(keys, this.#count);
    this.#count += keys.length;
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] ?? 0;
      if (key > this.#highest) this.#highest = key;
    }
  }

  /** Adds vectors, one after the other, in place of those of the same keys. @returns false if one is a zero vector */
  put(keys: readonly number[], vectors: Float32Array): boolean {
    const words = wordsOf(this.dimension);
    const made = emptyRows(keys.length * words);
    if (this.#kernel.code(vectors, this.centre, made, 0) < keys.length) return false;
    const known = this.#positionsOf(keys.filter((key) => key <= this.#highest));
    const fresh: number[] = [];
    for (const [index, key] of keys.entries()) {
      const position = known.get(key);
      if (position === undefined) fresh.push(index);
      else {
        const own = [index * words, (index + 1) * words] as const;
        this.#rows.signs.set(made.signs.subarray(...own), position * words);
        this.#rows.strong.set(made.strong.subarray(...own), position * words);
      }
    }
    for (const index of fresh) {
      const own = [index * words, (index + 1) * words] as const;
      const rows = { signs: made.signs.subarray(...own), strong: made.strong.subarray(...own) };
      this.append([keys[index] ?? 0], rows);
    }
    return true;
  }

  /** Removes vectors; the last rows take their places. */
  remove(keys: readonly number[]): void {
    const words = wordsOf(this.dimension);
    // From the end, so that no row moves that is to be removed.
    for (const position of [...this.#positionsOf(keys).values()].sort((a, b) => b - a)) {
      this.#count -= 1;
      const from = this.#count;
      for (const column of [this.#rows.signs, this.#rows.strong]) {
        column.copyWithin(position * words, from * words, (from + 1) * words);
        column.fill(0n, from * words, (from + 1) * words);
      }
      this.#keys[position] = this.#keys[from] ?? 0;
    }
  }

  /** Removes all vectors except those of the keys. */
  keepOnly(keys: ReadonlySet<number>): void {
    this.remove(Array.from(this.#keys.subarray(0, this.#count).filter((key) => !keys.has(key))));
  }

  /** About `wanted` rows, or more, that are likely to be the nearest; in no order. */
  likely(question: Float32Array, wanted: number): Likely[] {
    return likelyAmong(this.#kernel, this.#keys, this.#rows, this.#count, { question, wanted });
  }

  /** Overwrites everything. */
  wipe(): void {
    this.#rows.signs.fill(0n);
    this.#rows.strong.fill(0n);
    this.#keys.fill(0);
    this.centre.mean.fill(0);
    this.#count = 0;
  }

  #positionsOf(keys: readonly number[]): ReadonlyMap<number, number> {
    const held = this.#keys.subarray(0, this.#count);
    const found = new Map<number, number>();
    if (keys.length <= LOOKED_UP_MAX) {
      for (const key of keys) {
        // Changes are mostly among the newest.
        const position = held.lastIndexOf(key);
        if (position >= 0) found.set(key, position);
      }
      return found;
    }
    const wanted = new Set(keys);
    for (let position = 0; position < held.length; position += 1) {
      const key = held[position] ?? 0;
      if (wanted.has(key)) found.set(key, position);
    }
    return found;
  }

  /** @returns the count of rows before */
  #reserve(more: number): number {
    const wanted = this.#count + more;
    if (wanted > this.#keys.length) {
      const size = Math.ceil(wanted * GROWTH);
      const rows = emptyRows(size * wordsOf(this.dimension));
      rows.signs.set(this.#rows.signs);
      rows.strong.set(this.#rows.strong);
      const keys = new Float64Array(size);
      keys.set(this.#keys);
      this.#rows.signs.fill(0n);
      this.#rows.strong.fill(0n);
      this.#rows = rows;
      this.#keys = keys;
    }
    return this.#count;
  }
}

/** See `Codes.likely`. */
export function likelyAmong(
  kernel: Kernel,
  keys: Float64Array,
  rows: CodeRows,
  count: number,
  { question, wanted }: { readonly question: Float32Array; readonly wanted: number },
): Likely[] {
  const { positions, scores } = kernel.likely(rows, count, kernel.ask(question), wanted);
  const bounds = { slack: 0, count: positions.length, wanted };
  const { found } = kernel.select(scores, undefined, bounds);
  return Array.from(found, (index) => ({
    key: keys[positions[index] ?? 0] ?? 0,
    score: scores[index] ?? 0,
  }));
}

export function emptyRows(words: number): CodeRows {
  return { signs: new BigUint64Array(words), strong: new BigUint64Array(words) };
}
