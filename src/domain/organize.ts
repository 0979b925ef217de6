import { withoutNoise } from "../lib/decimal.ts";
import { sha256OfJson } from "../lib/hashing.ts";
import { fromDate, type Instant } from "../lib/instant.ts";
import { canonicalJson, type Json, type JsonObject } from "../lib/json.ts";
import { compareUnits, foldCase } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import { type Cues, hasCue, isPersonal, languageOf } from "./extraction/cues.ts";
import { sentencesOf } from "./extraction/passages.ts";
import { analyse } from "./lexical-analysis.ts";
import { canReplace } from "./lifecycle.ts";
import { type MemoryNode, statedTime } from "./node.ts";

/** Which memories are duplicates and may be merged. A user's own notes of different sessions or metadata never are. */

/**
 * The compatibility key of a memory: equal for memories that may be merged, and for no others. Undefined for an entity that is a personal
 * word, which is compatible with none.
 */
export function compatibility(node: MemoryNode): string | undefined {
  if (node.nodeType === "entity" && isReference(node)) return undefined;
  return canonicalJson([
    node.userId,
    node.scope,
    node.nodeType,
    node.sourceType,
    node.epistemicType,
    node.sessionId ?? null,
    node.eventTime ?? null,
    node.validTo ?? null,
    node.ttlDays ?? null,
    node.pinned,
    node.metadata ?? {},
  ]);
}

/** Whether an entity is a personal word, which identifies a person only within its turn. */
function isReference({ content, metadata }: MemoryNode): boolean {
  const type = metadata?.["entity_type"];
  const isMarked = metadata?.["identity_status"] !== undefined;
  return isMarked || isPersonal(content, typeof type === "string" ? type : undefined);
}

export function isCompatible(one: MemoryNode, other: MemoryNode): boolean {
  const shared = compatibility(one);
  return one.id !== other.id && shared !== undefined && shared === compatibility(other);
}

/** What duplicates share besides compatibility. */
export function sameness(node: MemoryNode): string {
  if (node.nodeType === "entity") return nameKey(node.content);
  return JSON.stringify([node.content, isDated(node) ? node.validFrom : undefined]);
}

/**
 * Whether the start of validity distinguishes a memory from others with its text: if it was given, or in a turn of a conversation, where
 * repeated words were said twice. Otherwise it differs only because a loop stored the memory again.
 */
function isDated({ nodeType, sessionId, validFrom, createdAt }: MemoryNode): boolean {
  return validFrom !== createdAt || (nodeType === "note" && sessionId !== undefined);
}

/** Whether two memories are duplicates and may still be merged. */
export function isDuplicate(one: MemoryNode, other: MemoryNode): boolean {
  return areOpen(one, other) && isCompatible(one, other) && sameness(one) === sameness(other);
}

/** Whether a memory says again what a known one says, in the same circumstances, without a time or retention of its own. */
export function isRepeat(fresh: MemoryNode, known: MemoryNode): boolean {
  const isPlain = (node: MemoryNode) => node.ttlDays === undefined && !isDated(node);
  return (
    areOpen(fresh, known) &&
    isPlain(fresh) &&
    isPlain(known) &&
    known.createdAt < fresh.createdAt &&
    isCompatible({ ...fresh, pinned: known.pinned }, known)
  );
}

export function areOpen(one: MemoryNode, other: MemoryNode): boolean {
  return canReplace(one.lifecycleState) && canReplace(other.lifecycleState);
}

/** Scores of names that match by spelling. */
export const NAME_SCORES = { abbreviation: 0.95, case_variation: 0.9 } as const;

/** How the spelling of two names matches; `equal` for the same name; undefined if it does not. */
export function namesMatch(
  one: string,
  other: string,
): "abbreviation" | "case_variation" | "equal" | undefined {
  if (one.trim() === other.trim()) return "equal";
  const key = nameKey(one);
  const otherKey = nameKey(other);
  if (counterparts(key).includes(otherKey)) return "abbreviation";
  return key === otherKey ? "case_variation" : undefined;
}

export type MergeKind = "duplicate" | "alias";

/** The two memories of a merge, the kept one first: of duplicates the one said last. */
export function keptFirst(
  kind: MergeKind,
  one: MemoryNode,
  other: MemoryNode,
): readonly [kept: MemoryNode, retired: MemoryNode] {
  const nameLength = (node: MemoryNode) => [...node.content.trim()].length;
  const order =
    (kind === "alias"
      ? nameLength(other) - nameLength(one)
      : one.nodeType === "entity"
        ? 0
        : compareUnits(other.validFrom, one.validFrom)) ||
    other.confidenceBase - one.confidenceBase ||
    other.evidenceRefs.length - one.evidenceRefs.length ||
    compareUnits(one.createdAt, other.createdAt) ||
    compareUnits(one.id, other.id);
  return order <= 0 ? [one, other] : [other, one];
}

