/** An array literal, for `$1::text[]`, `$1::uuid[]` or `$1::integer[]`. */
export function listText(values: Iterable<string | number | null>): string {
  const parts = Array.from(values, (value) => {
    if (value === null) return "NULL";
    return typeof value === "number" ? String(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${parts.join(",")}}`;
}
