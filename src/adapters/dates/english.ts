import { AMOUNTS, isSingle, readAmounts, unitOf } from "./amounts.ts";
import {
  type Amount,
  addDays,
  atClock,
  type Clock,
  type Moment,
  monthOf,
  onDate,
  shift,
  startOfDay,
  type Unit,
  weekdayOf,
} from "./calendar.ts";
import { dayAt, type Expression, type Meaning, masked } from "./expressions.ts";

type Match = {
  /** Named groups in lower case; blank where one did not take part. */
  readonly word: (name: string) => string;
  /** The group as it is written. */
  readonly raw: (name: string) => string;
  readonly before: string;
  readonly after: string;
};
type Rule = {
  readonly pattern: RegExp;
  readonly read: (match: Match, reference: Moment) => Meaning | undefined;
};

/** A rule for whole words in any case. */
function rule(source: string, read: Rule["read"]): Rule {
  return {
    pattern: new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${source})(?![\p{L}\p{N}_])`, "giu"),
    read,
  };
}

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const WEEKDAY =
  "sunday|monday|tuesday|wednesday|thursday|friday|saturday|sun|mon|tues?|wed|thu(?:rs?)?|fri|sat";
const MONTHS = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
] as const;
const MONTH =
  "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec";
const PREPOSITION = String.raw`(?:on|by|since|until|till)\s+`;
const PAST = "last|past|previous";
const FUTURE = "next|coming|following|upcoming";

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

/** A day, or the part of it that is named. */
function dayOrPart(day: Meaning, part: string): Meaning {
  const clock = clockOf(part);
  return clock === undefined || day.kind !== "moment"
    ? day
    : { ...day, moment: atClock(day.moment, clock), isDay: false };
}

function moment(value: Moment, isDay = false): Meaning {
  return { kind: "moment", moment: value, isDay, isWeekday: false };
}

function one(unit: Unit, count = 1): Amount[] {
  return [{ count, unit }];
}

/** -1 for words of the past, 1 for those of the future, 0 for others. */
function direction(word: string): -1 | 0 | 1 {
  if (/^(?:last|past|previous)$/.test(word)) return -1;
  return /^(?:next|coming|following|upcoming)$/.test(word) ? 1 : 0;
}

const NEAR_DAYS: ReadonlyMap<string, number> = new Map([
  ["yesterday", -1],
  ["today", 0],
  ["tomorrow", 1],
]);

const DAY_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:(?:on|by|since|until|till|before|after|from)\s+)?the\s+(?<day>\d{1,2})(?:st|nd|rd|th)\s+of\s+(?<which>this|last|next)\s+month`,
    ({ word }, reference) => {
      const sign = direction(word("which"));
      const month = sign === 0 ? reference : shift(reference, one("month"), sign);
      return dayOfMonth(Number(word("day")), month);
    },
  ),
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
    String.raw`(?<prefix>${PREPOSITION})?(?:the\s+)?(?:(?<which>this\s+past|${PAST}|this|${FUTURE})\s+)?(?<day>${WEEKDAY})\.?${PART_AFTER}`,
    ({ word, raw }, reference) => {
      const bare = word("prefix") === "" && word("which") === "";
      // Words of their own when they stand alone in small letters.
      if (bare && /^(?:sun|mon|wed|sat)$/.test(raw("day"))) return undefined;
      const today = startOfDay(reference);
      const back = (weekdayOf(today) - weekdayIndex(word("day")) + 7) % 7;
      return dayOrPart(weekday(addDays(today, weekdayOffset(word("which"), back))), word("part"));
    },
  ),
  rule(
    String.raw`(?:(?:on|over|at|since|during|by|until)\s+)?(?:the\s+)?(?:(?<which>this\s+past|${PAST}|this|${FUTURE})\s+)?weekend`,
    ({ word }, reference) => {
      const today = startOfDay(reference);
      const back = (weekdayOf(today) + 1) % 7;
      return moment(addDays(today, weekendOffset(word("which"), back)), true);
    },
  ),
  rule(String.raw`(?:at\s+)?(?<part>noon|midnight)`, ({ word }) => {
    const clock = clockOf(word("part"));
    return clock && { kind: "clock", clock };
  }),
];

function weekday(value: Moment): Meaning {
  return { kind: "moment", moment: value, isDay: true, isWeekday: true };
}

/** Days to the weekday that was `back` days ago, or today for 0. */
function weekdayOffset(which: string, back: number): number {
  if (which === "last" || which === "previous") return back === 0 ? -7 : -back;
  return which === "this" || direction(which) === 1 ? 7 - back : -back;
}

/** Days to the Saturday that is meant; the latest one was `back` days ago, 0 or 1 during a weekend. */
function weekendOffset(which: string, back: number): number {
  const isNow = back <= 1;
  if (which === "last" || which === "previous") return isNow ? -back - 7 : -back;
  if (which === "this") return isNow ? -back : 7 - back;
  return direction(which) === 1 ? 7 - back : -back;
}

