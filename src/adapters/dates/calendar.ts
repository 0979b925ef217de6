import { asInstant, fromDate, type Instant } from "../../lib/instant.ts";

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

/** A moment in UTC: milliseconds since the Unix epoch, and the three digits of its microseconds below them. */
export type Moment = { readonly ms: number; readonly below: string };

/** A time of day; without an offset it is in UTC. */
export type Clock = {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** Minutes east of UTC. */
  readonly offset: number | undefined;
};

/** The parts of a date that are written; months count from 1. */
export type DateParts = {
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
};

/** Units of time in terms of what calendar arithmetic adds. */
export const UNITS = {
  second: { months: 0, ms: SECOND_MS },
  minute: { months: 0, ms: 60 * SECOND_MS },
  hour: { months: 0, ms: 3600 * SECOND_MS },
  day: { months: 0, ms: DAY_MS },
  week: { months: 0, ms: 7 * DAY_MS },
  fortnight: { months: 0, ms: 14 * DAY_MS },
  month: { months: 1, ms: 0 },
  quarter: { months: 3, ms: 0 },
  year: { months: 12, ms: 0 },
  decade: { months: 120, ms: 0 },
  century: { months: 1200, ms: 0 },
} as const;
export type Unit = keyof typeof UNITS;

/** A count of a unit; halves and other fractions are allowed. */
export type Amount = { readonly count: number; readonly unit: Unit };

/** Days in a month, for fractions of months. */
const MONTH_DAYS = 30;

export function toMoment(instant: Instant): Moment {
  return { ms: Date.parse(`${instant.slice(0, 23)}Z`), below: instant.slice(23, 26) };
}

/** Undefined outside the years 1 to 9999. */
export function toInstant({ ms, below }: Moment): Instant | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) return undefined;
  return asInstant(`${fromDate(date).slice(0, 23)}${below}Z`);
}

/** Midnight of the day. */
export function startOfDay({ ms }: Moment): Moment {
  return { ms: Math.floor(ms / DAY_MS) * DAY_MS, below: "000" };
}

/** The same day at a time of day. */
export function atClock(moment: Moment, clock: Clock): Moment {
  const minutes = clock.hour * 60 + clock.minute - (clock.offset ?? 0);
  return {
    ms: startOfDay(moment).ms + (minutes * 60 + clock.second) * SECOND_MS + clock.millisecond,
    below: "000",
  };
}

export function addDays(moment: Moment, days: number): Moment {
  return { ...moment, ms: moment.ms + days * DAY_MS };
}

/** 0 is Sunday. */
export function weekdayOf({ ms }: Moment): number {
  return new Date(ms).getUTCDay();
}

/** Year and month of a moment; months count from 1. */
export function monthOf({ ms }: Moment): { readonly year: number; readonly month: number } {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 };
}

/**
 * A moment `amounts` later, or earlier if `sign` is -1. Months and longer units move the date and keep the time of day; a
 * day that the new month lacks becomes its last one.
 */
export function shift(moment: Moment, amounts: readonly Amount[], sign: 1 | -1): Moment {
  const months = sign * sum(amounts, ({ count, unit }) => count * UNITS[unit].months);
  const wholeMonths = Math.trunc(months);
  const ms =
    sign * sum(amounts, ({ count, unit }) => count * UNITS[unit].ms) +
    (months - wholeMonths) * MONTH_DAYS * DAY_MS;
  const { year, month } = monthOf(moment);
  const day = new Date(moment.ms).getUTCDate();
  const moved = dayOf(year, month + wholeMonths, day);
  return { ms: Math.round(moved + (moment.ms - startOfDay(moment).ms) + ms), below: moment.below };
}

/**
 * Midnight of a date. Parts that are not written come from the reference; a day that the month lacks becomes its last one.
 */
export function onDate({ year, month, day }: DateParts, reference: Moment): Moment {
  const now = monthOf(reference);
  const today = new Date(reference.ms).getUTCDate();
  return { ms: dayOf(year ?? now.year, month ?? now.month, day ?? today), below: "000" };
}

/** Milliseconds of midnight of a day; months beyond the year carry over into the next. */
function dayOf(year: number, month: number, day: number): number {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, Math.min(day, last.getUTCDate()));
  return date.getTime();
}

function sum(amounts: readonly Amount[], value: (amount: Amount) => number): number {
  return amounts.reduce((total, amount) => total + value(amount), 0);
}
