/** Minutes of each unit, and from how many on it is named. */
const UNITS: readonly (readonly [unit: string, minutes: number, least: number])[] = [
  ["year", 525_600, 1],
  ["month", 43_200, 1],
  ["week", 10_080, 2],
  ["day", 1440, 1],
  ["h", 60, 1],
  ["min", 1, 1],
];

/** How long ago something was, in one unit: `2 h ago`, `1 day ago`, `3 weeks ago`. */
export function ago(days: number): string {
  const minutes = Math.floor(days * 1440);
  for (const [unit, size, least] of UNITS) {
    const count = Math.floor(minutes / size);
    if (count >= least) return `${count} ${unit}${count > 1 && size >= 1440 ? "s" : ""} ago`;
  }
  return "just now";
}
