/** Characters of an unchanged part of a line that are shown on either side of a change. */
const AROUND = 30;
/** Lines up to this length are shown as they are. */
const LINE_MAX = 160;

/**
 * The difference of two texts: the lines between the common start and the common end, under a heading with their positions.
 * Unchanged lines are not shown, since configuration files contain other programs' secrets; nor is more of a long line than the
 * surroundings of the change. Empty if the texts are equal.
 */
export function lineDiff(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const [one, other] = [linesOf(before), linesOf(after)];
  const start = commonStart(one, other);
  const end = commonStart(one.slice(start).reverse(), other.slice(start).reverse());
  const gone = one.slice(start, one.length - end);
  const come = other.slice(start, other.length - end);
  const [shownGone, shownCome] = shortened(gone, come);
  return [
    `@@ ${rangeOf("-", start, gone.length)} ${rangeOf("+", start, come.length)} @@`,
    ...shownGone.map((line) => `-${line}`),
    ...shownCome.map((line) => `+${line}`),
  ];
}

/** Without the empty line after the last line feed. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function commonStart<T>(one: ArrayLike<T>, other: ArrayLike<T>): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

/** Lines are counted from 1; an empty range names the line before it. */
function rangeOf(sign: string, start: number, count: number): string {
  return `${sign}${count === 0 ? start : start + 1},${count}`;
}

/** The surroundings of the difference between two versions of one long line. */
function shortened(
  gone: readonly string[],
  come: readonly string[],
): readonly [readonly string[], readonly string[]] {
  const [one, ...others] = gone;
  const [other = "", ...rest] = come;
  const isLong = Math.max(one?.length ?? 0, other.length) > LINE_MAX;
  if (one === undefined || others.length > 0 || rest.length > 0 || !isLong) return [gone, come];
  const start = commonStart([...one], [...other]);
  const end = commonStart([...one].slice(start).reverse(), [...other].slice(start).reverse());
  return [[window(one, start, end)], [window(other, start, end)]];
}

function window(line: string, start: number, end: number): string {
  const characters = [...line];
  const from = Math.max(0, start - AROUND);
  const to = Math.min(characters.length, characters.length - end + AROUND);
  const shown = characters.slice(from, to).join("");
  return `${from > 0 ? "…" : ""}${shown}${to < characters.length ? "…" : ""}`;
}
