import { addDays, atClock, type Clock, type Moment, startOfDay, weekdayOf } from "./calendar.ts";
import { direction, FUTURE, type Match, moment, PAST, type Rule, rule } from "./english-rule.ts";
import { dayAt, type Meaning } from "./expressions.ts";

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const WEEKDAY =
  "sunday|monday|tuesday|wednesday|thursday|friday|saturday|sun|mon|tues?|wed|thu(?:rs?)?|fri|sat";
const PREPOSITION = String.raw`(?:on|by|since|until|till)\s+`;

const HOURS: ReadonlyMap<string, number> = new Map([
  ["morning", 9],
  ["noon", 12],
  ["afternoon", 15],
  ["evening", 18],
  ["night", 20],
  ["midnight", 0],
]);
const PART = `(?<part>${[...HOURS.keys()].join("|")})`;
const PART_AFTER = String.raw`(?:\s+(?:at\s+|in\s+the\s+)?${PART})?`;

function clockOf(part: string): Clock | undefined {
  const hour = HOURS.get(part);
  return hour === undefined
    ? undefined
    : { hour, minute: 0, second: 0, millisecond: 0, offset: undefined };
}

/** A day, or the named part of it. */
function dayOrPart(day: Meaning, part: string): Meaning {
  const clock = clockOf(part);
  return clock === undefined || day.kind !== "moment"
    ? day
    : { ...day, moment: atClock(day.moment, clock), isDay: false };
}

const NEAR_DAYS: ReadonlyMap<string, number> = new Map([
  ["yesterday", -1],
  ["today", 0],
  ["tomorrow", 1],
]);

/** Days relative to the reference, weekdays and parts of a day. */
export const DAY_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:the\s+)?day\s+(?<which>before\s+yesterday|after\s+tomorrow)${PART_AFTER}`,
    ({ word }, reference) =>
      dayOrPart(dayAt(reference, word("which").startsWith("before") ? -2 : 2), word("part")),
  ),
  rule(`(?<day>yesterday|today|tomorrow)${PART_AFTER}`, ({ word }, reference) =>
    dayOrPart(dayAt(reference, NEAR_DAYS.get(word("day")) ?? 0), word("part")),
  ),
  rule(
    String.raw`last\s+(?<part>morning|afternoon|evening|night)|this\s+(?<here>morning|afternoon|evening)|(?:late\s+)?(?<tonight>tonight)`,
    ({ word }, reference) => {
      if (word("part") !== "") return dayOrPart(dayAt(reference, -1), word("part"));
      return dayOrPart(dayAt(reference, 0), word("here") === "" ? "night" : word("here"));
    },
  ),
  rule(
    String.raw`(?:${PREPOSITION})?(?<day>${WEEKDAY})\s+(?:of\s+)?(?<which>last|this|next)\s+week`,
    ({ word }, reference) => {
      const week = { last: -7, this: 0, next: 7 }[word("which")] ?? 0;
      const monday = -((weekdayOf(reference) + 6) % 7);
      const place = (weekdayIndex(word("day")) + 6) % 7;
      return weekday(addDays(startOfDay(reference), monday + week + place));
    },
  ),
  rule(
    String.raw`(?<prefix>${PREPOSITION})?(?:the\s+)?(?:(?<which>this\s+past|${PAST}|this|${FUTURE})\s+)?(?<day>${WEEKDAY}|weekend)\s+(?<suffix>before|prior\s+to|after|following)`,
    readBeside,
  ),
  rule(
    String.raw`(?<prefix>${PREPOSITION})?(?:the\s+)?(?:(?<which>this\s+past|${PAST}|this|${FUTURE})\s+)?(?<day>${WEEKDAY})\.?${PART_AFTER}`,
    readWeekday,
  ),
  rule(
    String.raw`(?:(?:on|over|at|since|during|by|until)\s+)?(?:the\s+)?(?:(?<which>this\s+past|${PAST}|this|${FUTURE})\s+)?weekend`,
    readWeekend,
  ),
  rule(String.raw`(?:at\s+)?(?<part>noon|midnight)`, ({ word }) => {
    const clock = clockOf(word("part"));
    return clock && { kind: "clock", clock };
  }),
];

function readWeekday({ word, raw }: Match, reference: Moment): Meaning | undefined {
  const isBare = word("prefix") === "" && word("which") === "";
  // Ordinary words when they are alone and in lower case.
  if (isBare && /^(?:sun|mon|wed|sat)$/.test(raw("day"))) return undefined;
  const today = startOfDay(reference);
  const back = daysBack(today, weekdayIndex(word("day")));
  return dayOrPart(weekday(addDays(today, weekdayOffset(word("which"), back))), word("part"));
}

function readWeekend({ word }: Match, reference: Moment): Meaning {
  const today = startOfDay(reference);
  const back = daysBack(today, SATURDAY);
  return moment(addDays(today, weekendOffset(word("which"), back)), true);
}

/** `the Sunday before`: counts from the date that follows; without one it means the day itself. */
function readBeside(match: Match, reference: Moment): Meaning | undefined {
  const { word } = match;
  const isWeekend = word("day") === "weekend";
  const itself = isWeekend ? readWeekend(match, reference) : readWeekday(match, reference);
  if (itself?.kind !== "moment") return undefined;
  const index = isWeekend ? SATURDAY : weekdayIndex(word("day"));
  const isEarlier = /^(?:before|prior)/.test(word("suffix"));
  return {
    kind: "shift",
    move: (anchor) => {
      const day = startOfDay(anchor);
      const back = daysBack(day, index);
      if (!isEarlier) return addDays(day, 7 - back);
      // The weekend before a Sunday is not the one that the Sunday belongs to.
      return addDays(day, back <= (isWeekend ? 1 : 0) ? -back - 7 : -back);
    },
    needsDate: true,
    alone: itself.moment,
  };
}

const SATURDAY = 6;

/** Days from a weekday to a day that follows it, 0 to 6. */
function daysBack(day: Moment, index: number): number {
  return (weekdayOf(day) - index + 7) % 7;
}

function weekday(value: Moment): Meaning {
  return { kind: "moment", moment: value, isDay: true, isWeekday: true };
}

/** Days to the weekday that was `back` days ago, or today for 0. */
function weekdayOffset(which: string, back: number): number {
  if (which === "last" || which === "previous") return back === 0 ? -7 : -back;
  return which === "this" || direction(which) === 1 ? 7 - back : -back;
}

/** Days to the Saturday in question; the latest one was `back` days ago, 0 or 1 during a weekend. */
function weekendOffset(which: string, back: number): number {
  const isNow = back <= 1;
  if (which === "last" || which === "previous") return isNow ? -back - 7 : -back;
  if (which === "this") return isNow ? -back : 7 - back;
  return direction(which) === 1 ? 7 - back : -back;
}

function weekdayIndex(word: string): number {
  return WEEKDAYS.findIndex((start) => word.startsWith(start));
}