/** Evidence of several memories in order, without repeats. */
export function evidenceUnion<T>(lists: Iterable<readonly T[]>): readonly T[] {
  return [...new Set([...lists].flat())];
}

/** Names with their short forms. Two short forms of one name do not match each other. */
const SHORT_FORMS: Readonly<Record<string, readonly string[]>> = {
  javascript: ["js", "ecmascript"],
  typescript: ["ts"],
  python: ["py"],
  "machine learning": ["ml"],
  "artificial intelligence": ["ai"],
  "natural language processing": ["nlp"],
  "application programming interface": ["api"],
  "continuous integration": ["ci"],
  "continuous deployment": ["cd"],
  "continuous integration/continuous deployment": ["ci/cd", "cicd"],
  database: ["db"],
  postgresql: ["postgres", "pg"],
  mongodb: ["mongo"],
  kubernetes: ["k8s"],
  "amazon web services": ["aws"],
  "google cloud platform": ["gcp"],
  "microsoft azure": ["azure"],
  "operating system": ["os"],
  "user interface": ["ui"],
  "user experience": ["ux"],
  "representational state transfer": ["rest"],
  graphql: ["gql"],
  "hypertext markup language": ["html"],
  "cascading style sheets": ["css"],
  "structured query language": ["sql"],
};

const COUNTERPARTS = new Map<string, string[]>();
for (const [name, forms] of Object.entries(SHORT_FORMS)) {
  COUNTERPARTS.set(name, [...(COUNTERPARTS.get(name) ?? []), ...forms]);
  for (const form of forms) COUNTERPARTS.set(form, [...(COUNTERPARTS.get(form) ?? []), name]);
}

/** A name in the form for comparison: trimmed, ignoring case. */
export function nameKey(name: string): string {
  return foldCase(name.trim());
}

/** The short forms of a name, or the names that it abbreviates. @param key as `nameKey` returns it */
export function counterparts(key: string): readonly string[] {
  return COUNTERPARTS.get(key) ?? [];
}

export type SummaryLevel = "daily" | "weekly" | "monthly";

/** What a summary shows of a memory: all of its text, or sentences grounded in it. */
export type Excerpt = { readonly source: MemoryNode; readonly text: string };

/** How the texts of a summary were chosen. */
export type SummaryMethod = "excerpts" | "model";
const SUMMARY_FORMATS = {
  excerpts: "source-excerpts-v1",
  model: "model-sentences-v1",
} as const satisfies Record<SummaryMethod, string>;

/** A new summary, without the id, owner and times that publication adds. */
export type SummaryDraft = Pick<
  MemoryNode,
  | "content"
  | "lifecycleState"
  | "decayProfile"
  | "confidence"
  | "salience"
  | "eventTime"
  | "evidenceRefs"
> & {
  /** Its subject: a period, or a set of memories. */
  readonly about: string;
  /** A fingerprint of its sources; unchanged while the summary would be. */
  readonly requestHash: string;
  readonly metadata: JsonObject;
  readonly selected: readonly MemoryNode[];
  readonly edge: { readonly confidence: number; readonly metadata: JsonObject | undefined };
};

