/**
 * A moment in UTC as `YYYY-MM-DDTHH:MM:SS.ffffffZ`: microseconds, fixed width, so that text order is time order. JavaScript's Date only has
 * milliseconds and is used only for calendar arithmetic.
 */
export type Instant = string & { readonly __instant: true };

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Why a text is not an instant: `naive` when only the offset is missing, else `malformed`. */
export type InstantProblem = "naive" | "malformed";

/**
 * Reads ISO 8601 with an explicit offset. Digits beyond microseconds are cut.
 * @returns the instant in UTC, or the problem.
 */
export function parseInstant(text: string): { readonly instant: Instant } | InstantProblem {
  const trimmed = text.trim();
  // A bare date also lacks an offset, so it gets the same answer as a time without one.
  const match = ISO.exec(BARE_DATE.test(trimmed) ? `${trimmed}T00:00` : trimmed);
  if (match === null) return "malformed";
  const [, year, month, day, hour, minute, second = "0", fraction = "", offset] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  // A field out of range rolls over into the next one; if the moment reads back differently, it does not exist.
  const valid =
    date.getUTCFullYear() === Number(year) &&
    date.getUTCMonth() + 1 === Number(month) &&
    date.getUTCDate() === Number(day) &&
    date.getUTCHours() === Number(hour) &&
    date.getUTCMinutes() === Number(minute) &&
    date.getUTCSeconds() === Number(second);
  if (!valid) return "malformed";
  if (offset === undefined) return "naive";
  const shift = offsetMinutes(offset);
  if (shift === undefined) return "malformed";
  const utc = new Date(date.getTime() - shift * 60_000);
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return "malformed";
  return { instant: format(utc, fraction.slice(0, 6).padEnd(6, "0")) };
}

function offsetMinutes(offset: string): number | undefined {
  if (offset.toUpperCase() === "Z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(":", "") || "0");
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function format(date: Date, micros: string): Instant {
  // SAFETY: toISOString is `YYYY-MM-DDTHH:MM:SS.mmmZ` for the years 1 to 9999.
  return `${date.toISOString().slice(0, 19)}.${micros}Z` as Instant;
}

/** The instant of a Date in the years 1 to 9999; its microseconds below the millisecond are zero. */
export function fromDate(date: Date): Instant {
  return format(date, `${String(date.getUTCMilliseconds()).padStart(3, "0")}000`);
}

/** The instant `micros` microseconds after the Unix epoch. @param micros integer below 2^53. */
export function fromEpochMicros(micros: number): Instant {
  const millis = Math.floor(micros / 1000);
  const date = new Date(millis);
  const below = String(micros - Math.floor(millis / 1000) * 1_000_000).padStart(6, "0");
  return format(date, below);
}

/** Milliseconds since the Unix epoch with a fraction (three more digits, as far as a double has them). */
export function toEpochMillis(instant: Instant): number {
  return Date.parse(`${instant.slice(0, 23)}Z`) + Number(instant.slice(23, 26)) / 1000;
}

/** Days (86,400 s) from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: Instant, to: Instant): number {
  return (toEpochMillis(to) - toEpochMillis(from)) / 86_400_000;
}

/** The instant `days` times 86,400 s later, to the microsecond; undefined outside of the years 1 to 9999. */
export function addDays(instant: Instant, days: number): Instant | undefined {
  return addSeconds(instant, days * 86_400);
}

/** The instant so many whole seconds later, to the microsecond; undefined outside of the years 1 to 9999. */
export function addSeconds(instant: Instant, seconds: number): Instant | undefined {
  // By milliseconds: a double cannot count the microseconds of a distant year exactly.
  const date = new Date(Date.parse(`${instant.slice(0, 19)}Z`) + seconds * 1000);
  // The year of an out-of-range date is NaN.
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? format(date, instant.slice(20, 26)) : undefined;
}

/** The instant a microsecond later; for the last one of the year 9999, the same. */
export function nextInstant(instant: Instant): Instant {
  const micros = Number(instant.slice(20, 26)) + 1;
  const carried = micros === 1_000_000 ? 1000 : 0;
  const date = new Date(Date.parse(`${instant.slice(0, 19)}Z`) + carried);
  const below = String(micros % 1_000_000).padStart(6, "0");
  return date.getUTCFullYear() > 9999 ? instant : format(date, below);
}

/** Brands text known to be canonical, such as an instant read from our own rows. */
export function asInstant(text: string): Instant {
  // SAFETY: callers pass only canonical text; parseInstant accepts anything else.
  return text as Instant;
}
