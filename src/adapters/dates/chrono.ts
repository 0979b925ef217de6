import type { Chrono, Component, ParsedResult, ParsingComponents } from "chrono-node/en";
import { asInstant, fromDate, type Instant } from "../../lib/instant.ts";
import type { DateReader, DateSignal } from "../../ports/models.ts";

/** Loads the parser of each supported language. English first: it reads the most detail. */
const LANGUAGES: Readonly<Record<string, () => Promise<Chrono>>> = {
  en: async () => (await import("chrono-node/en")).casual,
  ar: async () => (await import("chrono-node/ar")).casual,
  de: async () => (await import("chrono-node/de")).casual,
  es: async () => (await import("chrono-node/es")).casual,
  fi: async () => (await import("chrono-node/fi")).casual,
  fr: async () => (await import("chrono-node/fr")).casual,
  id: async () => (await import("chrono-node/id")).casual,
  it: async () => (await import("chrono-node/it")).casual,
  ja: async () => (await import("chrono-node/ja")).casual,
  nl: async () => (await import("chrono-node/nl")).casual,
  pt: async () => (await import("chrono-node/pt")).casual,
  ru: async () => (await import("chrono-node/ru")).casual,
  sv: async () => (await import("chrono-node/sv")).casual,
  uk: async () => (await import("chrono-node/uk")).casual,
  vi: async () => (await import("chrono-node/vi")).casual,
  zh: async () => (await import("chrono-node/zh")).casual,
};

/** Read once, so that patterns are compiled before the first question. */
const WARM_UP = "at 5:30 pm on 7 May 2023, last week, May 7, 2023, 2023-05-07T10:00Z and 5/7/2023";
const EPOCH = asInstant("1970-01-01T00:00:00.000000Z");

export type DateReaderOptions = {
  /** Two-letter codes of the languages that `ready` loads; empty: all supported ones. */
  readonly languages: readonly string[];
  /** Receives what went wrong; never text of a question. */
  readonly warn: (message: string) => void;
};

/**
 * Reads dates with chrono-node, with different defaults for memories: weekdays are in the past, and missing parts come from the reference.
 */
export function createChronoDateReader({ languages, warn }: DateReaderOptions): DateReader {
  const parsers = new Map<string, Chrono>();
  const loading = new Map<string, Promise<void>>();
  const report = (what: string, error: unknown): void =>
    warn(`dates: ${what} (${error instanceof Error ? error.name : typeof error})`);
  const readDates: DateReader["read"] = (text, reference, wanted) => {
    try {
      return read(text, reference, codesOf(wanted), parsers);
    } catch (error) {
      report("the dates of a question could not be read", error);
      return [];
    }
  };
  const load = async (code: string): Promise<void> => {
    try {
      const [original, { ParsingComponents }] = await Promise.all([
        LANGUAGES[code]?.(),
        import("chrono-node/en"),
      ]);
      if (original === undefined) return;
      const parser = original.clone();
      parser.parsers.unshift(
        ...phraseParsers(code, ({ reference }, duration) =>
          ParsingComponents.createRelativeFromReference(reference, duration),
        ),
      );
      parser.refiners.push(WEEKDAY_BESIDE_DATE, SHARED_YEAR);
      parsers.set(code, parser);
      readDates(WARM_UP, EPOCH, [code]);
    } catch (error) {
      report("the parser could not be loaded", error);
    }
  };
  return {
    ready: async (wanted = languages) => {
      for (const code of codesOf(wanted)) {
        const loaded = loading.get(code) ?? load(code);
        loading.set(code, loaded);
        await loaded;
      }
    },
    read: readDates,
  };
}

function codesOf(languages: readonly string[]): readonly string[] {
  return languages.length > 0 ? languages : Object.keys(LANGUAGES);
}

type Parts = ParsedResult["start"];
type Refiner = Chrono["refiners"][number];

const DAY_MS = 86_400_000;

