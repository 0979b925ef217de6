const HEADER_BYTES = 4;
const FLOAT_BYTES = 4;

/** The numbers of a vector as `vector_send` gives them: a header, then floats, the highest byte first. */
export function readVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array((bytes.byteLength - HEADER_BYTES) / FLOAT_BYTES);
  for (let index = 0; index < vector.length; index += 1) {
    vector[index] = view.getFloat32(HEADER_BYTES + index * FLOAT_BYTES);
  }
  return vector;
}

// Of a 32-bit number: a sign, 8 bits of the exponent, and 23 of the significand, whose first bit is left out but of tiny ones.
const EXPONENT = 0xff;
const SIGNIFICAND_BITS = 23;
const FIRST_BIT = 2 ** SIGNIFICAND_BITS;
/** The exponent of a significand that is read as a whole number, at a stored exponent of 0. */
const LOWEST = -150;

/** A vector for `::vector`. Its numbers are hexadecimal, as `0xc00000p-24` is 0.75: written and read twice as fast, and exact. */
export function writeVector(vector: Float32Array): string {
  let text = "";
  for (const bits of new Uint32Array(vector.buffer, vector.byteOffset, vector.length)) {
    const stored = (bits >>> SIGNIFICAND_BITS) & EXPONENT;
    const significand = (bits % FIRST_BIT) + (stored === 0 ? 0 : FIRST_BIT);
    // Zero has none.
    const sign = bits > 0x80000000 ? "-" : "";
    text += `,${sign}0x${significand.toString(16)}p${Math.max(stored, 1) + LOWEST}`;
  }
  return `[${text.slice(1)}]`;
}

/**
 * The cosine of two vectors, with the same sums of 32 bits as the vector index of a pack computes it, so that both give the same
 * score.
 */
export function cosine(one: Float32Array, other: Float32Array): number {
  let [dot, left, right] = [0, 0, 0];
  for (let index = 0; index < one.length; index += 1) {
    const [a, b] = [one[index] ?? 0, other[index] ?? 0];
    dot = Math.fround(dot + Math.fround(a * b));
    left = Math.fround(left + Math.fround(a * a));
    right = Math.fround(right + Math.fround(b * b));
  }
  return 1 - Math.fround(1 - dot / (Math.sqrt(left) * Math.sqrt(right)));
}

/** Maximum difference between a cosine and that of the same vectors with 16 bits. */
export const HALF_ERROR = 2 ** -10;

const KEY_BYTES = 4;
const HALF_BYTES = 2;

/** Keys and vectors of rows one after the other, each as `int4send` and `halfvec_send` give it; the vectors with 32 bits. */
export function readHalfRows(
  rows: Uint8Array,
  dimension: number,
): { readonly keys: readonly number[]; readonly vectors: Float32Array } {
  const size = KEY_BYTES + HEADER_BYTES + dimension * HALF_BYTES;
  const count = rows.byteLength / size;
  const view = new DataView(rows.buffer, rows.byteOffset, rows.byteLength);
  const halves = new Uint16Array(count * dimension);
  const keys = Array.from({ length: count }, (_, row) => view.getInt32(row * size));
  for (let row = 0; row < count; row += 1) {
    const from = row * size + KEY_BYTES + HEADER_BYTES;
    for (let index = 0; index < dimension; index += 1) {
      halves[row * dimension + index] = view.getUint16(from + index * HALF_BYTES);
    }
  }
  return { keys, vectors: new Float32Array(new Float16Array(halves.buffer)) };
}
