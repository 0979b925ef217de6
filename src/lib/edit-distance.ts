/** How many characters must be inserted, removed or replaced to make one text of another. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at += 1) {
      const [replaced = 0, removed = 0, inserted = 0] = [row[at], row[at + 1], next[at]];
      next.push(Math.min(replaced + (to[at] === letter ? 0 : 1), removed + 1, inserted + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
