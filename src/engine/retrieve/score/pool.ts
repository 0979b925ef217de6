import type { QueryIntent } from "../../../domain/enums.ts";
import { epistemicWeight } from "../../../domain/epistemics.ts";
import { type MemoryNode, statedTime, wordingOf } from "../../../domain/node.ts";
import type { RankingMultipliers, ScoreProvenance } from "../../../domain/records/score.ts";
import type { Signals } from "../../../domain/score-replay.ts";
import type { ScoringWeights } from "../../../domain/scoring.ts";
import { namesSpeaker, storedSpeaker } from "../../../domain/speaker.ts";
import { daysBetween, type Instant } from "../../../lib/instant.ts";
import type { EngineSettings } from "../../settings.ts";
import { type AskedTime, phrase } from "../analyze.ts";
import type { Candidate } from "../candidates.ts";

export type ScoredQuestion = TimeWindow & {
  readonly query: string;
  readonly intent: QueryIntent;
  readonly isAggregation: boolean;
  readonly askedTime?: AskedTime | undefined;
};

export type ScoreContext = {
  /** Before any shift. */
  readonly weights: ScoringWeights;
  readonly epistemicWeights: EngineSettings["epistemicWeights"];
  readonly analysis: ScoredQuestion;
  /** The present, for recency and decay. */
  readonly referenceTime: Instant;
  /** With weighted fusion only. */
  readonly multipliers: RankingMultipliers | undefined;
};

export type Entry = {
  readonly candidate: Candidate;
  /** Cosine and BM25, 0 to 1; undefined: not on that channel. */
  readonly semantic: number | undefined;
  readonly lexical: number | undefined;
  readonly signals: Omit<Signals, "recencyFactor" | "salience" | "confidence">;
  /** When it happened, else when it was stored. */
  readonly stated: Instant;
  /** When it happened, else when it last changed. */
  readonly moment: Instant;
};

export type Pool = {
  readonly context: ScoreContext;
  readonly entries: readonly Entry[];
  readonly question: QuestionTime;
  /** Undefined: the question names no speaker among the candidates. */
  readonly isSpokenByNamed: ((entry: Entry) => boolean) | undefined;
  /** Whether the question asks for the current state. */
  readonly isCurrentState: boolean;
  /** Whether a text mentions a change; computed at most once. */
  readonly isUpdate: (entry: Entry) => boolean;
};

/** Before any adjustment. */
export type Base = Pick<ScoreProvenance, "formulaVersion" | "trace" | "weights" | "fusion">;

export type Formula = (entry: Entry, index: number) => Base;

/** Paths needed for the full path score. */
const FULL_PATHS = 3;

export function toPool(candidates: readonly Candidate[], context: ScoreContext): Pool {
  const { analysis } = context;
  const entries = candidates.map((candidate) => toEntry(candidate, context));
  const question = questionTime(analysis.query, analysis.isAggregation);
  const known = new Map<Entry, boolean>();
  const isUpdate = (entry: Entry): boolean => {
    const is = known.get(entry) ?? hasUpdateWording(wordingOf(entry.candidate.node));
    known.set(entry, is);
    return is;
  };
  const isCurrentState =
    !question.neverCurrent &&
    (question.explicitCurrent || question.implicitCurrent) &&
    (analysis.intent !== "temporal" || question.explicitCurrent) &&
    (!question.implicitCurrent || entries.some(isUpdate));
  const isSpokenByNamed = namedSpeakers(entries, analysis.query);
  return { context, entries, question, isSpokenByNamed, isCurrentState, isUpdate };
}

/** Candidates whose speaker the question names. */
function namedSpeakers(
  entries: readonly Entry[],
  query: string,
): ((entry: Entry) => boolean) | undefined {
  const speakers = entries.map((entry) => storedSpeaker(entry.candidate.node.metadata));
  const named = new Set(
    [...new Set(speakers)].filter((name) => name !== undefined && namesSpeaker(query, name)),
  );
  if (named.size === 0) return undefined;
  const spoken = new Set(entries.filter((_, index) => named.has(speakers[index])));
  return (entry) => spoken.has(entry);
}

