import { type Moment, monthOf, onDate, shift } from "./calendar.ts";
import {
  direction,
  FUTURE,
  type Match,
  moment,
  one,
  PAST,
  type Rule,
  rule,
} from "./english-rule.ts";
import type { Meaning } from "./expressions.ts";

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
/** Source of a pattern for a day of a month in words. */
export const ORDINAL =
  "(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|twent(?:y|ieth)|thirt(?:y|ieth))";
const ENDS_WITH_DAY = new RegExp(String.raw`(?:\d(?:st|nd|rd|th)?|${ORDINAL})[\s,-]*$`, "i");
const YEAR = String.raw`(?:19|20)\d\d`;
/** What may follow "on the 5th" when it is a date and not, say, a floor. */
const NO_NOUN = String.raw`(?=\s*(?:$|[^\p{L}\p{N}\s]|(?:and|or|at|with|for|from|to|by|when|where|what|who|how|why|did|do|does|was|were|is|are|have|has|had|I|we|he|she|they|you|it|my|our|the|that|but)(?![\p{L}\p{N}_])))`;

/** Days of an unnamed month. */
export const DAY_OF_MONTH_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:(?:on|by|since|until|till|before|after|from)\s+)?the\s+(?<day>\d{1,2})(?:st|nd|rd|th)\s+of\s+(?<which>this|last|next)\s+month`,
    ({ word }, reference) => {
      const sign = direction(word("which"));
      const month = sign === 0 ? reference : shift(reference, one("month"), sign);
      return dayOfMonth(Number(word("day")), month);
    },
  ),
  rule(
    String.raw`(?:on|by|since|until|till|before|after|from)\s+the\s+(?<day>\d{1,2})(?:st|nd|rd|th)${NO_NOUN}`,
    ({ word }, reference) => dayOfMonth(Number(word("day")), reference),
  ),
];

/** Months and decades. */
export const MONTH_RULES: readonly Rule[] = [
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
  // "may" and, in lower case, "march" and "mar" are ordinary words.
  if (alone && (name === "may" || /^mar(?:ch)?$/.test(raw("month")))) return undefined;
  // "5 March" and "the fifth of March" are dates of one day.
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

/** The year of `last March` and `next March`; undefined for the current one, which another date may still override. */
function yearOf(which: string, month: number, reference: Moment): number | undefined {
  const now = monthOf(reference);
  const sign = direction(which);
  if (sign === -1) return month < now.month ? now.year : now.year - 1;
  return sign === 1 ? (month > now.month ? now.year : now.year + 1) : undefined;
}

/** Amounts of money, grouped numbers, times and paths contain four digits too. */
const BEFORE_NO_YEAR = new RegExp(String.raw`(?:[$€£¥#.:/+]|\d[ ,]|(?<!\p{L}|${YEAR})[-–])$`, "u");
/** A year by itself, in a text whose other dates are masked already. */
export const BARE_YEAR = rule(
  String.raw`(?:(?:in|during|since|until|till|by|of)\s+)?(?:the\s+year\s+)?(?<year>${YEAR})(?!%|[.,:/]\d|[-–](?!${YEAR}(?!\d))\d)`,
  ({ word, before }) =>
    BEFORE_NO_YEAR.test(before) ? undefined : date({ year: Number(word("year")) }),
);
