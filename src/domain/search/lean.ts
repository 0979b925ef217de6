import { DEFAULT_MODEL } from "../embedding-models.ts";

/** Turns on either side towards which a vector leans. A turn without a vector yet is skipped. */
export const LEAN_REACH = 1;

/**
 * The indexed vector of a turn: its own one, leaning towards those of the turns around it, of length one. An answer often says
 * little without the question before it, and what is found for one of them should be found for the other.
 * @param own of length one and as returned by `fromPayload`, like the neighbours
 * @param neighbours that of the turn before, then that of the turn after
 * @param weight of each of them, as the model of the vectors has it
 */
export function lean(
  own: Float32Array,
  neighbours: readonly (Float32Array | undefined)[],
  weight: number = DEFAULT_MODEL.lean,
): Float32Array {
  const sum = Float64Array.from(own);
  for (const neighbour of neighbours) {
    if (neighbour === undefined || neighbour.length !== own.length) continue;
    for (let index = 0; index < sum.length; index += 1) {
      sum[index] = (sum[index] ?? 0) + weight * (neighbour[index] ?? 0);
    }
  }
  let square = 0;
  for (const value of sum) square += value * value;
  const length = Math.sqrt(square);
  // A vector without a direction stays as it is.
  return length > 0 ? Float32Array.from(sum, (value) => value / length) : own;
}

/**
 * A vector in half the bytes, as a store keeps the own vector of a turn: 16-bit numbers (IEEE 754 binary16, little endian).
 * Cosines change by less than 0.0005.
 */
export function toPayload(vector: Float32Array): Uint8Array {
  return new Uint8Array(new Float16Array(vector).buffer);
}

/** The vector of a payload. */
export function fromPayload(payload: Uint8Array): Float32Array {
  // A copy, because the offset of a typed array must be a multiple of its element size.
  return new Float32Array(new Float16Array(payload.slice().buffer));
}
