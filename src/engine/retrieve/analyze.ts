import type { QueryIntent, RetrievalMode } from "../../domain/enums.ts";
import {
  foreignLanguages,
  isFunctionWord,
  STEMMED_LANGUAGES,
  type StemmedLanguage,
} from "../../domain/language.ts";
import { analyse, ENGLISH_STOP_WORDS } from "../../domain/lexical-analysis.ts";
import { asInstant, daysBetween, type Instant } from "../../lib/instant.ts";
import type { DateReader, DateSignal } from "../../ports/models.ts";
import type { EngineSettings } from "../settings.ts";

/** The time that a question asks for and nothing else; `until` is exclusive. */
export type AskedTime = { readonly from: Instant; readonly until: Instant };

/** Distance of a moment from a time range, in days; 0 within it. */
export function daysFrom({ from, until }: AskedTime, moment: Instant): number {
  if (moment < from) return daysBetween(moment, from);
  return moment < until ? 0 : Math.max(daysBetween(until, moment), Number.MIN_VALUE);
}

export type QueryAnalysis = {
  readonly query: string;
  /** The actual question of a long text, without what was pasted around it. */
  readonly asked: readonly string[];
  readonly intent: QueryIntent;
  /** Names and quoted texts in order, without repeats; at most 64. */
  readonly entities: readonly string[];
  /** Whether it asks for a count or a complete list. */
  readonly isAggregation: boolean;
  readonly temporalSignals: readonly DateSignal[];
  /** The caller's bounds, else the earliest and the latest date of the question. Never a filter. */
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly retrievalMode: RetrievalMode;
  /** The requested time, if the question says nothing else. */
  readonly askedTime?: AskedTime | undefined;
};

/** What determines how a question is read besides its words. */
export type AnalysisContext = {
  readonly dates: DateReader;
  readonly intentOrder: EngineSettings["queryIntentOrder"];
  /** Two-letter codes of languages read besides the question's own; empty: all. */
  readonly languages: readonly string[];
  readonly referenceTime: Instant;
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
  readonly mode: RetrievalMode;
};

const ENTITIES_MAX = 64;

const LOOKUP_START = /^\s*(?:who|what\s+(?:is|are))(?![\p{L}\p{N}_])/iu;
/** Words of a question about time. */
const TEMPORAL_WORDS =
  "when last before after recent recently ago yesterday today tomorrow earlier later since until prior";
const TEMPORAL = phrases(TEMPORAL_WORDS.replaceAll(" ", ", "));
const RELATIONAL = phrases("related to, connected to, linked to, between, associated with");
const FACTUAL = phrases("what, how, why, does, is it true, fact, facts");

/** Stage 1: intent, entities, dates and aggregation from the wording; the first matching intent wins. Linear in its length. */
export function analyze(whole: string, context: AnalysisContext): QueryAnalysis {
  const { parts, sentence } = askedIn(whole);
  // Dates and numbers of a pasted log are not what is asked for.
  const query = sentence ?? whole;
  const { names, all } = findEntities(query);
  const temporalFirst = context.intentOrder === "temporal_first";
  const signals = findDates(query, context).filter(
    ({ value }) => !temporalFirst || !isName(value, all),
  );
  const askedTime = askedTimeOf(query, signals);
  const isTemporal = TEMPORAL.test(query) || signals.length > 0;
  const isLookup = LOOKUP_START.test(query) || names.length > 0;
  return {
    query: whole,
    asked: parts,
    intent:
      askedTime !== undefined
        ? "temporal"
        : isTemporal && (temporalFirst || !isLookup)
          ? "temporal"
          : isLookup
            ? "entity_lookup"
            : otherIntent(query),
    entities: all,
    isAggregation: asksForAll(query),
    temporalSignals: signals,
    ...windowOf(signals, context),
    retrievalMode: context.mode,
    askedTime,
  };
}

/** Verbs for spending a day, in eight languages: a question of only these and a time asks for the time. */
const DOING = new Set(
  analyse(
    `do did does doing done happen happened happening go going went gone say said talk talked tell told mention mentioned write wrote
    note noted notes record recorded remember anything something everything thing things plan plans planned make made
    los gemacht mache machte tat tun passiert geschah geschehen gesagt sagte erzählt geschrieben notiert getan stand
    hice hizo hicimos hacer hecho pasó ocurrió dije dijo hablé hablamos conté escribí anoté
    fait fis passé arrivé dit parlé raconté écrit noté quoi
    cosa fatto feci successo accaduto detto parlato raccontato scritto annotato
    fiz fez feito aconteceu houve disse falei contei escrevi anotei
    gedaan deed gebeurd gebeurde gezegd verteld geschreven genoteerd
    делал делала сделал сделала было случилось произошло говорил говорила сказал сказала писал записал`,
  ),
);

/** The time of a question that names one and no topic: `What did I do yesterday?`. */
function askedTimeOf(query: string, signals: readonly DateSignal[]): AskedTime | undefined {
  const [first] = signals;
  if (first === undefined) return undefined;
  const rest = signals.reduce((text, { value }) => text.replace(value, " "), query);
  const foreign = foreignLanguages(query);
  const languages = STEMMED_LANGUAGES.filter((language) => foreign.includes(language));
  if (!analyse(rest).every((word) => saysNoTopic(word, languages))) return undefined;
  const [from = first.from] = signals.map((signal) => signal.from).sort();
  if (SINCE.test(query)) return { from, until: LAST_INSTANT };
  const [until = first.until] = signals
    .map((signal) => signal.until)
    .sort()
    .reverse();
  return { from, until };
}