function toEntry(
  candidate: Candidate,
  { weights, epistemicWeights, analysis }: ScoreContext,
): Entry {
  const { node, lexical, graph, paths } = candidate;
  const semantic = candidate.semantic === undefined ? undefined : Math.max(0, candidate.semantic);
  const stated = statedTime(node);
  const isTimed = analysis.intent === "temporal" && weights.temporalBoost > 0;
  return {
    candidate,
    semantic,
    lexical,
    signals: {
      semanticSimilarity: semantic ?? 0,
      lexicalRelevance: lexical ?? 0,
      graphProximity: graph,
      epistemicWeight: epistemicWeight(node, epistemicWeights),
      pathScore: Math.min(paths.length / FULL_PATHS, 1),
      temporalAffinity: isTimed ? temporalAffinity(wordingOf(node), stated, analysis) : 0,
      nodeTypeBoost: weights.nodeTypeBoost[node.nodeType] ?? 1,
    },
    stated,
    moment: momentOf(node, weights),
  };
}

/** The time that decides which candidate is newest. */
function momentOf(node: MemoryNode, { fusion }: ScoringWeights): Instant {
  const byEvent = fusion.kind === "weighted" && fusion.recencyTime === "event_time";
  return byEvent ? statedTime(node) : (node.eventTime ?? node.updatedAt);
}

/** Ranks from 1, largest first; ties share the better rank: 1, 2, 2, 4. Instants rank newest first. */
export function competitionRanks<T extends number | string>(
  values: readonly (T | undefined)[],
): readonly (number | undefined)[] {
  const present = values.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]));
  present.sort((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0));
  const ranks = new Array<number | undefined>(values.length).fill(undefined);
  let rank = 0;
  let previous: T | undefined;
  present.forEach(({ value, index }, place) => {
    if (value !== previous) rank = place + 1;
    previous = value;
    ranks[index] = rank;
  });
  return ranks;
}

/** Ranks as shares of their number, 0 to below 1, newest first. */
export function newestFirstPlaces(
  times: readonly (Instant | undefined)[],
): readonly (number | undefined)[] {
  const count = times.filter((time) => time !== undefined).length;
  return competitionRanks(times).map((rank) =>
    rank === undefined ? undefined : (rank - 1) / count,
  );
}

/** A value as a share of the largest of `counted`, at most 1. */
export function shareOfLargest(counted: readonly number[]): (value: number) => number {
  const largest = counted.reduce((max, value) => Math.max(max, value), 0);
  return (value) => (largest === 0 ? 0 : Math.min(1, value / largest));
}

/** Rescales linearly to 0 to 1; equal values become 1. */
export function rescaleToUnit(
  values: readonly (number | undefined)[],
): readonly (number | undefined)[] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === undefined) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  const range = max - min;
  return values.map((value) => {
    if (value === undefined) return undefined;
    return range === 0 ? 1 : (value - min) / range;
  });
}

export function newestOf(times: readonly Instant[]): Instant | undefined {
  let newest: Instant | undefined;
  for (const time of times) if (newest === undefined || time > newest) newest = time;
  return newest;
}

/** Factor on recency for updates. */
export const UPDATE_GAIN = 2;

type RecencyRule = {
  /** The present. */
  readonly anchor: Instant;
  /** Per day. */
  readonly lambda: number;
};

/** Exponential in days before the anchor, 0 to 1. */
export function recency(time: Instant, { anchor, lambda }: RecencyRule, gain: number): number {
  const days = Math.max(0, daysBetween(time, anchor));
  return Math.min(1, Math.exp(-lambda * days) * gain);
}

/** Both ends included; an absent end is open. */
type TimeWindow = { readonly timeFrom: Instant | undefined; readonly timeTo: Instant | undefined };

const WINDOW_LAMBDA = 0.02;
const WORDING_SHARE = 0.3;

/** How well a memory matches the time of a question, 0 to 1: whether it names a date, and how near its time is. */
export function temporalAffinity(content: string, stated: Instant, window: TimeWindow): number {
  const wording = namesDate(content) ? 1 : 0;
  return WORDING_SHARE * wording + (1 - WORDING_SHARE) * proximity(wording, stated, window);
}

