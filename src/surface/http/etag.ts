/** Whether `If-None-Match` names an answer. */
export function isNamed(header: string | null, etag: string): boolean {
  const names = header?.split(",").map((name) => name.trim().replace(/^W\//, "")) ?? [];
  return names.includes(etag) || names.includes("*");
}
