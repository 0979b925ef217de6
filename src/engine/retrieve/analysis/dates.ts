import { foreignLanguages } from "../../../domain/language.ts";

const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday";
/** Without `may`, which is also an ordinary word. */
const MONTHS = "january february march april june july august september october november december";
const SHORT = "jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
/** Words that make a question one about time, separated by spaces. */
export const TEMPORAL_WORDS =
  "when last before after recent recently ago yesterday today tomorrow earlier later since until prior";
const HINTS =
  "now next past coming upcoming tonight weekend day days night nights week weeks month months year years hour hours minute minutes second seconds morning afternoon evening midnight noon decade decades fortnight quarter century";

const GATE = new RegExp(
  `\\d|(?<![a-z])(?:${[TEMPORAL_WORDS, WEEKDAYS, MONTHS, SHORT, HINTS].join(" ").replaceAll(" ", "|")})(?![a-z])`,
  "i",
);
const ALONE: ReadonlySet<string> = new Set(
  [TEMPORAL_WORDS, WEEKDAYS, MONTHS, SHORT, "tonight weekend"].join(" ").split(" "),
);

/**
 * The languages in which the dates of a question are read; undefined if it names none. A question in another language than
 * English is read in its own one, and not as if it were English: `mon` is French too.
 * @param configured two-letter codes; empty: all
 */
export function languagesOfDates(
  query: string,
  configured: readonly string[],
): readonly string[] | undefined {
  const own = foreignLanguages(readableDates(query));
  if (own.length === 0) return GATE.test(query) ? configured : undefined;
  if (configured.length === 0) return configured;
  return [...own, ...configured.filter((code) => code !== "en" && !own.includes(code))];
}

/** Characters at either end of a long question that are searched for dates. */
const READABLE_CHARS = 1000;

/** The part of a question that is searched for dates: all of a usual one, the start and the end of a very long one. */
export function readableDates(query: string): string {
  if (query.length <= 2 * READABLE_CHARS) return query;
  // Cut at spaces, so that no number or word is split.
  const head = query.slice(0, READABLE_CHARS).replace(/\S*$/, "");
  const tail = query.slice(-READABLE_CHARS).replace(/^\S*/, "");
  return `${head}\n${tail}`;
}

/** In other languages, shorter words than this have other meanings too: `mar` is Tuesday and sea. */
const FOREIGN_CHARS = 4;

/**
 * Whether an expression is a date by itself: digits or several words, or one word with hardly any other meaning.
 * @param isEnglish whether it may have been read in English
 */
export function keepsAlone(value: string, isEnglish: boolean): boolean {
  if (/[\d\s]/.test(value)) return true;
  if (!isEnglish) return value.length >= FOREIGN_CHARS || /^hoy$|\P{ASCII}/iu.test(value);
  return ALONE.has(value.toLowerCase().replace(/[^a-z]+$/, ""));
}

/** Whether a date is a name instead: one capitalised word that an entity of the question contains. */
export function isName(value: string, entities: readonly string[]): boolean {
  return (
    /^\p{Lu}[^\s\d]*$/u.test(value) &&
    entities.some((entity) => entity.split(/\s+/).includes(value))
  );
}
