import type { DateSignal } from "../../ports/date-reader.ts";
import {
  addDays,
  atClock,
  type Clock,
  type DateParts,
  type Moment,
  onDate,
  toInstant,
} from "./calendar.ts";

/** What a piece of a text says about time. */
export type Meaning =
  | { readonly kind: "date"; readonly parts: DateParts; readonly clock: Clock | undefined }
  | {
      readonly kind: "moment";
      readonly moment: Moment;
      /** An adjacent time of day belongs to it. */
      readonly isDay: boolean;
      /** The name of a weekday; an adjacent full date overrides it. */
      readonly isWeekday: boolean;
    }
  | { readonly kind: "clock"; readonly clock: Clock }
  | {
      /** `two weeks before`: moves the date that follows; `alone` is what it means without one. */
      readonly kind: "shift";
      readonly move: (anchor: Moment) => Moment;
      /** Counts only from a day, not from a time of day alone. */
      readonly needsDate: boolean;
      readonly alone: Moment | undefined;
    };

/** A piece of a text, from `at` to `end` (exclusive), and what it says. */
export type Expression = { readonly at: number; readonly end: number; readonly meaning: Meaning };

/** Replaces expressions that have been read: neither a blank nor part of a word. */
const MASK = "\u0000";

/** A text with these expressions masked; its length does not change. */
export function masked(text: string, expressions: readonly Expression[]): string {
  let rest = text;
  for (const { at, end } of expressions) {
    rest = rest.slice(0, at) + MASK.repeat(end - at) + rest.slice(end);
  }
  return rest;
}

/**
 * The dates of the expressions, in text order, after neighbours are joined: a time of day with its day, a weekday with its
 * date, `two weeks before` with what follows, a year with the other end of its span.
 */
export function toSignals(
  text: string,
  expressions: readonly Expression[],
  reference: Moment,
): DateSignal[] {
  const sorted = [...expressions].sort((a, b) => a.at - b.at);
  const dated = spreadYears(text, join(text, joinShifts(text, join(text, sorted), reference)));
  return dated.flatMap(({ at, end, meaning }) => {
    const moment = momentOf(meaning, reference);
    const resolved = moment && toInstant(moment);
    if (resolved === undefined) return [];
    const value = text.slice(at, end).trim();
    return [{ type: /\d/.test(value) ? "ABSOLUTE" : "RELATIVE", value, resolved }];
  });
}

function momentOf(meaning: Meaning, reference: Moment): Moment | undefined {
  switch (meaning.kind) {
    case "moment":
      return meaning.moment;
    case "clock":
      return atClock(reference, meaning.clock);
    case "shift":
      return meaning.alone;
    case "date": {
      const day = onDate(meaning.parts, reference);
      return meaning.clock === undefined ? day : atClock(day, meaning.clock);
    }
  }
}

/** Joins times of day and weekdays with adjacent dates. */
function join(text: string, expressions: readonly Expression[]): Expression[] {
  const joined: Expression[] = [];
  for (const next of expressions) {
    const previous = joined.at(-1);
    const meaning =
      previous && pair(previous.meaning, next.meaning, text.slice(previous.end, next.at));
    if (previous === undefined || meaning === undefined) joined.push(next);
    else joined[joined.length - 1] = { at: previous.at, end: next.end, meaning };
  }
  return joined;
}

const WEEKDAY_GAP = /^,?\s*(?:the\s+)?\(?$/i;
const CLOCK_GAP = /^,?\s*(?:(?:at|around|about|by)\s+)?$/i;
const DAY_GAP = /^,?\s*(?:(?:on|of)\s+)?$/i;

/** What two neighbours mean together; undefined if they are unrelated. */
function pair(a: Meaning, b: Meaning, gap: string): Meaning | undefined {
  if (isWeekday(a) && isFullDate(b)) return WEEKDAY_GAP.test(gap) ? b : undefined;
  if (isFullDate(a) && isWeekday(b)) return WEEKDAY_GAP.test(gap) ? a : undefined;
  if (b.kind === "clock") return CLOCK_GAP.test(gap) ? withClock(a, b.clock) : undefined;
  return a.kind === "clock" && DAY_GAP.test(gap) ? withClock(b, a.clock) : undefined;
}

function isWeekday(meaning: Meaning): boolean {
  return meaning.kind === "moment" && meaning.isWeekday;
}

function isFullDate(meaning: Meaning): boolean {
  return meaning.kind === "date" && meaning.parts.day !== undefined;
}

function withClock(day: Meaning, clock: Clock): Meaning | undefined {
  if (day.kind === "moment" && day.isDay) {
    return { ...day, moment: atClock(day.moment, clock), isDay: false };
  }
  return day.kind === "date" && day.parts.day !== undefined && day.clock === undefined
    ? { ...day, clock }
    : undefined;
}

/** Moves each date that directly follows a shift. */
function joinShifts(
  text: string,
  expressions: readonly Expression[],
  reference: Moment,
): Expression[] {
  const joined: Expression[] = [];
  // From the end, so that the anchor of `a day before the week before March 5` is found first.
  for (const current of [...expressions].reverse()) {
    const anchor = joined[0];
    const { meaning } = current;
    const moment =
      meaning.kind === "shift" &&
      anchor !== undefined &&
      !(meaning.needsDate && anchor.meaning.kind === "clock") &&
      /^\s+(?:the\s+)?$/i.test(text.slice(current.end, anchor.at))
        ? momentOf(anchor.meaning, reference)
        : undefined;
    if (anchor === undefined || moment === undefined || meaning.kind !== "shift") {
      joined.unshift(current);
      continue;
    }
    joined[0] = {
      at: current.at,
      end: anchor.end,
      meaning: {
        kind: "moment",
        moment: meaning.move(moment),
        isDay: true,
        isWeekday: false,
      },
    };
  }
  return joined;
}

const SPAN_GAP = /^\s*(?:,|and|or|to|-|–|until|till|through)\s*$/i;

/** Gives a date without a year the year of the date at the other end of its span or in the same list. */
function spreadYears(text: string, expressions: readonly Expression[]): Expression[] {
  const dated = [...expressions];
  for (let index = dated.length - 2; index >= 0; index -= 1) {
    const current = dated[index];
    const next = dated[index + 1];
    if (current?.meaning.kind !== "date" || next?.meaning.kind !== "date") continue;
    const { parts } = current.meaning;
    if (parts.year !== undefined || next.meaning.parts.month === undefined) continue;
    if (current.at !== next.at && !SPAN_GAP.test(text.slice(current.end, next.at))) continue;
    dated[index] = {
      ...current,
      meaning: { ...current.meaning, parts: { ...parts, year: next.meaning.parts.year } },
    };
  }
  return dated;
}

/** The meaning of a whole day that lies `days` from another. */
export function dayAt(moment: Moment, days: number): Meaning {
  return { kind: "moment", moment: addDays(moment, days), isDay: true, isWeekday: false };
}