function weekdayIndex(word: string): number {
  return WEEKDAYS.findIndex((start) => word.startsWith(start));
}

const UNIT_WORD = "week|fortnight|month|quarter|year|decade|century";

const SPAN_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:the\s+)?(?<unit>${UNIT_WORD})\s+(?<which>before\s+last|after\s+next)`,
    ({ word }, reference) => {
      const sign = word("which").startsWith("before") ? -1 : 1;
      return moment(shift(reference, one(unitOf(word("unit")), 2), sign));
    },
  ),
  rule(
    String.raw`(?:(?<prefix>in|for|within|over|during|since)\s+)?(?:(?:the\s+)?(?<which>${PAST}|${FUTURE})\s+)?(?<amounts>${AMOUNTS})(?:\s+(?<suffix>ago|earlier|previously|back|later|hence|from\s+(?:now|today)|before|prior\s+to|prior|after|following|from))?`,
    readAmount,
  ),
  rule(
    String.raw`the\s+(?<unit>day|night|week|month|quarter|year)\s+(?<suffix>before|prior\s+to|after|following)`,
    ({ word }) => ({
      kind: "shift",
      amounts: one(unitOf(word("unit"))),
      sign: /^(?:before|prior)/.test(word("suffix")) ? -1 : 1,
      alone: undefined,
    }),
  ),
  rule(
    String.raw`(?:(?:in|during|over|for|since|within|by)\s+)?(?:the\s+)?(?:this\s+)?(?<which>${PAST}|this|current|${FUTURE})\s+(?<unit>${UNIT_WORD}|hour|day)`,
    ({ word }, reference) => {
      const sign = direction(word("which"));
      if (sign === 0)
        return /^(?:hour|day)$/.test(word("unit")) ? undefined : moment(reference, false);
      return moment(shift(reference, one(unitOf(word("unit"))), sign));
    },
  ),
];

const AGO = /^(?:ago|earlier|previously|back|prior)$/;
const LATER = /^(?:later|hence|from\s+(?:now|today))$/;

function readAmount(match: Match, reference: Moment): Meaning | undefined {
  const { word, raw, after } = match;
  const amounts = readAmounts(raw("amounts"));
  const suffix = word("suffix");
  const past = shift(reference, amounts, -1);
  const future = shift(reference, amounts, 1);
  const isDay = amounts.every(({ unit }) => !/second|minute|hour/.test(unit));
  if (AGO.test(suffix)) return moment(past, isDay);
  if (LATER.test(suffix)) return moment(future, isDay);
  if (suffix === "before" || suffix.startsWith("prior")) {
    return { kind: "shift", amounts, sign: -1, alone: past };
  }
  if (suffix !== "") {
    return { kind: "shift", amounts, sign: 1, alone: suffix === "from" ? undefined : future };
  }
  const sign = direction(word("which"));
  if (sign !== 0) return moment(sign === -1 ? past : future);
  if (word("prefix") === "in") return moment(future);
  // "once a day" and "five years old" name no moment.
  if (word("prefix") === "" && isSingle(raw("amounts"))) return undefined;
  return /^(?:\s+|-)old\b/i.test(after) ? undefined : moment(past);
}

/** Source of a pattern for a day of a month in words. */
export const ORDINAL =
  "(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|twent(?:y|ieth)|thirt(?:y|ieth))";
const ENDS_WITH_DAY = new RegExp(String.raw`(?:\d(?:st|nd|rd|th)?|${ORDINAL})[\s,-]*$`, "i");
const YEAR = String.raw`(?:19|20)\d\d`;
/** What may follow "on the 5th" when it is a date and not, say, a floor. */
const NO_NOUN = String.raw`(?=\s*(?:$|[^\p{L}\p{N}\s]|(?:and|or|at|with|for|from|to|by|when|where|what|who|how|why|did|do|does|was|were|is|are|have|has|had|I|we|he|she|they|you|it|my|our|the|that|but)(?![\p{L}\p{N}_])))`;

const MONTH_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:on|by|since|until|till|before|after|from)\s+the\s+(?<day>\d{1,2})(?:st|nd|rd|th)${NO_NOUN}`,
    ({ word }, reference) => dayOfMonth(Number(word("day")), reference),
  ),
  rule(
    String.raw`(?:in\s+)?(?<year>${YEAR})[-/](?<month>0[1-9]|1[0-2])(?![-/.]\d)`,
    ({ word, before }) =>
      /[\d/.-]$/.test(before)
        ? undefined
        : date({ year: Number(word("year")), month: Number(word("month")) }),
  ),
  rule(
    String.raw`(?:(?<prefix>in|during|since|until|till|by|of)\s+)?(?:(?<part>early|mid|late)[\s-]+)?(?:(?<which>${PAST}|this|${FUTURE})\s+)?(?<month>${MONTH})(?:\.?(?:\s*,\s*|\s+of\s+|\s+|[-/])(?:(?<year>${YEAR})|['’](?<short>\d\d))|(?!\.?[\s,/-]*(?:\d|${ORDINAL})))`,
    readMonth,
  ),
  rule(
    String.raw`(?:(?:in|during|since|of|from)\s+)?(?:the\s+(?:(?:early|mid|late)[\s-]+)?(?:(?<ages>19|20)|['’])?(?<tens>\d)0['’]?s|(?<age>19|20)(?<ten>\d)0['’]?s|the\s+(?:(?:early|mid|late)[\s-]+)?(?<name>twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties))`,
    ({ word }, reference) => {
      const name = word("name");
      const tens = name === "" ? Number(word("tens") || word("ten")) : DECADES.indexOf(name);
      const written = word("ages") || word("age");
      if (written !== "") return date({ year: Number(written) * 100 + tens * 10 });
      const { year } = monthOf(reference);
      const start = Math.floor(year / 100) * 100 + tens * 10;
      return date({ year: start > year ? start - 100 : start });
    },
  ),
];

