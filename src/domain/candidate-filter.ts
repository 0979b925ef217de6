import type { Instant } from "../lib/instant.ts";
import type { NodeType, Scope, SourceType } from "./enums.ts";
import { expiredAt } from "./fading.ts";
import { analyse, isPlain, questionTerms, STEM_CHARS, stem } from "./lexical-analysis.ts";
import { type MemoryNode, statedTime } from "./node.ts";

/** Entities and preferences are timeless: validity bounds do not exclude them. */
export const TIMELESS_TYPES: readonly NodeType[] = ["entity", "preference"];

/** What a question may find. Absent members do not restrict. */
export type CandidateFilter = {
  readonly userId: string;
  readonly scopes: readonly Scope[] | undefined;
  readonly excludeNodeTypes: readonly NodeType[] | undefined;
  /** Empty: nothing is allowed. */
  readonly sourceTypes: readonly SourceType[] | undefined;
  readonly knowledgeAt: Instant | undefined;
  /** Bounds of the stated time, inclusive. */
  readonly eventTimeFrom: Instant | undefined;
  readonly eventTimeTo: Instant | undefined;
  /** Keep memories that were still valid after this moment; entities and preferences are exempt. */
  readonly timeFrom: Instant | undefined;
  /** Keep memories that had become valid by this moment; entities and preferences are exempt. */
  readonly timeTo: Instant | undefined;
  /** Keep memories whose retention is not over at this moment. */
  readonly aliveAt?: Instant;
};

/** The default filter of an owner: everything. */
export function everythingOf(userId: string): CandidateFilter {
  return {
    userId,
    scopes: undefined,
    excludeNodeTypes: undefined,
    sourceTypes: undefined,
    knowledgeAt: undefined,
    eventTimeFrom: undefined,
    eventTimeTo: undefined,
    timeFrom: undefined,
    timeTo: undefined,
  };
}

/**
 * Whether a memory passes a filter, lifecycle state aside. The stores evaluate the same rules inside their searches; this form serves
 * memories found in other ways, and the tests that compare the two.
 */
export function passesFilter(node: MemoryNode, filter: CandidateFilter): boolean {
  return (
    node.userId === filter.userId &&
    (filter.scopes?.includes(node.scope) ?? true) &&
    !(filter.excludeNodeTypes?.includes(node.nodeType) ?? false) &&
    (filter.sourceTypes?.includes(node.sourceType) ?? true) &&
    withinValidity(node, filter) &&
    withinKnowledge(node, filter) &&
    (filter.aliveAt === undefined || !expiredAt(filter.aliveAt)(node))
  );
}

function withinValidity(node: MemoryNode, { timeFrom, timeTo }: CandidateFilter): boolean {
  if (TIMELESS_TYPES.includes(node.nodeType)) return true;
  if (timeFrom !== undefined && node.validTo !== undefined && node.validTo <= timeFrom)
    return false;
  return timeTo === undefined || node.validFrom <= timeTo;
}

function withinKnowledge(node: MemoryNode, filter: CandidateFilter): boolean {
  const stated = statedTime(node);
  return (
    (filter.knowledgeAt === undefined || node.createdAt <= filter.knowledgeAt) &&
    (filter.eventTimeFrom === undefined || stated >= filter.eventTimeFrom) &&
    (filter.eventTimeTo === undefined || stated <= filter.eventTimeTo)
  );
}

/** Whether a hit likely answers a question, or is merely the nearest one. */
export const STRENGTHS = ["strong", "weak"] as const;
export type Strength = (typeof STRENGTHS)[number];

type Judged = {
  /** With the speaker's name, if known. */
  readonly text: string;
  readonly nodeType?: NodeType | undefined;
  /** Cosine of its own vector with the question, 0 to 1; undefined without one. */
  readonly cosine: number | undefined;
};

/*
 * Tuned for bge-small-en-v1.5 with scripts/quality: its cosines hardly fall below 0.45 for English and 0.6 for other languages, so a cosine
 * alone does not distinguish an answer from a text in the same language. See docs/retrieval.md.
 */
/** How much the share of the question's words in a text adds to the cosine. */
const WORDS_SHARE = 0.3;
/** At or above this the best hit answers the question. */
const ANSWERS_FROM = 0.73;
/** So does a lower first hit with at least this cosine, and this lead over all others. */
const AHEAD_FROM = 0.58;
const AHEAD_BY = 0.07;
/** At or above this another hit is part of the answer, */
const BELONGS_FROM = 0.58;
/** unless it is this much worse than the best one. */
const BEHIND_BEST = 0.35;
/** Share of the question's words from which a text without a vector is an answer. */
const ANSWERS_WITHOUT_VECTOR = 0.5;