/** The week of a day, by ISO 8601: that of its Thursday. @param day `YYYY-MM-DD` */
export function weekOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  const thursday = new Date(date.getTime() + (3 - ((date.getUTCDay() + 6) % 7)) * DAY_MS);
  const year = fromDate(thursday).slice(0, 4);
  const days = (thursday.getTime() - Date.parse(`${year}-01-01T00:00:00Z`)) / DAY_MS;
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, "0")}`;
}

const DAY_MS = 86_400_000;

export type Ranked = {
  readonly id: Uuid;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
};

/** The sources that a summary shows, highest weight first. */
export function selectSources<T extends Ranked>(sources: readonly T[], max: number): readonly T[] {
  const order = (a: T, b: T) =>
    b.salienceBase - a.salienceBase ||
    b.confidenceBase - a.confidenceBase ||
    compareUnits(b.at, a.at) ||
    compareUnits(a.id, b.id);
  return [...sources].sort(order).slice(0, max);
}

/** The fingerprint of a summary of selected sources. @param how what else determines its text and vector */
export function requestHashOf(selected: readonly Ranked[], how: Json): string {
  const sources = selected.map(({ id, salienceBase, confidenceBase }) => [
    id,
    salienceBase,
    confidenceBase,
  ]);
  return sha256OfJson([how, sources]);
}

/** The part of a source that a summary shows; while it is unchanged, the summary is valid. */
export function sourceHash(node: MemoryNode): string {
  const { userId: _renamed, ...quoted } = quotedMembers(node);
  return sha256OfJson(quoted);
}

function quotedMembers(node: MemoryNode) {
  return {
    userId: node.userId,
    source_id: node.id,
    epistemic_type: node.epistemicType,
    source_type: node.sourceType,
    event_time: node.eventTime ?? null,
    valid_from: node.validFrom,
    valid_to: node.validTo ?? null,
    content: node.content,
  };
}

const SHOWN_BY: Readonly<Record<SummaryMethod, string>> = {
  excerpts: "selected excerpts",
  model: "sentences selected by a language model",
};

/** The summary of a period. @param allIds of all memories of the period @param excerpts in the order of their rank */
export function periodSummary(
  {
    level,
    period,
    about,
  }: { readonly level: SummaryLevel; readonly period: string; readonly about: string },
  excerpts: readonly Excerpt[],
  given: {
    readonly allIds: readonly Uuid[];
    readonly requestHash: string;
    readonly method: SummaryMethod;
  },
): SummaryDraft {
  const selected = excerpts.map(({ source }) => source);
  const lines = excerpts.map(({ source, text }) => {
    const { userId: _owner, ...quoted } = quotedMembers(source);
    return JSON.stringify({ ...quoted, content: text });
  });
  return {
    about,
    requestHash: given.requestHash,
    content: [
      `[${level} summary ${period}: ${SHOWN_BY[given.method]}, not exhaustive]`,
      ...lines,
    ].join("\n"),
    lifecycleState: "stable",
    decayProfile: "slow",
    confidence: mean(selected.map(({ confidenceBase }) => confidenceBase)),
    salience: mean(selected.map(({ salienceBase }) => salienceBase)),
    eventTime: selected.map(statedTime).sort(compareUnits)[0],
    evidenceRefs: evidenceUnion(selected.map(({ evidenceRefs, id }) => [...evidenceRefs, id])),
    selected,
    edge: { confidence: 1, metadata: { level, period } },
    metadata: {
      summary_publication_kind: "hierarchical_source_excerpts_v2",
      summary_publication_key: about,
      summarization_level: level,
      summary_format: SUMMARY_FORMATS[given.method],
      period_key: period,
      source_count: given.allIds.length,
      source_node_ids: [...given.allIds].sort(compareUnits),
      selected_source_node_ids: selected.map(({ id }) => id),
    },
  };
}

/** The summary of a group of similar memories. @param members all of them */
export function groupSummary(
  members: readonly MemoryNode[],
  excerpts: readonly Excerpt[],
  given: { readonly about: string; readonly requestHash: string; readonly method: SummaryMethod },
): SummaryDraft {
  const selected = excerpts.map(({ source }) => source);
  const confidence = mean(selected.map((node) => node.confidence));
  const content = [
    `[consolidation of ${members.length} memories: ${SHOWN_BY[given.method]} of ${selected.length}]`,
    ...excerpts.flatMap(({ source, text }) => [`[${sourceLine(source)}]`, text]),
  ].join("\n");
  return {
    about: given.about,
    requestHash: given.requestHash,
    content,
    lifecycleState: "tentative",
    decayProfile: "fast",
    confidence,
    salience: Math.max(...selected.map(({ salience }) => salience)),
    eventTime: undefined,
    evidenceRefs: evidenceUnion(selected.map(({ evidenceRefs, id }) => [id, ...evidenceRefs])),
    selected,
    edge: { confidence, metadata: undefined },
    metadata: {
      consolidation_coverage: coverageOf(excerpts),
      source_node_ids: members.map(({ id }) => id).sort(compareUnits),
      selected_source_node_ids: selected.map(({ id }) => id),
      cluster_size: members.length,
      consolidation_content_sha256: sha256OfJson(content),
      summary_format: SUMMARY_FORMATS[given.method],
      consolidation_format_version: 2,
    },
  };
}

/** The sources whose whole text a summary shows, with the hash of the text shown. */
function coverageOf(excerpts: readonly Excerpt[]): JsonObject {
  const covered = excerpts.filter(({ source, text }) => text === source.content);
  return Object.fromEntries(covered.map(({ source }) => [source.id, sourceHash(source)]));
}

function sourceLine(node: MemoryNode): string {
  const { event_time: event, valid_from: from, valid_to: to, ...quoted } = quotedMembers(node);
  const { source_id: id, epistemic_type: epistemic, source_type: type } = quoted;
  return `source ${id}; event_time ${event ?? "unknown"}; valid_from ${from}; valid_to ${to ?? "unknown"}; epistemic ${epistemic}; source_type ${type}`;
}

/** A set of memories as the subject of a summary. */
export function groupKey(members: readonly { readonly id: Uuid }[]): string {
  return sha256OfJson(members.map(({ id }) => id).sort(compareUnits));
}

function mean(values: readonly number[]): number {
  return withoutNoise(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}

const NO_NAMES: ReadonlySet<string> = new Set(
  `This That What When Where How Who Why Does Did Has Have Was Will Can Could Would Should May Also Just Very Really Some Most Each
  Every After Before Since Until About From Into Over With Note Image Observation Known Facts`.split(
    /\s+/,
  ),
);
const CAPITALISED = /\b[A-Z][a-z]{2,}\b/g;
/** Uses of a word from which it counts as a name. */
const USED_FROM = 3;

/** Counts the words of texts that look like names. */
export class NameCounts {
  readonly #counts = new Map<string, number>();

  add(text: string): void {
    for (const [word] of text.matchAll(CAPITALISED)) {
      if (!NO_NAMES.has(word)) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    }
  }

  names(): readonly string[] {
    return [...this.#counts].filter(([, count]) => count >= USED_FROM).map(([name]) => name);
  }
}

/** Whether a text has a name as a whole word, in any case. */
export function mentions(name: string): (text: string) => boolean {
  const literal = RegExp.escape(name);
  const whole = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])${literal}(?![\\p{L}\\p{M}\\p{N}_])`, "iu");
  return (text) => whole.test(text);
}

