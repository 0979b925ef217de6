import { type BitReader, type BitWriter, countWidth } from "./bits.ts";

/** Values of one kind, written together because they resemble each other. The reader knows their number. */
export type Column<T> = {
  readonly write: (out: BitWriter, values: readonly T[]) => void;
  readonly read: (from: BitReader, count: number) => T[];
};

/** Writes what `get` says of each item as a column. */
export function writeColumn<Item, T>(
  out: BitWriter,
  column: Column<T>,
  items: readonly Item[],
  get: (item: Item, index: number) => T,
): void {
  column.write(out, items.map(get));
}

/** Order of a number about which nothing is known. */
const ANY_ORDER = 4;

/** Whole numbers from 0 below 2^53. Repeats of one value take no space beyond the first. */
export const counts: Column<number> = {
  write: (out, values) => {
    const [first] = values;
    if (first === undefined) return;
    const least = values.reduce((min, value) => Math.min(min, value), first);
    out.count(least, ANY_ORDER);
    const isConstant = values.every((value) => value === first);
    out.flag(isConstant);
    if (isConstant) return;
    const order = bestOrder(values, least);
    out.bits(order, 6);
    for (const value of values) out.count(value - least, order);
  },
  read: (from, count) => {
    if (count === 0) return [];
    const least = from.count(ANY_ORDER);
    if (from.flag()) return filled(count, least);
    const order = from.bits(6);
    return Array.from({ length: count }, () => least + from.count(order));
  },
};

/** The order near the mean that makes the numbers shortest. */
function bestOrder(values: readonly number[], least: number): number {
  const mean = values.reduce((sum, value) => sum + (value - least) / values.length, 0);
  const about = Math.round(Math.log2(mean + 1));
  let best = { order: 0, width: Number.POSITIVE_INFINITY };
  for (let order = Math.max(0, about - 3); order <= Math.min(about + 1, 52); order += 1) {
    const width = values.reduce((sum, value) => sum + countWidth(value - least, order), 0);
    if (width < best.width) best = { order, width };
  }
  return best.order;
}

/** Whole numbers of either sign. */
export const integers: Column<number> = {
  write: (out, values) =>
    counts.write(
      out,
      values.map((value) => (value < 0 ? -2 * value - 1 : 2 * value)),
    ),
  read: (from, count) =>
    counts.read(from, count).map((value) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)),
};

export const flags: Column<boolean> = {
  write: (out, values) => {
    const [first] = values;
    if (first === undefined) return;
    const isConstant = values.every((value) => value === first);
    out.flag(isConstant);
    for (const value of isConstant ? [first] : values) out.flag(value);
  },
  read: (from, count) => {
    if (count === 0) return [];
    if (from.flag()) return filled(count, from.flag());
    return Array.from({ length: count }, () => from.flag());
  },
};

const SCRATCH = new DataView(new ArrayBuffer(8));
/** Exponents of a double that are written as their distance from that of 1. */
const NEAR_EXPONENTS = 15;
const ZERO = 0;
const ONE = 1;
const NEAR = 2;
const ANY = 3;

/** A double in parts: for a positive one below 2, `near` is how far its exponent is below that of 1. */
type Parts = {
  readonly high: number;
  readonly low: number;
  readonly near: number | undefined;
  /** Bits of the fraction up to the last one that is set, 0 to 52. */
  readonly needed: number;
};

function partsOf(value: number): Parts {
  SCRATCH.setFloat64(0, value);
  const high = SCRATCH.getUint32(0);
  const low = SCRATCH.getUint32(4);
  const below = 1023 - (high >>> 20);
  const isNear = below >= 0 && below <= NEAR_EXPONENTS;
  const fraction = high & 0xfffff;
  const needed =
    low !== 0 ? 52 - trailingZeros(low) : fraction === 0 ? 0 : 20 - trailingZeros(fraction);
  return { high, low, near: isNear ? below : undefined, needed };
}

function trailingZeros(value: number): number {
  return 31 - Math.clz32(value & -value);
}