const SINCE = new RegExp(phrase("since|seit|seitdem|desde|depuis|sinds"), "iu");
const LAST_INSTANT = asInstant("9999-12-31T23:59:59.999999Z");

function saysNoTopic(word: string, languages: readonly StemmedLanguage[]): boolean {
  if (DOING.has(word) || languages.some((language) => isFunctionWord(language, word))) return true;
  return languages.length === 0 && ENGLISH_STOP_WORDS.has(word);
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

// The first word of a sentence is capitalized anyway.
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

/** UTF-16 units up to which a question is searched for unchanged. */
const SHORT_CHARS = 600;
/** UTF-16 units read at either end of a longer one. */
const END_CHARS = 1000;
/** A shorter sentence is joined with the previous one. */
const TELLING = 16;
const MOST_CHARS = 400;

const BREAK = /\n+|(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])/u;
const ASKS = /[?？؟]["')\]]?$/u;

/** The question in a long text. */
type Asked = {
  /** Searched for in addition to the whole question; empty for a short one. */
  readonly parts: readonly string[];
  /** The sentence that asks, at either end. */
  readonly sentence: string | undefined;
};

/** The last sentence at the end, else at the beginning, that ends with a question mark; else the first and the last sentence. */
function askedIn(query: string): Asked {
  if (query.length <= SHORT_CHARS) return { parts: [], sentence: undefined };
  const first = sentencesOf(query.slice(0, END_CHARS));
  const last = sentencesOf(query.slice(-END_CHARS));
  const asking = last.findLastIndex((sentence) => ASKS.test(sentence));
  const opening = first.findIndex((sentence) => ASKS.test(sentence));
  const sentence =
    asking !== -1 ? upTo(last, asking) : opening !== -1 ? upTo(first, opening) : undefined;
  if (sentence === undefined) {
    return { parts: [first[0] ?? "", upTo(last, last.length - 1)].map(cut), sentence };
  }
  // A longer one was cut.
  return { parts: [sentence], sentence: sentence.length < MOST_CHARS ? sentence : undefined };
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(BREAK)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** A sentence, joined with the previous ones if it is short. */
function upTo(sentences: readonly string[], end: number): string {
  let text = sentences[end] ?? "";
  for (let at = end - 1; at >= 0 && text.length < TELLING; at -= 1) {
    text = `${sentences[at]} ${text}`;
  }
  return text.slice(-MOST_CHARS);
}

function cut(text: string): string {
  return text.slice(0, MOST_CHARS);
}

const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday";
/** Without `may`, also a common verb. */
const MONTHS = "january february march april june july august september october november december";
const SHORT = "jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
const HINTS =
  "now next past coming upcoming tonight weekend day days night nights week weeks month months year years hour hours minute minutes second seconds morning afternoon evening midnight noon decade decades fortnight quarter century";

const GATE = new RegExp(
  `\\d|(?<![a-z])(?:${[TEMPORAL_WORDS, WEEKDAYS, MONTHS, SHORT, HINTS].join(" ").replaceAll(" ", "|")})(?![a-z])`,
  "i",
);
const ALONE: ReadonlySet<string> = new Set(
  [TEMPORAL_WORDS, WEEKDAYS, MONTHS, SHORT, "tonight weekend"].join(" ").split(" "),
);

/** The languages in which dates are read: the question's own (`mon` is French too) and the configured ones. Undefined: no dates. */
export function languagesOfDates(
  query: string,
  configured: readonly string[],
): readonly string[] | undefined {
  const own = foreignLanguages(readableDates(query));
  if (own.length === 0) return GATE.test(query) ? configured : undefined;
  if (configured.length === 0) return configured;
  return [...own, ...configured.filter((code) => code !== "en" && !own.includes(code))];
}

const READABLE_CHARS = 1000;

/** Beginning and end of a very long question. */
function readableDates(query: string): string {
  if (query.length <= 2 * READABLE_CHARS) return query;
  // Cut at spaces, so that no number or word is split.
  const head = query.slice(0, READABLE_CHARS).replace(/\S*$/, "");
  const tail = query.slice(-READABLE_CHARS).replace(/^\S*/, "");
  return `${head}\n${tail}`;
}

/** Shorter words are ambiguous in other languages: `mar` is Tuesday and sea. */
const FOREIGN_CHARS = 4;

/** Whether an expression alone is a date: digits, several words, or one unambiguous word. */
function keepsAlone(value: string, isEnglish: boolean): boolean {
  if (/[\d\s]/.test(value)) return true;
  if (!isEnglish) return value.length >= FOREIGN_CHARS || /^hoy$|\P{ASCII}/iu.test(value);
  return ALONE.has(value.toLowerCase().replace(/[^a-z]+$/, ""));
}

/** Whether a date is more likely a name: one capitalized word of an entity. */
function isName(value: string, entities: readonly string[]): boolean {
  return (
    /^\p{Lu}[^\s\d]*$/u.test(value) &&
    entities.some((entity) => entity.split(/\s+/).includes(value))
  );
}

/** Source of a pattern for whole words separated by `|`, for the flags `iu`. */
export function phrase(alternatives: string): string {
  return String.raw`(?<![\p{L}\p{N}_])(?:${alternatives.replaceAll(" ", String.raw`\s+`)})(?![\p{L}\p{N}_])`;
}

/** Matches any of some phrases, separated by commas, as whole words. */
function phrases(list: string): RegExp {
  return new RegExp(phrase(list.split(", ").join("|")), "iu");
}
