import { asInstant, type Instant } from "../../lib/instant.ts";
import type { DateReader, DateSignal } from "../../ports/date-reader.ts";
import { toMoment } from "./calendar.ts";
import { readWords, readYears } from "./english.ts";
import { ORDINAL } from "./english-months.ts";
import { type Expression, masked, toSignals } from "./expressions.ts";
import { type Parser, readFigures } from "./figures.ts";
import { readOtherDays, readOtherMonths } from "./other-words.ts";

/** Loads the parser of each supported language. */
const LANGUAGES: Readonly<Record<string, () => Promise<Parser>>> = {
  en: async () => {
    const { Chrono, configuration } = await import("chrono-node/en");
    // The strict form reads only numeric dates, as intended: our own rules read words.
    return new Chrono(configuration.createConfiguration(true, false));
  },
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
const WARM_UP = "at 5:30 pm on 7 May 2023, May 7, 2023, 2023-05-07T10:00Z, 5/7/2023 and 7.5.2023";
const EPOCH = asInstant("1970-01-01T00:00:00.000000Z");

export type DateReaderOptions = {
  /** Two-letter codes of the languages that `ready` loads; empty: all supported ones. */
  readonly languages: readonly string[];
  /** Receives what went wrong; never text of a question. */
  readonly warn: (message: string) => void;
};

/**
 * Reads dates with chrono-node, with other defaults where its own do not suit memories: weekdays and amounts lie in the
 * past, and missing parts come from the reference. Our own rules read English words, so the parser is loaded only for the
 * first text with digits.
 */
export function createChronoDateReader({ languages, warn }: DateReaderOptions): DateReader {
  const parsers = new Map<string, Parser>();
  const loading = new Map<string, Promise<void>>();
  let warmed = false;
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
  const warmUp = (): void => {
    readDates(WARM_UP, EPOCH, languages);
    warmed = true;
  };
  return {
    ready: async (text, wanted = languages) => {
      const codes = codesOf(wanted).filter((code) => text === undefined || needsParser(code, text));
      for (const code of codes) {
        const parser =
          loading.get(code) ??
          load(code, parsers).then(warmUp, (error: unknown) =>
            report("the parser could not be loaded", error),
          );
        loading.set(code, parser);
        await parser;
      }
      if (!warmed) warmUp();
    },
    read: readDates,
  };
}

/** English first: its rules are finer. */
function codesOf(languages: readonly string[]): readonly string[] {
  return languages.length > 0 ? languages : Object.keys(LANGUAGES);
}

async function load(code: string, parsers: Map<string, Parser>): Promise<void> {
  const parser = await LANGUAGES[code]?.();
  if (parser !== undefined) parsers.set(code, parser);
}

const DAY_IN_WORDS = new RegExp(ORDINAL, "i");
const MONTH_IN_WORDS = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

/** Whether a text holds anything that only the parser of this language reads. */
function needsParser(code: string, text: string): boolean {
  return code !== "en" || /\d/.test(text) || (DAY_IN_WORDS.test(text) && MONTH_IN_WORDS.test(text));
}

function read(
  text: string,
  reference: Instant,
  codes: readonly string[],
  parsers: ReadonlyMap<string, Parser>,
): DateSignal[] {
  const now = toMoment(reference);
  const found: Expression[] = [];
  let rest = withoutTelephones(text);
  const take = (expressions: readonly Expression[]): void => {
    found.push(...expressions);
    rest = masked(rest, expressions);
  };
  for (const code of codes) {
    const isEnglish = code === "en";
    take(isEnglish ? readWords(rest, now) : readOtherDays(code, rest, now));
    const parser = parsers.get(code);
    if (parser !== undefined && needsParser(code, rest)) {
      take(readFigures(parser, rest, now, { relative: !isEnglish }));
    }
    if (!isEnglish) take(readOtherMonths(code, rest, now));
  }
  take(readYears(rest, now));
  return toSignals(text, found, now);
}

const DIGIT_GROUPS = /(?<![\w/:.])\+?\(?\d[\d ().-]{5,24}\d(?![\w/:])/g;
const DATE_IN_GROUPS =
  /(?<!\d)(?:(?:19|20)\d\d([-. ])\d{1,2}\1\d{1,2}|\d{1,2}([-. ])\d{1,2}\2(?:\d\d){1,2}|(?:19|20)\d\d *- *(?:19|20)\d\d)(?!\d)/;

/** Masks telephone numbers: seven digits or more in groups that form no date. */
function withoutTelephones(text: string): string {
  return text.replace(DIGIT_GROUPS, (groups) => {
    const digits = groups.replace(/\D/g, "").length;
    return digits < 7 || DATE_IN_GROUPS.test(groups) ? groups : "\u0000".repeat(groups.length);
  });
}
