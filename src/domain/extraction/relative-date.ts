import { addDays, fromDate, type Instant, toEpochMillis } from "../../lib/instant.ts";

/** A reader of dates in words: what it found, in text order. */
export type ReadDates = (
  text: string,
  reference: Instant,
) => readonly { readonly value: string; readonly resolved: Instant }[];

/** Words that name no single moment. */
const VAGUE =
  /(?<![\p{L}])(?:few|couple|several|some|many|while|weekends?|since|for|over|within|past|during|until|by|before|after|every|each|early|mid|late|beginning|end|start|middle|around|about|recently|soon|spring|summer|autumn|fall|winter|q[1-4])(?![\p{L}])|\d{4}s\b|(?:last|next|this)\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/iu;
/** The same words in these expressions do. */
const EXACT = /(?<![\p{L}])day (?:before yesterday|after tomorrow)(?![\p{L}])/giu;
const LEAD = /^(?:on|in|at)\s+(?=\S)|^the\s+(?=day\s)/i;
const WEEKDAY = /^(?:last\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day$/i;
const CLOCK = /^\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\.?)?$/i;
const HAS_MONTH = /(?<![\p{L}])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/iu;
const HAS_YEAR = /\d{4}|year/i;

/**
 * The moment of an expression such as `two days ago`, counted from when the turn was said, and rather in the past.
 * @returns undefined for an expression that names no single moment
 */
export function resolveDate(
  expression: string,
  reference: Instant,
  readDates: ReadDates,
): Instant | undefined {
  const text = expression.trim();
  if (/^now$/i.test(text)) return reference;
  if (VAGUE.test(text.replace(EXACT, " ")) || /^\d{1,2}$|^\d{8}$/.test(text)) return undefined;
  const [found, second] = readDates(text, reference);
  const bare = text.replace(LEAD, "");
  // The whole expression has to be read, or what is left of it may change its meaning.
  if (found === undefined || second !== undefined || found.value.length < bare.length) {
    return undefined;
  }
  return inThePast(bare, found.resolved, reference);
}

/** The last such moment, for expressions that do not say which. */
function inThePast(text: string, resolved: Instant, reference: Instant): Instant {
  if (WEEKDAY.test(text)) {
    const isToday = resolved.slice(0, 10) === reference.slice(0, 10);
    return isToday ? (addDays(resolved, -7) ?? resolved) : resolved;
  }
  if (resolved <= reference) return resolved;
  if (CLOCK.test(text)) return addDays(resolved, -1) ?? resolved;
  return HAS_MONTH.test(text) && !HAS_YEAR.test(text) ? yearBefore(resolved) : resolved;
}

function yearBefore(instant: Instant): Instant {
  const date = new Date(toEpochMillis(instant));
  date.setUTCFullYear(date.getUTCFullYear() - 1);
  return fromDate(date);
}
