import type { Chrono, Component, ParsedResult } from "chrono-node/en";
import { addDays, type Clock, type Moment, onDate, startOfDay, weekdayOf } from "./calendar.ts";
import type { Expression, Meaning } from "./expressions.ts";

type ParsedComponents = ParsedResult["start"];

/** The part of the parser that this folder uses. */
export type Parser = Pick<Chrono, "parse">;

/** How a parser's findings are interpreted. */
export type Reading = {
  /** Expressions that count from the reference: `vor zwei Wochen`. */
  readonly relative: boolean;
};

/** `3/4` is a date only if the words around it say so. */
const FRACTION = /^\d{1,2}\/\d{1,2}$/;
const BEFORE_DATE = /\b(?:on|by|since|until|till|before|after|from|to|of|for|between|and)\s+$/i;

/** Words of other languages than English that make a weekday one of the future, or of the past. */
const NEXT = besideWeekday(
  "n[äa]chste|kommende|prochain|prossim|pr[óo]xim|volgende|komende|следующ",
  "que\\s+(?:viene|vem)",
);
const LAST = besideWeekday(
  "letzte|vergangene|vorige|dernier|scors|passat|pasad|passad|[úu]ltim|afgelopen|прошл",
);

/** Patterns for a text that ends with the name of a day, and for one that begins after it. */
function besideWeekday(words: string, after = words) {
  const word = String.raw`(?:${words})\p{L}*`;
  return {
    before: new RegExp(String.raw`(?<!\p{L})${word}\s+\S+$|\s${word}\s*$`, "iu"),
    after: new RegExp(String.raw`^\s+(?:${word}|${after})(?!\p{L})`, "iu"),
  };
}

/**
 * The dates and times of day that a parser finds in a text. Only parts written in the text are used; missing parts are
 * filled in here, in UTC, so that the machine's time zone has no influence.
 */
export function readFigures(
  parser: Parser,
  text: string,
  reference: Moment,
  reading: Reading,
): Expression[] {
  const results = parser.parse(text, { instant: new Date(reference.ms), timezone: "UTC" });
  return results.flatMap((result) => {
    const { index: at, text: value } = result;
    const end = at + value.length;
    if (FRACTION.test(value) && !BEFORE_DATE.test(text.slice(Math.max(0, at - 12), at))) return [];
    const before = text.slice(Math.max(0, at - 16), end);
    const stands = (words: typeof NEXT): boolean =>
      words.before.test(before) || words.after.test(text.slice(end));
    const direction = stands(NEXT) ? 1 : stands(LAST) ? -1 : 0;
    return [result.start, ...(result.end ? [result.end] : [])].flatMap((part) => {
      const meaning = meaningOf(part, result, reference, { ...reading, direction });
      return meaning === undefined ? [] : [{ at, end, meaning }];
    });
  });
}

function meaningOf(
  part: ParsedComponents,
  result: ParsedResult,
  reference: Moment,
  { relative, direction }: Reading & { readonly direction: 1 | 0 | -1 },
): Meaning | undefined {
  if (isCounted(part)) {
    return relative ? day({ ms: part.date().getTime(), below: reference.below }) : undefined;
  }
  const clock = clockOf(part, result.text);
  const month = known(part, "month");
  if (month !== undefined) {
    const year = known(part, "year") ?? known(result.start, "year") ?? endYear(result);
    const parts = { year, month, day: known(part, "day") };
    // A day without a digit is a word such as "gestern", which keeps the time of day.
    const isNamed = relative && parts.day !== undefined && !/\d/.test(result.text);
    return isNamed
      ? day(atTimeOf(reference, onDate(parts, reference)))
      : { kind: "date", parts, clock };
  }
  const weekday = relative ? known(part, "weekday") : undefined;
  if (weekday !== undefined) return onWeekday(weekday, direction, reference);
  return clock && { kind: "clock", clock };
}

/** The last such day up to today, unless a word beside it says which. @param weekday 0 is Sunday */
function onWeekday(weekday: number, direction: 1 | 0 | -1, reference: Moment): Meaning {
  const today = startOfDay(reference);
  const back = (weekdayOf(today) - weekday + 7) % 7;
  const days = direction === 1 ? 7 - back : direction === -1 && back === 0 ? -7 : -back;
  return day(addDays(today, days));
}

function day(moment: Moment): Meaning {
  return { kind: "moment", moment, isDay: true, isWeekday: false };
}

function atTimeOf(reference: Moment, { ms }: Moment): Moment {
  return { ms: ms + reference.ms - startOfDay(reference).ms, below: reference.below };
}

/** Whether the parser counted it from the reference. */
function isCounted(part: ParsedComponents): boolean {
  return [...part.tags()].some((tag) => /^(?:result\/relative|casualReference\/)/.test(tag));
}

function endYear({ end }: ParsedResult): number | undefined {
  return end ? known(end, "year") : undefined;
}

/** A part that is written in the text, not one that the parser implied. */
function known(part: ParsedComponents, component: Component): number | undefined {
  return part.isCertain(component) ? (part.get(component) ?? undefined) : undefined;
}

/** A bare number such as the one in "at 6 Elm Street" is not a time of day. */
const TIME = /\d:\d|\d\s*[ap]\.?m\b|clock|\bnight\b|morning|afternoon|\dT\d|\d\s*(?:h|uhr)\b/i;

function clockOf(part: ParsedComponents, text: string): Clock | undefined {
  const hour = known(part, "hour");
  if (hour === undefined || !TIME.test(text)) return undefined;
  return {
    hour,
    minute: known(part, "minute") ?? 0,
    second: known(part, "second") ?? 0,
    millisecond: known(part, "millisecond") ?? 0,
    offset: known(part, "timezoneOffset"),
  };
}
