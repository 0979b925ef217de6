import type { Instant } from "../../../lib/instant.ts";
import { type ReadDates, resolveDate } from "../relative-date.ts";

const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday";
const PAST = words("yesterday last ago past previous earlier recently");
const FUTURE = words("tomorrow next coming");
const CUES = words(
  `today tonight this week weekend weeks month months year years day days ${WEEKDAYS}`,
)
  .union(PAST)
  .union(FUTURE);
const BEFORE = words("before prior earlier previous preceding");
const AFTER = words("after following");
const RELATIONS = words("of during").union(BEFORE).union(AFTER);
const FUNCTION = words("the a an on in at of").union(RELATIONS);
const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );

/** Whether a word may say when something was, counted from another time. */
export function isTimeWord(word: string): boolean {
  return CUES.has(word);
}

/** A day, a month or a year. */
type Written = { readonly year: number; readonly month?: number; readonly day?: number };

/**
 * The absolute date that stands in place of a relative one, if it is the right one.
 * @param replaced the words of the text, and as they stand there
 * @param added the words in their place
 * @returns as `2023-05-09`, `2023-05` or `2023`; undefined if it may not stand there
 */
export function dateInPlaceOf(
  replaced: { readonly words: readonly string[]; readonly text: string },
  added: readonly string[],
  reference: Instant,
  readDates: ReadDates,
): string | undefined {
  if (!replaced.words.some((word) => CUES.has(word))) return undefined;
  const written = writtenDate(added, new Set(replaced.words));
  if (written === undefined) return undefined;
  const date = textOf(written);
  const resolved = resolveDate(replaced.text, reference, readDates);
  const hasRelation = added.some((word) => word !== "of" && RELATIONS.has(word));
  if (resolved?.startsWith(date) === true && !hasRelation) return date;
  return date === reference.slice(0, 10) && isRelated(replaced.words, added) ? date : undefined;
}

/** Whether `last week` is said to be before the day, and `next week` after it. */
function isRelated(replaced: readonly string[], added: readonly string[]): boolean {
  if (!added.some((word) => RELATIONS.has(word))) return false;
  const isPast = replaced.some((word) => PAST.has(word));
  const isFuture = replaced.some((word) => FUTURE.has(word));
  if (isPast)
    return added.some((word) => BEFORE.has(word)) && !added.some((word) => AFTER.has(word));
  if (isFuture)
    return added.some((word) => AFTER.has(word)) && !added.some((word) => BEFORE.has(word));
  return !added.some((word) => BEFORE.has(word) || AFTER.has(word));
}

/** The one date among words that are otherwise words of dates, or of the replaced text. */
function writtenDate(added: readonly string[], replaced: ReadonlySet<string>): Written | undefined {
  const parts = added.filter((word) => !FUNCTION.has(word) && !isKept(word, replaced));
  const [iso] = parts;
  if (parts.length === 1 && iso !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(iso)) {
    const [year, month, day] = iso.split("-").map(Number);
    return { year: year ?? 0, month: month ?? 0, day: day ?? 0 };
  }
  const months = parts.filter((word) => monthOf(word) !== undefined);
  const years = parts.filter((word) => /^\d{4}$/.test(word));
  const days = parts.filter((word) => /^\d{1,2}(?:st|nd|rd|th)?$/.test(word));
  const isOne = years.length === 1 && months.length <= 1 && days.length <= months.length;
  if (!isOne || parts.length !== years.length + months.length + days.length) return undefined;
  return {
    year: Number(years[0]),
    ...(months[0] !== undefined && { month: monthOf(months[0]) ?? 0 }),
    ...(days[0] !== undefined && { day: Number.parseInt(days[0], 10) }),
  };
}

/** `week` of `last week`, `Friday` of `last Friday`. */
function isKept(word: string, replaced: ReadonlySet<string>): boolean {
  return replaced.has(word) && CUES.has(word);
}

function monthOf(word: string): number | undefined {
  const at = MONTHS.findIndex(
    (month) => month === word || (word.length === 3 && month.startsWith(word)),
  );
  return at === -1 ? undefined : at + 1;
}

function textOf({ year, month, day }: Written): string {
  return [String(year).padStart(4, "0"), month, day]
    .filter((part) => part !== undefined)
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
