import { foldCase } from "../../lib/text.ts";
import { plainText, withoutNegation } from "./cues.ts";

/** English words without content of their own, and the remains of contractions. */
const FUNCTION_WORDS = new Set(
  `a about above after again all also am an and any are aren as at be because been before being below between both but by
  can could couldn d did didn do does doesn doing don down during each either ever for from further had hadn has hasn have
  haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most
  mustn my myself no nor now of off on once only or other our ours ourselves out over own re s same shan she should
  shouldn so some such t than that the their theirs them themselves then there these they this those through to too
  under until up ve very was wasn we were weren what when where which while who whom why will with would wouldn you your
  yours yourself yourselves`.split(/\s+/),
);

/** Weekdays and months. */
const DATE_NAMES =
  `monday tuesday wednesday thursday friday saturday sunday january february april june july august september october
  november december`.split(/\s+/);
/** These are also ordinary words, so only the capital letter distinguishes them. */
const CAPITAL_MONTHS = ["March", "May"];

const WORD = /\p{L}[\p{L}\p{N}_-]*/gu;
const NUMBER = /(?<![\p{L}\p{N}])\p{Nd}+(?:[.,:]\p{Nd}+)*/gu;

/** The content words of a text in a common form: case folded, plurals stripped, without function words and negation. */
export function contentWords(text: string): ReadonlySet<string> {
  const words = (withoutNegation(text).match(WORD) ?? []).map(foldCase);
  return new Set(words.filter((word) => !FUNCTION_WORDS.has(word)).map(singular));
}

function singular(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

/** The numbers, weekdays and months that a text names. */
export function numbersAndDates(text: string): ReadonlySet<string> {
  const plain = plainText(text);
  const numbers = (plain.match(NUMBER) ?? []).map((number) => number.replaceAll(",", ""));
  const words = plain.match(WORD) ?? [];
  const names = words.map(foldCase).filter((word) => DATE_NAMES.includes(word));
  const months = words.filter((word) => CAPITAL_MONTHS.includes(word)).map(foldCase);
  return new Set([...numbers, ...names, ...months]);
}
