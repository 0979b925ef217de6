import { NUMBER_WORDS } from "../../lib/number-words.ts";
import type { Amount, Unit } from "./calendar.ts";

const TENS = [
  "twenty",
  "thirty",
  "forty",
  "fifty",
  "sixty",
  "seventy",
  "eighty",
  "ninety",
] as const;

const VALUES: ReadonlyMap<string, number> = new Map<string, number>([
  ...NUMBER_WORDS.map((word, index) => [word, index + 1] as const),
  ...TENS.map((word, index) => [word, (index + 2) * 10] as const),
  ["hundred", 100],
  ["a", 1],
  ["an", 1],
  ["couple", 2],
  // A small, unspecified number.
  ["few", 3],
  ["several", 3],
]);

const DIGITS = String.raw`\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d{1,4})?`;
const WORDS = [
  String.raw`(?:a\s+)?couple(?:\s+of)?`,
  String.raw`(?:a\s+)?few`,
  "several",
  String.raw`(?:(?:a|one)\s+)?hundred`,
  String.raw`(?:${TENS.join("|")})(?:[\s-]+(?:${NUMBER_WORDS.slice(0, 9).join("|")}))?`,
  // Longer words first: "seventeen" is not "seven".
  ...[...NUMBER_WORDS].reverse(),
  "an?",
].join("|");

const UNIT_WORDS: ReadonlyMap<string, Unit> = new Map<string, Unit>([
  ["sec", "second"],
  ["min", "minute"],
  ["hr", "hour"],
  ["night", "day"],
  ["wk", "week"],
  ["yr", "year"],
  ["centurie", "century"],
]);
const UNIT = String.raw`(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|fortnights?|months?|quarters?|years?|yrs?|decades?|centur(?:y|ies))(?![\p{L}\p{N}_])`;

/** One number with its unit: `3 weeks`, `half an hour`, `two and a half years`, `a year and a half`. */
const ONE = String.raw`(?:half\s+an?\s+${UNIT}|(?:${DIGITS}|${WORDS})(?:\s+and\s+a\s+half)?\s*${UNIT}(?:\s+and\s+a\s+half(?![\p{L}\p{N}_]))?)`;

/** Source of a pattern for one to four numbers with units: `2 years and 3 months`. */
export const AMOUNTS = String.raw`(?:(?:about|around|roughly|approximately|almost|nearly|over|just|exactly)\s+)?${ONE}(?:(?:\s*,)?\s*(?:and\s+)?${ONE}){0,3}`;

const EACH = new RegExp(
  String.raw`(?<halfOnly>half\s+an?\s+)?(?:(?<number>${DIGITS}|${WORDS})(?<halfBefore>\s+and\s+a\s+half)?\s*)?(?<unit>${UNIT})(?<halfAfter>\s+and\s+a\s+half(?![\p{L}\p{N}_]))?`,
  "giu",
);

/** The amounts in a text that `AMOUNTS` matched. */
export function readAmounts(text: string): Amount[] {
  return [...text.matchAll(EACH)].map(({ groups = {} }) => {
    const half = groups["halfBefore"] !== undefined || groups["halfAfter"] !== undefined ? 0.5 : 0;
    const count = groups["halfOnly"] === undefined ? numberOf(groups["number"] ?? "a") + half : 0.5;
    return { count, unit: unitOf(groups["unit"] ?? "") };
  });
}

/** The unit of a word such as `weeks`; callers pass words that `AMOUNTS` knows. */
export function unitOf(word: string): Unit {
  const singular = word.toLowerCase().replace(/s$/, "");
  // SAFETY: what no synonym names is the name of a unit itself.
  return UNIT_WORDS.get(singular) ?? (singular as Unit);
}

function numberOf(text: string): number {
  if (/^\d/.test(text)) return Number(text.replaceAll(",", ""));
  return text
    .toLowerCase()
    .replace(/^an?\s+(?=couple|few|hundred)|^one\s+(?=hundred)|\s+of$/g, "")
    .split(/[\s-]+/)
    .reduce((total, word) => total + (VALUES.get(word) ?? 0), 0);
}

/** Whether a text that `AMOUNTS` matched begins with `a`, `an` or `one`, which "twice a day" does too. */
export function isSingle(text: string): boolean {
  return /^(?:an?|one)\s+(?!couple|few|hundred)/i.test(text);
}