export type ProfileText = {
  readonly content: string;
  readonly tokens: number;
  readonly sources: readonly MemoryNode[];
};

/**
 * The text of a profile: the memories that mention a name, in time order, as many as fit whole; one that does not fit is skipped. Undefined
 * if none fits.
 * @param count tokens of a text
 */
export function profileText(
  name: string,
  nodes: readonly MemoryNode[],
  maxTokens: number,
  count: (text: string) => number,
): ProfileText | undefined {
  const inOrder = [...nodes].sort(
    (a, b) => compareUnits(statedTime(a), statedTime(b)) || compareUnits(a.id, b.id),
  );
  let content = `[profile of ${name}]\nThat these memories are about ${name} is inferred from the name.`;
  let tokens = 0;
  const sources: MemoryNode[] = [];
  for (const node of inOrder) {
    const longer = `${content}\n\n[${sourceLine(node)}; recorded_at ${node.createdAt}]\n${node.content}`;
    const needed = count(longer);
    if (needed > maxTokens) continue;
    content = longer;
    tokens = needed;
    sources.push(node);
  }
  return sources.length === 0 ? undefined : { content, tokens, sources };
}

/** Words of negation, as `analyse` returns them. A sentence that drops one says the opposite. */
const DENIALS: ReadonlySet<string> = new Set(
  `not no never none nobody nothing neither nor cannot without t nicht kein keine keinen keinem keiner keines nie niemals niemand nichts
  weder ohne ne pas jamais aucun aucune personne rien sans ni nunca jamas ningun ninguna ninguno nadie nada sin tampoco non mai nessun
  nessuno nessuna niente senza nao nenhum nenhuma ninguem sem nem niet geen nooit niemand niets zonder не нет ни никогда никто ничего
  без ない ませ せん`.split(/\s+/),
);

/** Qualifying words. A sentence that drops one says more than its source. */
const LIMITS = [
  "condition",
  "uncertain",
  "negation",
  "ending",
  "past",
  "noMore",
  "advice",
] as const satisfies (keyof Cues)[];

/**
 * Whether a sentence says nothing beyond its source: it is a sentence of the source with some words left out, none of which negates or
 * qualifies the rest. Pure.
 */
export function isGrounded(sentence: string, source: string): boolean {
  const words = analyse(sentence);
  if (words.length === 0) return false;
  return sentencesOf(source).some(({ from, to }) =>
    isShortened(sentence, words, source.slice(from, to)),
  );
}

function isShortened(sentence: string, words: readonly string[], whole: string): boolean {
  let next = 0;
  for (const word of analyse(whole)) {
    if (word === words[next]) next += 1;
    else if (DENIALS.has(word)) return false;
  }
  if (next < words.length) return false;
  const language = languageOf(whole);
  return LIMITS.every((cue) => !hasCue(whole, language, cue) || hasCue(sentence, language, cue));
}
