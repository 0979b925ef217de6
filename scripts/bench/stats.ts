/** The value below which the share `part` of the values lies, by nearest rank. @param part 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1));
  const value = sorted[index];
  if (value === undefined) throw new RangeError("no values were measured");
  return value;
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The sum of the values. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Runs `work` and gives its milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Three significant digits, thousands separated. */
export function digits(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return Number(value.toPrecision(3)).toString();
}
