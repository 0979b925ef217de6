/** Times as people type them. */
import { invalid } from "../../domain/errors.ts";
import { fromDate, fromEpochMicros, type Instant, parseInstant } from "../../lib/instant.ts";

/** `3d`, `2w`: so long ago. */
const SHORT = /^(\d{1,4}) ?([hdwmy])$/;
const UNITS: Readonly<Record<string, string>> = {
  h: "hours",
  d: "days",
  w: "weeks",
  m: "months",
  y: "years",
};

/**
 * A time that a person wrote: ISO 8601, a date or time in this machine's time zone, or words such as `yesterday` and `vor 2 Wochen`. A day
 * without a time means its beginning.
 * @param isEnd takes the last microsecond of such a day
 * @throws SvcError invalid_argument
 */
export async function momentOf(
  text: string | undefined,
  option: string,
  isEnd = false,
): Promise<Instant | undefined> {
  if (text === undefined) return undefined;
  const given = text.trim();
  const iso = parseInstant(given);
  if (typeof iso === "object") return iso.instant;
  const found = iso === "naive" ? localTime(given) : await inWords(given);
  if (found === undefined) {
    throw invalid(
      option,
      `${JSON.stringify(given.slice(0, 80))} is no time; write for example 2026-03-01, "2026-03-01 10:00", yesterday or "2 weeks ago"`,
    );
  }
  const { date, isDay } = found;
  if (!isDay) return fromDate(date);
  date.setHours(0, 0, 0, 0);
  if (!isEnd) return fromDate(date);
  date.setDate(date.getDate() + 1);
  return fromEpochMicros(date.getTime() * 1000 - 1);
}

type Found = { readonly date: Date; readonly isDay: boolean };

/** @param text ISO 8601 without an offset */
function localTime(text: string): Found {
  const isDay = !/\d:\d/.test(text);
  return { date: new Date(isDay ? `${text}T00:00` : text.replace(" ", "T")), isDay };
}

/** Each is loaded when the ones before it read nothing. */
const LANGUAGES = [
  () => import("chrono-node/en"),
  () => import("chrono-node/de"),
  () => import("chrono-node/es"),
  () => import("chrono-node/fr"),
  () => import("chrono-node/it"),
  () => import("chrono-node/nl"),
  () => import("chrono-node/pt"),
];

async function inWords(text: string): Promise<Found | undefined> {
  // The first was meant as ISO 8601; the second is ambiguous between day and month.
  if (/^\d{4}-|^\d+\/\d/.test(text)) return undefined;
  const short = SHORT.exec(text.toLowerCase());
  const words = short === null ? text : `${short[1]} ${UNITS[short[2] ?? ""]} ago`;
  // English would read 3.12. as the twelfth of March.
  for (const load of LANGUAGES.slice(/^\d+\.\d/.test(text) ? 1 : 0)) {
    const [found] = (await load()).casual.parse(words);
    if (found === undefined || found.text.length < words.length) continue;
    return { date: found.start.date(), isDay: !found.start.isCertain("hour") };
  }
  return undefined;
}
