/** Dates in the words of the page's language; an English browser's own country decides their order. */
const LOCALE = navigator.language.startsWith("en-") ? navigator.language : "en-GB";

const NUMBER = new Intl.NumberFormat(LOCALE);
const SHORT = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const LONG = new Intl.DateTimeFormat(LOCALE, {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});
const TIME = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", hour12: false });
const SECONDS = new Intl.DateTimeFormat(LOCALE, { timeStyle: "medium", hour12: false });
const ZONED = new Intl.DateTimeFormat(LOCALE, {
  dateStyle: "full",
  timeStyle: "long",
  hour12: false,
});
const MONTH = new Intl.DateTimeFormat(LOCALE, { month: "short" });
const MEGABYTES = new Intl.NumberFormat(LOCALE, {
  style: "unit",
  unit: "megabyte",
  maximumFractionDigits: 1,
});
const ORDINAL = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };

/** The time zone of this browser, as dates are shown and days are counted. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function number(value: number): string {
  return NUMBER.format(value);
}

/** `1.4 MB`. */
export function bytes(value: number): string {
  return MEGABYTES.format(value / 1e6);
}

/** From 0 to 1, with two decimals. */
export function share(value: number): string {
  return value.toFixed(2);
}

export function ordinal(value: number): string {
  return `${value}${ENDINGS[ORDINAL.select(value)] ?? "th"}`;
}

/** `22 Nov 2026`. */
export function date(instant: string): string {
  return SHORT.format(new Date(instant));
}

/** `Sunday 22 November 2026`, of a day as `YYYY-MM-DD` in this time zone. */
export function longDate(day: string): string {
  return LONG.format(startOfDay(day));
}

/** `16:03`. */
export function time(instant: string): string {
  return TIME.format(new Date(instant));
}

/** `22 Nov 2026, 16:03`. */
export function dateTime(instant: string): string {
  return `${date(instant)}, ${time(instant)}`;
}

/** `16:03:24`, of milliseconds since 1970. */
export function clockTime(ms: number): string {
  return SECONDS.format(ms);
}

/** With weekday, seconds and zone, for whoever points at a date. */
export function exactTime(instant: string): string {
  return ZONED.format(new Date(instant));
}

export function monthName(at: Date): string {
  return MONTH.format(at);
}

/** The first moment of `YYYY-MM-DD` in this time zone. @param plus days to add */
export function startOfDay(day: string, plus = 0): Date {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  const start = new Date(2000, 0, 1);
  // Years below 100 would otherwise be of the twentieth century.
  start.setFullYear(year, month - 1, date + plus);
  return start;
}

/** The day of an instant in this time zone, as `YYYY-MM-DD`. */
export function dayOf(instant: string): string {
  const at = new Date(instant);
  const parts = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0"));
  return [String(at.getFullYear()).padStart(4, "0"), ...parts].join("-");
}
