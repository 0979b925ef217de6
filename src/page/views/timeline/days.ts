import type { Timeline } from "../../client/types.gen.ts";

/** Pixels; every row has the same height, so that the list knows its own before it has rows. */
export const ROW = 48;
/** Above the first row of a day. */
export const HEADING = 44;

export type Day = {
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly count: number;
  /** Of its first row, from 0 for the newest memory. */
  readonly index: number;
  /** Of its heading, in pixels. */
  readonly top: number;
};

/** Where every row of a list lies. */
export type Days = {
  readonly days: readonly Day[];
  readonly total: number;
  readonly height: number;
};

export function daysOf({ buckets }: Timeline): Days {
  const days: Day[] = [];
  let index = 0;
  let top = 0;
  for (const { from, count } of buckets) {
    days.push({ from, count, index, top });
    index += count;
    top += HEADING + count * ROW;
  }
  return { days, total: index, height: top };
}

/** The last of the days for which `isBefore` holds; days are in the order of the list. */
function lastDay({ days }: Days, isBefore: (day: Day) => boolean): Day | undefined {
  let low = 0;
  let high = days.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const day = days[middle];
    if (day !== undefined && isBefore(day)) low = middle + 1;
    else high = middle;
  }
  return days[Math.max(0, low - 1)];
}

export function dayOfRow(all: Days, index: number): Day | undefined {
  return lastDay(all, (day) => day.index <= index);
}

export function dayAtHeight(all: Days, top: number): Day | undefined {
  return lastDay(all, (day) => day.top <= top);
}

/** The row at a height, from 0. */
export function rowAtHeight(all: Days, top: number): number {
  const day = dayAtHeight(all, top);
  if (day === undefined) return 0;
  const inDay = Math.floor((top - day.top - HEADING) / ROW);
  return day.index + Math.max(0, Math.min(day.count - 1, inDay));
}

/** The upper edge of a row, without the heading above it. */
export function topOfRow(all: Days, index: number): number {
  const day = dayOfRow(all, index);
  return day === undefined ? 0 : day.top + HEADING + (index - day.index) * ROW;
}
