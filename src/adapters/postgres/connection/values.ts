/** An array literal, for `$1::text[]`, `$1::uuid[]`, `$1::integer[]` or `$1::bytea[]`. */
export function listText(values: Iterable<string | number | null | Uint8Array>): string {
  const parts = Array.from(values, (value) => {
    if (value === null) return "NULL";
    if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`;
    return typeof value === "number" ? String(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${parts.join(",")}}`;
}

const HEADER_BYTES = 4;
const FLOAT_BYTES = 4;

/** The numbers of a vector as returned by `vector_send`: a header, then big-endian floats. */
export function readVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array((bytes.byteLength - HEADER_BYTES) / FLOAT_BYTES);
  for (let index = 0; index < vector.length; index += 1) {
    vector[index] = view.getFloat32(HEADER_BYTES + index * FLOAT_BYTES);
  }
  return vector;
}

/** A vector for `::vector`. */
export function writeVector(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}