/** Words of questions in languages other than English that carry no topic. */
const EMPTY: ReadonlySet<string> = new Set(
  analyse(
    `der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde im in am an auf bei zu zum
    zur von vom mit für aus nach über um wie was wer wo wann welche welcher welches welchen ich mich mir wir uns unser unsere du er
    sie es man mein meine hat habe haben hoch viel viele oft el la los las lo un una unos unas de del y e o u es son era esta están fue
    al a en que se su sus mi mis me nos tu con por para como cuál cuánto cuánta cuántos cuántas cuándo dónde quién si ha han hay`,
  ),
);

/** Words by which questions name a type of memories, and those that such questions have besides. */
const TYPE_WORDS: Readonly<Partial<Record<NodeType, ReadonlySet<string>>>> = {
  task: stems("task tasks todo todos reminder aufgabe tarea tareas tâche"),
  decision: stems("decision decide entscheidung entschieden decisión"),
  preference: stems("preference vorliebe preferencia"),
  event: stems("birthday appointment geburtstag termin cumpleaños cita citas"),
  instruction: stems("instruction rule rules regel"),
};
const BESIDE_TYPES = stems("open pending due list show all current left offen alle pendientes");

function stems(words: string): ReadonlySet<string> {
  return new Set(analyse(words).map(stem));
}

/**
 * The strength of each hit of one question. If the best hit answers the question, it and those not much worse are strong. Otherwise only a
 * first hit far ahead of all others is. Pure.
 * @param next the highest cosine of anything found besides the first hit; undefined if nothing
 */
export function strengthsOf(
  question: string,
  hits: readonly Judged[],
  next?: number,
): readonly Strength[] {
  const terms = questionTerms(question).flatMap(({ term }) =>
    EMPTY.has(term) ? [] : [stem(term)],
  );
  // The actual question is at the end, or at the beginning.
  const words = new Set([...terms.slice(-WORDS_READ / 2), ...terms.slice(0, WORDS_READ / 2)]);
  const values = hits.map((hit) => worthOf(words, hit));
  const best = values.reduce((most, value) => Math.max(most, value), 0);
  const least = Math.max(BELONGS_FROM, best - BEHIND_BEST);
  if (best >= ANSWERS_FROM) return values.map((value) => (value >= least ? "strong" : "weak"));
  const first = hits[0]?.cosine ?? 0;
  const isAhead = next !== undefined && first >= AHEAD_FROM && first >= next + AHEAD_BY;
  return hits.map((_, place) => (isAhead && place === 0 ? "strong" : "weak"));
}

function worthOf(words: ReadonlySet<string>, { text, nodeType, cosine }: Judged): number {
  const share = isNamed(words, nodeType) ? 1 : shareOf(words, text);
  if (cosine === undefined) return share >= ANSWERS_WITHOUT_VECTOR ? ANSWERS_FROM : 0;
  return cosine + WORDS_SHARE * share;
}

/** Whether a question names a type, and nothing else: `open tasks`. */
function isNamed(words: ReadonlySet<string>, type: NodeType | undefined): boolean {
  const names = type && TYPE_WORDS[type];
  if (names === undefined || !words.values().some((word) => names.has(word))) return false;
  return words.values().every((word) => names.has(word) || BESIDE_TYPES.has(word));
}

/** Words of a question that are looked up in texts, and UTF-16 units of a text that are searched. */
const WORDS_READ = 64;
const CHARS_READ = 32_768;

function shareOf(words: ReadonlySet<string>, whole: string): number {
  if (words.size === 0) return 0;
  const text = whole.slice(0, CHARS_READ);
  const folded = isPlain(text) ? text.toLowerCase() : ` ${analyse(text).join(" ")} `;
  let found = 0;
  for (const word of words) if (hasWord(folded, word)) found += 1;
  return found / words.size;
}

/** Whether a folded text has a word with this stem. Texts are many, and splitting them into words would cost ten times as much. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const begins = at === 0 || !isWordCharacter(text.charCodeAt(at - 1));
    const isWhole =
      word.length === STEM_CHARS || !isWordCharacter(text.charCodeAt(at + word.length));
    if (begins && isWhole) return true;
  }
  return false;
}

/** Any non-ASCII character counts as a letter: folded text has blanks between its words. The end of a text gives NaN. */
function isWordCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 127;
}