/**
 * Finite doubles, exact except for the sign of zero. A few distinct values are listed once; positive ones below 2 are written
 * without the bits that are zero in all of them, such as the lower half of a single-precision number.
 */
export const doubles: Column<number> = {
  write: (out, values) => {
    if (values.length === 0) return;
    const distinct = distinctOf(values, Math.max(1, Math.min(64, values.length / 3)));
    out.flag(distinct !== undefined);
    if (distinct === undefined) return writeEach(out, values);
    out.count(distinct.length, 0);
    writeEach(out, distinct);
    const width = placeWidth(distinct.length);
    if (width === 0) return;
    const places = new Map(distinct.map((value, place) => [value, place]));
    for (const value of values) out.bits(places.get(value) ?? 0, width);
  },
  read: (from, count) => {
    if (count === 0) return [];
    if (!from.flag()) return readEach(from, count);
    const size = from.count(0);
    const distinct = readEach(from, size);
    const width = placeWidth(size);
    return Array.from({ length: count }, () => at(distinct, from.bits(width)));
  },
};

/** The distinct values, with zeros of either sign as one; undefined if there are more than `most`. */
function distinctOf(values: readonly number[], most: number): readonly number[] | undefined {
  const distinct = new Set<number>();
  for (const value of values) {
    if (distinct.add(value).size > most) return undefined;
  }
  return [...distinct];
}

/** Bits of a place among `size`. */
export function placeWidth(size: number): number {
  return size <= 1 ? 0 : 32 - Math.clz32(size - 1);
}

function writeEach(out: BitWriter, values: readonly number[]): void {
  const parts = values.map(partsOf);
  const kept = keptBits(values, parts);
  out.bits(kept, 6);
  for (const [index, value] of values.entries()) {
    const { high, low, near, needed } = at(parts, index);
    if (value === 0) out.bits(ZERO, 2);
    else if (value === 1) out.bits(ONE, 2);
    else if (near !== undefined && needed <= kept) {
      out.bits(NEAR, 2);
      out.count(near, 0);
      const fraction = high & 0xfffff;
      if (kept <= 20) out.bits(fraction >>> (20 - kept), kept);
      else {
        out.bits(fraction, 20);
        out.bits(low >>> (52 - kept), kept - 20);
      }
    } else {
      out.bits(ANY, 2);
      out.bits(high, 32);
      out.bits(low, 32);
    }
  }
}

function readEach(from: BitReader, count: number): number[] {
  const kept = from.bits(6);
  return Array.from({ length: count }, () => {
    const kind = from.bits(2);
    if (kind === ZERO) return 0;
    if (kind === ONE) return 1;
    if (kind === ANY) return toDouble(from.bits(32), from.bits(32));
    const exponent = (1023 - from.count(0)) * 2 ** 20;
    if (kept <= 20) return toDouble(exponent + from.bits(kept) * 2 ** (20 - kept), 0);
    const high = from.bits(20);
    return toDouble(exponent + high, from.bits(kept - 20) * 2 ** (52 - kept));
  });
}

/** The length of the fraction that makes the whole column shortest: numbers that need more are written in full. */
function keptBits(values: readonly number[], parts: readonly Parts[]): number {
  const full = 64;
  const needs = parts.flatMap(({ near, needed }, index) =>
    near === undefined || values[index] === 0 || values[index] === 1 ? [] : [needed],
  );
  let best = { kept: 0, width: Number.POSITIVE_INFINITY };
  for (const kept of new Set(needs)) {
    const width = needs.reduce((sum, needed) => sum + (needed <= kept ? kept + 2 : full), 0);
    if (width < best.width) best = { kept, width };
  }
  return best.kept;
}

function toDouble(high: number, low: number): number {
  SCRATCH.setUint32(0, high);
  SCRATCH.setUint32(4, low);
  return SCRATCH.getFloat64(0);
}

export function filled<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

/** The item at a place. @throws RangeError beyond the end */
export function at<T>(items: readonly T[], place: number): T {
  const item = items[place];
  if (item === undefined) throw new RangeError(`no item at ${place}`);
  return item;
}
