/** A vector with length 1. @throws RangeError if it has none, or a number that is not finite */
export function unitLength(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const norm = Math.sqrt(sum);
  if (!Number.isFinite(norm) || norm === 0) throw new RangeError("the model gave no finite vector");
  return vector.map((value) => value / norm);
}