function proximity(wording: number, stated: Instant, { timeFrom, timeTo }: TimeWindow): number {
  if (timeFrom === undefined && timeTo === undefined) return wording / 2;
  const early = timeFrom !== undefined && stated < timeFrom ? daysBetween(stated, timeFrom) : 0;
  const late = timeTo !== undefined && stated > timeTo ? daysBetween(timeTo, stated) : 0;
  if (early === 0) return Math.exp(-WINDOW_LAMBDA * late);
  return Math.exp(-WINDOW_LAMBDA * (late === 0 ? early : Math.min(early, late)));
}

/* Wording of questions and memories about time. Every pattern runs in linear time. */

export type QuestionTime = {
  /** Asks for the present state explicitly. */
  readonly explicitCurrent: boolean;
  /** Asks in the present tense who or what is or does something. */
  readonly implicitCurrent: boolean;
  /** Asks for a member of a class: "what tool does". Implies `implicitCurrent`. */
  readonly answerClass: boolean;
  /** Asks for something recent. */
  readonly episodic: boolean;
  /** Asks for a count, a duration or an earlier state. */
  readonly neverCurrent: boolean;
};

const WORD = String.raw`[\p{L}\p{N}_]+`;

function anyOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join("|"), "iu");
}

/** At the beginning of a question. */
function opening(alternatives: string): string {
  return String.raw`^\s*${phrase(alternatives)}`;
}

const EXPLICIT_CURRENT = anyOf(
  phrase("current|currently|now|latest|today|at the moment|these days|presently|so far"),
  phrase("usually|typically|normally|most recently|right now"),
  opening("(?:do|does|am|are|have|has) I"),
  phrase("do I (?:go|have|use|own|keep|play|attend|work)"),
);
const IMPLICIT_CURRENT = anyOf(opening(`who (?:is|are)|what(?: ${WORD}){1,4} (?:does|is|has)`));
const WHAT_DOES = anyOf(opening(`what(?: ${WORD}){1,4} does`));
const EPISODIC = anyOf(
  phrase("recently|last time|the other day|earlier today|yesterday|remember when"),
  phrase("this (?:morning|afternoon|evening|week)|just (?:now|told|said|mentioned|asked)"),
  phrase("did (?:I|we) (?:talk|discuss|mention|say)"),
);
const NEVER_CURRENT = anyOf(
  phrase("how long|since when|when did|elapsed time"),
  phrase("before|after|previously|formerly|originally|used to"),
);

export function questionTime(query: string, isAggregation: boolean): QuestionTime {
  return {
    explicitCurrent: EXPLICIT_CURRENT.test(query),
    implicitCurrent: IMPLICIT_CURRENT.test(query),
    answerClass: WHAT_DOES.test(query) && !joinsQuestions(query),
    episodic: EPISODIC.test(query),
    neverCurrent: isAggregation || NEVER_CURRENT.test(query),
  };
}

const JOINT = anyOf(phrase("and|or"));
const DOES = anyOf(phrase("does"));

/** Whether a "does" follows an "and" or "or" on the first line. */
function joinsQuestions(query: string): boolean {
  const line = query.trimStart().split("\n", 1)[0] ?? "";
  const joint = JOINT.exec(line);
  return joint !== null && DOES.test(line.slice(joint.index));
}

/** A blank matches any whitespace. ASCII word boundaries are several times as fast, and the words are English. */
function pattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join("|").replaceAll(" ", "\\s+"), "i");
}

const UPDATE = pattern(
  "(?:changed to|switched to|migrated from|migrated to|moved to|replaced|updated to)\\b",
  "(?:now uses|no longer|rewritten|upgraded to|new \\S+ is|effective immediately)\\b",
  "\\b(?:changed|moved)\\b[^.!?\\n]{0,80}\\bnow\\b",
  "\\bupdated\\b",
);

/** Whether a text speaks of a change. */
export function hasUpdateWording(text: string): boolean {
  return UPDATE.test(text);
}

const MONTHS = [
  "january|february|march|april|may|june|july|august|september|october|november|december",
  "jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec",
].join("|");
const DATE = pattern(
  `\\b(?:${MONTHS})\\b`,
  "\\b\\d{4}[-/]\\d{1,2}[-/]\\d{1,2}\\b",
  "\\b\\d{1,2}[-/]\\d{1,2}[-/]\\d{2}(?:\\d{2})?\\b",
  "\\b(?:19|20)\\d{2}\\b",
);

/** Months, dates in digits, years 1900 to 2099. */
export function namesDate(text: string): boolean {
  return DATE.test(text);
}
