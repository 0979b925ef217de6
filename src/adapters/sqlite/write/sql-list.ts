/** Words of this program as a list in SQL. */
export function sqlList(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(", ")})`;
}