/** `the Sunday before October 25, 2022` counts from that date; `Sunday the 23rd of October` is that date. */
const WEEKDAY_BESIDE_DATE: Refiner = {
  refine: ({ text }, results) =>
    results.filter((result, index) => {
      const next = results[index + 1];
      if (next === undefined || !isWeekday(result.start) || !next.start.isCertain("day"))
        return true;
      const gap = text.slice(result.index + result.text.length, next.index);
      const isSameDay = /^,?\s*(?:the\s+)?\(?$/i.test(gap);
      const [, which] = /^\s+(before|prior\s+to|after|following)\s+(?:the\s+)?$/i.exec(gap) ?? [];
      if (isSameDay || which === undefined) return !isSameDay;
      const anchor = next.start.date();
      const back = (anchor.getUTCDay() - (result.start.get("weekday") ?? 0) + 7) % 7;
      // The weekend before a Sunday is not the one that the Sunday belongs to.
      const same = /weekend/i.test(result.text) ? 1 : 0;
      const isLater = /^[af]/i.test(which);
      const days = isLater ? 7 - back : back <= same ? -back - 7 : -back;
      const day = new Date(anchor.getTime() + days * DAY_MS);
      next.start.assign("year", day.getUTCFullYear());
      next.start.assign("month", day.getUTCMonth() + 1);
      next.start.assign("day", day.getUTCDate());
      next.text = text.slice(result.index, next.index + next.text.length);
      next.index = result.index;
      return false;
    }),
};

const SPAN_GAP = /^\s*(?:,|and|or|to|-|–|until|till|through)\s*$/i;

const SHARED_YEAR: Refiner = {
  refine: ({ text }, results) => {
    results.forEach((result, index) => {
      const { start, end } = results[index + 1] ?? {};
      const gap = text.slice(result.index + result.text.length, results[index + 1]?.index);
      const year = (end ?? start)?.get("year");
      if (year === null || year === undefined || !start?.isCertain("month")) return;
      if (!result.start.isCertain("month") || result.start.isCertain("year")) return;
      if ((end ?? start)?.isCertain("year") === true && SPAN_GAP.test(gap)) {
        result.start.assign("year", year);
      }
    });
    return results;
  },
};

type Moment = Pick<DateSignal, "resolved" | "from" | "until">;
type Found = {
  readonly at: number;
  readonly end: number;
  readonly moments: readonly (Moment | undefined)[];
};

/** The dates of a text, in order; each language reads what the previous ones left. */
function read(
  text: string,
  reference: Instant,
  codes: readonly string[],
  parsers: ReadonlyMap<string, Chrono>,
): DateSignal[] {
  const now = new Date(`${reference.slice(0, 23)}Z`);
  const all: Found[] = [];
  let rest = text;
  const take = (found: readonly Found[]): void => {
    all.push(...found);
    for (const { at, end } of found) {
      rest = rest.slice(0, at) + "\u0000".repeat(end - at) + rest.slice(end);
    }
  };
  for (const code of codes) {
    const results = parsers.get(code)?.parse(rest, { instant: now, timezone: "UTC" }) ?? [];
    take(results.flatMap((result) => findDates(result, rest, reference)));
  }
  take(findYears(rest, reference, now));
  return all
    .sort((a, b) => a.at - b.at)
    .flatMap(({ at, end, moments }) => {
      const value = text.slice(at, end).trim();
      const type = /\d/.test(value) ? "ABSOLUTE" : "RELATIVE";
      return moments.flatMap((moment) => (moment ? [{ type, value, ...moment } as const] : []));
    });
}

function findDates(result: ParsedResult, text: string, reference: Instant): Found[] {
  const end = result.index + result.text.length;
  const place: Place = {
    result,
    before: text.slice(Math.max(0, result.index - 24), result.index),
    after: text.slice(end),
    reference,
  };
  if (!isDate(place)) return [];
  const parts = [result.start, ...(result.end ? [result.end] : [])];
  const at = result.index - prefixOf(place.before).length;
  return [{ at, end, moments: parts.map((part) => resolve(part, place)) }];
}

function findYears(text: string, reference: Instant, now: Date): Found[] {
  return [...text.matchAll(YEAR)].flatMap(({ index, groups = {}, 0: { length } }) => {
    const before = text.slice(Math.max(0, index - 24), index);
    if (BEFORE_NO_YEAR.test(before)) return [];
    const month = Number(groups["month"] ?? now.getUTCMonth() + 1);
    const ms = dayOf(Number(groups["year"]), month, now.getUTCDate());
    const span = groups["month"] === undefined ? yearOf(ms) : monthOf(ms);
    return [
      {
        at: index - prefixOf(before).length,
        end: index + length,
        moments: [toMoment(ms, span, reference)],
      },
    ];
  });
}

function prefixOf(before: string): string {
  return PREFIX.exec(before)?.[0] ?? "";
}

const YEAR =
  /(?<![\p{L}\p{N}_])(?<year>(?:19|20)\d\d)(?:[-/](?<month>0[1-9]|1[0-2])(?![-/.]?\d)|(?!%|\d|[.,:/]\d|[-–](?!(?:19|20)\d\d(?!\d))\d))(?![\p{L}_])/gu;
/** Amounts of money, grouped numbers, times and paths contain four digits too. */
const BEFORE_NO_YEAR = /(?:[$€£¥#.:/+]|\d[ ,]|(?<!\p{L}|(?:19|20)\d\d)[-–])$/u;

/** Words before a date that belong to it. */
const PREFIX =
  /(?<![\p{L}\p{N}_])(?:(?:in|on|at|by|during|since|until|till|over|early|mid|late|the|this|last|past|previous|next|coming)[\s-]+){1,3}$/iu;
/** Ordinary words, unless a word before them says otherwise. */
const AMBIGUOUS = /^(?:[Mm]ay|mar(?:ch)?|sat|sun|mon|wed)$/;
const BEFORE_NAME =
  /(?<![\p{L}])(?:in|on|by|during|since|until|till|early|mid|late|this|last|past|previous|next|coming)[\s-]+$/iu;
/** `3/4` is a date only if the surrounding words say so. */
const FRACTION = /^\d{1,2}\/\d{1,2}$/;
const BEFORE_FRACTION = /\b(?:on|by|since|until|till|before|after|from|to|of|for|between|and)\s+$/i;

const CURRENT = /^this\s+(?:week|month|year)$/i;

function isDate({ result: { text, start }, before, after }: Place): boolean {
  if (AMBIGUOUS.test(text)) return BEFORE_NAME.test(before);
  if (FRACTION.test(text)) return BEFORE_FRACTION.test(before);
  // "five years old" and "the day after the party" identify no moment.
  if (/^(?:\s+|-)old\b/i.test(after)) return false;
  if (/^(?:the\s+)?\w+\s+(?:before|after|from)$/i.test(text)) return false;
  return !onlyTime(start) || isCounted(start) || CURRENT.test(text) || TIME.test(text);
}

/** The offset of a part of a result. */
type Place = {
  readonly result: ParsedResult;
  readonly before: string;
  readonly after: string;
  readonly reference: Instant;
};

/**
 * The moment of a part. Only written parts are taken from the parser; the rest comes from the reference, in UTC.
 * @returns undefined outside the years 1 to 9999
 */
function resolve(part: Parts, place: Place): Moment | undefined {
  const { result, reference } = place;
  const now = Date.parse(`${reference.slice(0, 23)}Z`);
  const ms = CURRENT.test(result.text) ? now : momentOf(part, place, now);
  return toMoment(ms, spanOf(part, result.text, ms), reference);
}

type Span = readonly [from: number, until: number];

const WEEKEND = /weekend|wochenende|fin de semana|week-end|fim de semana|выходн/iu;
const WEEK = /(?<!\p{L})(?:week|wochen?|semanas?|semaines?|settiman|weken|недел)|[週周]/iu;

/** The span of a part: a weekend, a week from Monday on, a day, a month or a year. */
function spanOf(part: Parts, text: string, ms: number): Span {
  const day = startOfDay(ms);
  if (WEEKEND.test(text)) return [day, day + 2 * DAY_MS];
  if (WEEK.test(text)) {
    const monday = day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
    return [monday, monday + 7 * DAY_MS];
  }
  if (!part.isCertain("day") && !isWeekday(part)) {
    if (part.isCertain("month") || /^this\s+month$/i.test(text)) return monthOf(ms);
    if (part.isCertain("year") || /^this\s+year$/i.test(text)) return yearOf(ms);
  }
  return [day, day + DAY_MS];
}

function monthOf(ms: number): Span {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month), Date.UTC(year, month + 1)];
}

function yearOf(ms: number): Span {
  const year = new Date(ms).getUTCFullYear();
  return [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
}

function toMoment(ms: number, [start, end]: Span, reference: Instant): Moment | undefined {
  const resolved = toInstant(ms, reference);
  const [from, until] = [new Date(start), new Date(end)];
  if (resolved === undefined || !(from.getUTCFullYear() >= 1 && until.getUTCFullYear() <= 9999))
    return undefined;
  return { resolved, from: fromDate(from), until: fromDate(until) };
}

function momentOf(part: Parts, place: Place, now: number): number {
  const { result } = place;
  if (isWeekday(part)) return atClock(onWeekday(part, place, now), part, result);
  if (/^midnight$/i.test(result.text)) return startOfDay(now);
  if (isCounted(part)) return countedFrom(now, part, place);
  if (onlyTime(part)) return atClock(startOfDay(now), part, result);
  const day = onDate(part, place, new Date(now));
  const isNamed = part.isCertain("day") && !/\d/.test(result.text);
  return isNamed ? day + now - startOfDay(now) : atClock(day, part, result);
}

function countedFrom(now: number, part: Parts, { result, before }: Place): number {
  const exact = lastDayIfLacking(part, new Date(now)).getTime();
  // The parser's default for a day without a time is noon.
  const isNoon = exact - startOfDay(exact) === DAY_MS / 2 && !part.isCertain("hour");
  if (isNoon && now - startOfDay(now) !== DAY_MS / 2) return startOfDay(exact);
  // "For 2 hours" lasts until now, "for next week" does not.
  const isLength =
    !/next|coming/i.test(result.text) &&
    (/^(?:for|over|during)\s/i.test(result.text) || /\s(?:for|over)\s+$/i.test(before));
  return isLength && exact > now ? 2 * now - exact : exact;
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** With the microseconds of the reference if it has its time of day. */
function toInstant(ms: number, reference: Instant): Instant | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) return undefined;
  const instant = fromDate(date);
  const isSameTime = instant.slice(10, 23) === reference.slice(10, 23);
  return isSameTime ? asInstant(`${instant.slice(0, 23)}${reference.slice(23)}`) : instant;
}

function isWeekday(part: Parts): boolean {
  return part.isCertain("weekday") && !part.isCertain("day") && !part.isCertain("month");
}

function onlyTime(part: Parts): boolean {
  return !(["year", "month", "day", "weekday"] as const).some((name) => part.isCertain(name));
}

/** Whether the parser derived it from the reference. */
function isCounted(part: Parts): boolean {
  return [...part.tags()].some((tag) => /^(?:result\/relative|casualReference\/)/.test(tag));
}

/** "Last month" of 31 March is 28 February, which the parser takes for 3 March. */
function lastDayIfLacking(part: Parts, now: Date): Date {
  const date = part.date();
  if (part.isCertain("day") || part.isCertain("hour") || date.getUTCDate() >= now.getUTCDate())
    return date;
  return part.tags().has("result/relativeDate")
    ? new Date(date.getTime() - date.getUTCDate() * DAY_MS)
    : date;
}

function onDate(part: Parts, { result, before }: Place, now: Date): number {
  const month = known(part, "month");
  const year = known(part, "year") ?? known(result.start, "year") ?? known(result.end, "year");
  const here = now.getUTCMonth() + 1;
  const isPast = /(?:last|past|previous)\s+$/i.test(before);
  const isNext = /(?:next|coming)\s+$/i.test(before);
  const written = month ?? here;
  const away = isPast && written >= here ? -1 : isNext && written <= here ? 1 : 0;
  return dayOf(
    year ?? now.getUTCFullYear() + away,
    written,
    known(part, "day") ?? now.getUTCDate(),
  );
}

/** Midnight of a day; one that the month lacks becomes its last one. @param month from 1 */
function dayOf(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  date.setUTCDate(Math.min(day, date.getUTCDate()));
  return date.getTime();
}

/** Words that put a weekday in the future, or in the past. */
const NEXT = besideWeekday(
  "next|coming|this|following|upcoming|n[äa]chste|kommende|prochain|prossim|pr[óo]xim|volgende|komende|следующ",
  "que\\s+(?:viene|vem)",
);
const LAST = besideWeekday(
  "last|past|previous|letzte|vergangene|vorige|dernier|scors|passat|pasad|passad|[úu]ltim|afgelopen|прошл",
);

/** Patterns for a text that ends with the name of a day, and for one that begins after it. */
function besideWeekday(words: string, after = words) {
  const word = String.raw`(?:${words})\p{L}*`;
  return {
    before: new RegExp(String.raw`(?<!\p{L})${word}\s+\S+$|\s${word}\s*$`, "iu"),
    after: new RegExp(String.raw`^\s+(?:${word}|${after})(?!\p{L})`, "iu"),
  };
}

/** Midnight of the last such day up to today, unless an adjacent word says which. */
function onWeekday(part: Parts, { result, before, after }: Place, now: number): number {
  const today = startOfDay(now);
  const isWeekend = /weekend/i.test(result.text);
  const weekday = isWeekend ? 6 : (known(part, "weekday") ?? 0);
  const back = (new Date(today).getUTCDay() - weekday + 7) % 7;
  const upToDay = `${before}${result.text.replace(/\s+(?:at|in|morning|afternoon|evening|night).*$/i, "")}`;
  const stands = (words: typeof NEXT): boolean =>
    words.before.test(upToDay) || words.after.test(after);
  const isPast = stands(LAST);
  const isNow = back <= (isWeekend ? 1 : 0);
  const isNext = !isPast && stands(NEXT) && !(isWeekend && isNow && /this\s+\S*$/i.test(upToDay));
  const days = isNext ? 7 - back : isPast && isNow ? -back - 7 : -back;
  return today + days * DAY_MS;
}

/** A part written in the text, not implied by the parser. */
function known(part: Parts | null | undefined, component: Component): number | undefined {
  return part?.isCertain(component) === true ? (part.get(component) ?? undefined) : undefined;
}

/** A bare number such as the one in "at 6 Elm Street" is not a time of day. */
const TIME =
  /\d:\d|\d\s*[ap]\.?m\b|clock|\bnight\b|noon|midnight|morning|evening|\dT\d|\d\s*(?:h|uhr)\b/i;

function atClock(day: number, part: Parts, { text }: ParsedResult): number {
  const isNamed = [...part.tags()].some((tag) => tag.startsWith("casualReference/"));
  if (!(part.isCertain("hour") || isNamed) || !TIME.test(text)) return day;
  const of = (component: Component): number => part.get(component) ?? 0;
  const minutes = of("hour") * 60 + of("minute") - (known(part, "timezoneOffset") ?? 0);
  return day + (minutes * 60 + of("second")) * 1000 + of("millisecond");
}

const NUMBER_WORDS: readonly string[] = `one two three four five six seven eight nine ten eleven
  twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);

type PhraseParser = Chrono["parsers"][number];
type Duration = Readonly<Partial<Record<"day" | "week" | "month" | "year", number>>>;
/** The date at some distance from the reference. */
type Shift = (
  context: Parameters<PhraseParser["pattern"]>[0],
  duration: Duration,
) => ParsingComponents;

type Words = {
  readonly days?: Readonly<Record<string, number>>;
  /** Words of a unit, with its length. */
  readonly units?: readonly (readonly [pattern: string, length: Duration])[];
  /** Patterns around a number N and a unit U; without N it is one unit. */
  readonly past?: readonly string[];
  readonly next?: readonly string[];
  readonly numbers?: ReadonlyMap<string, number>;
  /** Words allowed before a month without a day. */
  readonly beforeMonth?: string;
  readonly unspaced?: boolean;
};

function counting(text: string): ReadonlyMap<string, number> {
  return new Map(
    text
      .split(" ")
      .flatMap((words, index) => words.split("|").map((word) => [word, index + 1] as const)),
  );
}

const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ENGLISH: ReadonlyMap<string, number> = new Map([
  ...counting(NUMBER_WORDS.join(" ")),
  ...TENS.flatMap((ten, tens) =>
    ["", ...NUMBER_WORDS.slice(0, 9)].map(
      (one, ones) => [`${ten} ${one}`.trim(), (tens + 2) * 10 + ones] as const,
    ),
  ),
  ...(["a", "an"] as const).map((word) => [word, 1] as const),
]);

/** Supplements to each language's own parser. */
const WORDS: Readonly<Record<string, Words>> = {
  en: {
    days: { "(?:the )?day after tomorrow": 2, "(?:the )?day before yesterday": -2 },
    units: [
      ["nights?", { day: 1 }],
      ["weeks?", { week: 1 }],
      ["fortnights?", { week: 2 }],
      ["months?", { month: 1 }],
      ["years?", { year: 1 }],
      ["decades?", { year: 10 }],
      ["century|centuries", { year: 100 }],
    ],
    past: [String.raw`N(?<half>\s+and\s+a\s+half)?\s+U(?<after>\s+and\s+a\s+half)?\s+ago`],
    numbers: ENGLISH,
  },
  de: { days: { überübermorgen: 3 }, beforeMonth: "im|seit|ab|bis" },
  fr: {
    days: { "avant-hier": -2, "après-demain": 2 },
    units: [["ans?|années?", { year: 1 }]],
    past: [String.raw`il\s+y\s+a\s+N\s+U`],
    numbers: counting("un|une deux trois quatre cinq six sept huit neuf dix"),
    beforeMonth: "en|depuis",
  },
  es: {
    days: { "anteayer|antes de ayer|antier": -2, anoche: -1, "pasado mañana": 2 },
    units: [
      ["d[íi]as?", { day: 1 }],
      ["semanas?", { week: 1 }],
      ["mes(?:es)?", { month: 1 }],
      ["años?", { year: 1 }],
    ],
    past: [String.raw`hace\s+N\s+U|(?:el|la)\s+(?:U\s+pasad[oa]|[úu]ltim[oa]\s+U)`],
    next: [String.raw`(?:el|la)\s+(?:pr[óo]xim[oa]\s+U|U\s+que\s+viene)`],
    numbers: counting("un|una dos tres cuatro cinco seis siete ocho nueve diez"),
  },
  it: { days: { "l'altro ieri|avant'ieri": -2, dopodomani: 2 } },
  pt: {
    days: { anteontem: -2, "depois de amanhã": 2 },
    units: [
      ["dias?", { day: 1 }],
      ["semanas?", { week: 1 }],
      ["m[êe]s(?:es)?", { month: 1 }],
      ["anos?", { year: 1 }],
    ],
    past: [
      String.raw`h[áa]\s+N\s+U`,
      String.raw`N\s+U\s+atrás`,
      String.raw`n?[oa]\s+(?:U\s+passad[oa]|últim[oa]\s+U)`,
    ],
    next: [String.raw`n?[oa]\s+(?:próxim[oa]\s+U|U\s+que\s+vem)`],
    numbers: counting("um|uma dois|duas três quatro cinco seis sete oito nove dez"),
    beforeMonth: "em|desde",
  },
  nl: { days: { eergisteren: -2, gisteravond: -1, overmorgen: 2 } },
  ja: {
    days: { "一昨日|おととい": -2, 明後日: 2 },
    units: [
      ["日", { day: 1 }],
      ["週間?", { week: 1 }],
      ["[かヶカ]?月", { month: 1 }],
      ["年", { year: 1 }],
    ],
    past: ["N\\s*U前|[先昨去]U"],
    next: ["来U"],
    numbers: counting("一 二 三 四 五 六 七 八 九 十"),
    unspaced: true,
  },
};

/** Parsers of one language for what its own one lacks: days and units in words, months and decades alone. */
function phraseParsers(code: string, shift: Shift): PhraseParser[] {
  const words = WORDS[code] ?? {};
  const parser = (source: string, extract: PhraseParser["extract"], unit?: string): PhraseParser =>
    phrase(source, extract, words.unspaced, unit);
  const days = Object.entries(words.days ?? {}).map(([source, day]) =>
    parser(source, (context) => shift(context, { day })),
  );
  const numbers = [...(words.numbers?.keys() ?? [])].sort((a, b) => b.length - a.length);
  const number = `(?<n>\\d{1,4}|${numbers.join("|").replaceAll(" ", "[\\s-]+")})`;
  const moved = (patterns: readonly string[] = [], sign: 1 | -1): PhraseParser[] =>
    patterns.flatMap((pattern) =>
      (words.units ?? []).map(([unit, length]) =>
        parser(
          pattern.replace("N", number).replaceAll("U", `(?:${unit})`),
          (context, match) => {
            const word = match.groups?.["n"]?.toLowerCase().replace(/[\s-]+/, " ") ?? "1";
            const half = match.groups?.["half"] ?? match.groups?.["after"];
            const whole = words.numbers?.get(word) ?? Number(word);
            const times = sign * (half === undefined ? whole : whole + 0.5);
            return shift(
              context,
              Object.fromEntries(
                Object.entries(length).map(([key, value]) => [key, value * times]),
              ),
            );
          },
          unit,
        ),
      ),
    );
  return [
    ...days,
    ...moved(words.past, -1),
    ...moved(words.next, 1),
    ...(words.beforeMonth === undefined ? [] : monthParsers(code, words.beforeMonth)),
    ...(code === "en" ? englishParsers(shift) : []),
  ];
}

const NOTHING = /(?!)/u;

/** @param within without it a text has no such phrase, which is found out faster */
function phrase(
  source: string,
  extract: PhraseParser["extract"],
  unspaced = false,
  within = "",
): PhraseParser {
  const needed = new RegExp(within, "iu");
  const end = unspaced ? "" : String.raw`(?![\p{L}\p{N}_])`;
  const pattern = new RegExp(`(?:${source})${end}`, "iu");
  return {
    pattern: ({ text }) => (needed.test(text) ? pattern : NOTHING),
    // Not as a lookbehind: after a match, the parser searches in what is left of the text.
    extract: (context, match) =>
      !unspaced && /[\p{L}\p{N}_]$/u.test(context.text.slice(0, match.index))
        ? null
        : extract(context, match),
  };
}

function monthParsers(code: string, before: string): PhraseParser[] {
  const names = new Intl.DateTimeFormat(code, { month: "long", timeZone: "UTC" });
  return Array.from({ length: 12 }, (_, index) => {
    const name = names.format(Date.UTC(2000, index, 15));
    const source = String.raw`(?:${before})\s+${name}(?:\s+(?:de\s+)?(?<year>\d{4}))?|${name}\s+(?:de\s+)?(?<later>\d{4})`;
    return phrase(source, (_context, { groups = {} }) =>
      monthAndYear(index + 1, groups["year"] ?? groups["later"]),
    );
  });
}

function monthAndYear(month: number, year: string | undefined) {
  return year === undefined ? { month } : { month, year: Number(year) };
}

/** What may follow "on the 5th" when it is a date and not, say, a floor. */
const NO_NOUN = String.raw`(?=\s*(?:$|[^\p{L}\p{N}\s]|(?:and|or|at|with|for|from|to|by|when|where|what|who|how|why|did|do|does|was|were|is|are|have|has|had|i|we|he|she|they|you|it|my|our|the|that|but)(?![\p{L}\p{N}_])))`;

function englishParsers(shift: Shift): PhraseParser[] {
  return [
    phrase(
      String.raw`(?:the\s+)?(?<unit>week|month|year)\s+(?<which>before\s+last|after\s+next)`,
      (context, { groups = {} }) =>
        shift(context, {
          [(groups["unit"] ?? "week").toLowerCase()]: /^before/i.test(groups["which"] ?? "")
            ? -2
            : 2,
        }),
    ),
    phrase("weekend", () => ({ weekday: 6 })),
    phrase(
      String.raw`(?:on|by|since|until|till|before|after|from)\s+the\s+(?<day>[12]?\d|3[01])(?:st|nd|rd|th)${NO_NOUN}`,
      (_context, { groups = {} }) => ({ day: Number(groups["day"]) }),
    ),
  ];
}
