import type { QueryIntent, RetrievalMode } from "../../domain/enums.ts";
import type { Instant } from "../../lib/instant.ts";
import type { DateReader, DateSignal } from "../../ports/date-reader.ts";
import type { EngineSettings } from "../settings.ts";
import { askedIn } from "./analysis/asked.ts";
import {
  isName,
  keepsAlone,
  languagesOfDates,
  readableDates,
  TEMPORAL_WORDS,
} from "./analysis/dates.ts";
import { phrase, phrases } from "./analysis/phrases.ts";

/** What a question asks for, judged by its wording. */
export type QueryAnalysis = {
  readonly query: string;
  /** Of a long question: what it asks, without what was pasted around that. */
  readonly asked: readonly string[];
  readonly intent: QueryIntent;
  /** Names and quoted texts, in order, without repeats; at most 64. */
  readonly entities: readonly string[];
  /** Whether it asks for a count or a complete list. */
  readonly isAggregation: boolean;
  /** The dates that it names, in order. */
  readonly temporalSignals: readonly DateSignal[];
  /** The caller's bounds; without any, the earliest and the latest date that it names. Never a filter. */
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly retrievalMode: RetrievalMode;
};

/** Everything besides its words that decides how a question is read. */
export type AnalysisContext = {
  readonly dates: DateReader;
  readonly intentOrder: EngineSettings["queryIntentOrder"];
  /** Two-letter codes of the languages that are read besides the question's own; empty: all that the reader knows. */
  readonly languages: readonly string[];
  readonly referenceTime: Instant;
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly mode: RetrievalMode;
};

const ENTITIES_MAX = 64;

const LOOKUP_START = /^\s*(?:who|what\s+(?:is|are))(?![\p{L}\p{N}_])/iu;
const TEMPORAL = phrases(TEMPORAL_WORDS.replaceAll(" ", ", "));
const RELATIONAL = phrases("related to, connected to, linked to, between, associated with");
const FACTUAL = phrases("what, how, why, does, is it true, fact, facts");

/**
 * Stage 1: reads intent, entities, dates and the aggregation flag from the wording. The first matching intent wins.
 * Deterministic; linear in the length of the question. Dates are read in `languagesOfDates`, for which `context.dates`
 * must be ready.
 */
export function analyze(whole: string, context: AnalysisContext): QueryAnalysis {
  const { parts, sentence } = askedIn(whole);
  // Of a pasted log, dates and numbers are not what is asked for.
  const query = sentence ?? whole;
  const { names, all } = findEntities(query);
  const temporalFirst = context.intentOrder === "temporal_first";
  const signals = findDates(query, context).filter(
    ({ value }) => !temporalFirst || !isName(value, all),
  );
  const isTemporal = TEMPORAL.test(query) || signals.length > 0;
  const isLookup = LOOKUP_START.test(query) || names.length > 0;
  return {
    query: whole,
    asked: parts,
    intent:
      isTemporal && (temporalFirst || !isLookup)
        ? "temporal"
        : isLookup
          ? "entity_lookup"
          : otherIntent(query),
    entities: all,
    isAggregation: asksForAll(query),
    temporalSignals: signals,
    ...windowOf(signals, context),
    retrievalMode: context.mode,
  };
}

function otherIntent(query: string): QueryIntent {
  if (RELATIONAL.test(query)) return "relational";
  return FACTUAL.test(query) ? "factual" : "semantic";
}

function findDates(query: string, context: AnalysisContext): readonly DateSignal[] {
  const languages = languagesOfDates(query, context.languages);
  if (languages === undefined) return [];
  const isEnglish = languages.length === 0 || languages.includes("en");
  return context.dates
    .read(readableDates(query), context.referenceTime, languages)
    .filter(({ value }) => keepsAlone(value, isEnglish));
}

/** The span of the dates, unless the caller gave one. */
function windowOf(
  signals: readonly DateSignal[],
  { timeFrom, timeTo }: AnalysisContext,
): Pick<QueryAnalysis, "timeFrom" | "timeTo"> {
  if (timeFrom !== undefined || timeTo !== undefined) return { timeFrom, timeTo };
  const moments = signals.map(({ resolved }) => resolved).sort();
  return { timeFrom: moments[0], timeTo: moments.at(-1) };
}

// The first word of a sentence is always capitalised, so no name is recognised there.
const PROPER_NOUNS = /(?<!^|[.!?]\s)[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*/g;
// A single quote right after a letter or digit is an apostrophe.
const QUOTED = /"([^"]+)"|(?<![\p{L}\p{N}])'([^']+)'/gu;

function findEntities(query: string): { readonly names: string[]; readonly all: string[] } {
  const names = [...query.matchAll(PROPER_NOUNS)].map(([name]) => name);
  const quoted = [...query.matchAll(QUOTED)].map(([, double, single]) => double ?? single ?? "");
  const told = quoted.filter((text) => text.trim() !== "");
  return { names, all: [...new Set([...names, ...told])].slice(0, ENTITIES_MAX) };
}

const COUNTS = phrases(
  "how many, how much, how often, total, count, all the times, every time, list all, all of the",
);
/** "How many days ago" asks for a length of time, not for a list. */
const ELAPSED = new RegExp(
  `${phrase("how many (?:second|minute|hour|day|week|month|year)s?|how much time")}[^.!?]{0,50}${phrase("ago|passed|elapsed|before|between|since|until")}`,
  "iu",
);

function asksForAll(query: string): boolean {
  return COUNTS.test(query) && !ELAPSED.test(query);
}
