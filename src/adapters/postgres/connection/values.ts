/** An array literal, for `$1::text[]`, `$1::uuid[]` or `$1::integer[]`. */
export function listText(values: Iterable<string | number | null>): string {
  const parts = Array.from(values, (value) => {
    if (value === null) return "NULL";
    return typeof value === "number" ? String(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${parts.join(",")}}`;
}

/** A vector, for `$1::vector`; its numbers as float32. */
export function vectorText(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}

/** The numbers of a vector as the server writes it. */
export function parseVector(text: string): Float32Array {
  return Float32Array.from(text.slice(1, -1).split(","), Number);
}