const DECADES = [
  "",
  "",
  "twenties",
  "thirties",
  "forties",
  "fifties",
  "sixties",
  "seventies",
  "eighties",
  "nineties",
];

function date(parts: { readonly year: number; readonly month?: number }): Meaning {
  const { year, month } = parts;
  return { kind: "date", parts: { year, month, day: undefined }, clock: undefined };
}

function dayOfMonth(day: number, month: Moment): Meaning | undefined {
  if (day < 1 || day > 31) return undefined;
  return moment(onDate({ year: undefined, month: undefined, day }, month), true);
}

function readMonth({ word, raw, before }: Match, reference: Moment): Meaning | undefined {
  const name = word("month");
  const which = word("which");
  const year = Number(word("year")) || shortYear(word("short"));
  const alone = word("prefix") === "" && word("part") === "" && which === "" && year === undefined;
  // "may" and, in small letters, "march" and "mar" are words of their own.
  if (alone && (name === "may" || /^mar(?:ch)?$/.test(raw("month")))) return undefined;
  // "5 March" and "the fifth of March" are dates of a day.
  if ((word("prefix") === "" || word("prefix") === "of") && ENDS_WITH_DAY.test(before)) {
    return undefined;
  }
  const month = MONTHS.findIndex((start) => name.startsWith(start)) + 1;
  return {
    kind: "date",
    parts: { year: year ?? yearOf(which, month, reference), month, day: undefined },
    clock: undefined,
  };
}

function shortYear(digits: string): number | undefined {
  if (digits === "") return undefined;
  return Number(digits) + (Number(digits) > 50 ? 1900 : 2000);
}

/** The year of `last March` and `next March`; undefined for the current one, which another date may still replace. */
function yearOf(which: string, month: number, reference: Moment): number | undefined {
  const now = monthOf(reference);
  const sign = direction(which);
  if (sign === -1) return month < now.month ? now.year : now.year - 1;
  return sign === 1 ? (month > now.month ? now.year : now.year + 1) : undefined;
}

/** Amounts of money, numbers of several groups, times and paths hold four digits too. */
const BEFORE_NO_YEAR = new RegExp(String.raw`(?:[$€£¥#.:/+]|\d[ ,]|(?<!\p{L}|${YEAR})[-–])$`, "u");
const BARE_YEAR = rule(
  String.raw`(?:(?:in|during|since|until|till|by|of)\s+)?(?:the\s+year\s+)?(?<year>${YEAR})(?!%|[.,:/]\d|[-–](?!${YEAR}(?!\d))\d)`,
  ({ word, before }) =>
    BEFORE_NO_YEAR.test(before) ? undefined : date({ year: Number(word("year")) }),
);

/** The expressions of words, and months and decades, that an English text holds. */
export function readWords(text: string, reference: Moment): Expression[] {
  return readRules(text, reference, [...DAY_RULES, ...SPAN_RULES, ...MONTH_RULES]);
}

/** The years that stand alone in a text whose dates are covered already. */
export function readYears(text: string, reference: Moment): Expression[] {
  return readRules(text, reference, [BARE_YEAR]);
}

function readRules(text: string, reference: Moment, rules: readonly Rule[]): Expression[] {
  const found: Expression[] = [];
  let rest = text;
  for (const { pattern, read } of rules) {
    const here: Expression[] = [];
    for (const match of rest.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const raw = (name: string) => match.groups?.[name] ?? "";
      const meaning = read(
        {
          raw,
          word: (name) => raw(name).toLowerCase(),
          before: rest.slice(Math.max(0, match.index - 24), match.index),
          after: rest.slice(end, end + 8),
        },
        reference,
      );
      if (meaning !== undefined) here.push({ at: match.index, end, meaning });
    }
    rest = masked(rest, here);
    found.push(...here);
  }
  return found;
}
