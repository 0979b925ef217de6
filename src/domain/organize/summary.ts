import { withoutNoise } from "../../lib/decimal.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import { fromDate, type Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { type MemoryNode, statedTime } from "../node.ts";
import { evidenceUnion } from "./merge-policy.ts";

export type SummaryLevel = "daily" | "weekly" | "monthly";

/** What a summary shows of a memory: all of its text, or sentences that are grounded in it. */
export type Excerpt = { readonly source: MemoryNode; readonly text: string };

/** How the texts of a summary were chosen. */
export type SummaryMethod = "excerpts" | "model";
export const SUMMARY_FORMATS = {
  excerpts: "source-excerpts-v1",
  model: "model-sentences-v1",
} as const satisfies Record<SummaryMethod, string>;

/** A new summary, without what only its publication knows: id, owner and times. */
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
  /** What it is about: a period, or a set of memories. */
  readonly about: string;
  /** What it is made from; equal as long as another one would be the same. */
  readonly requestHash: string;
  readonly metadata: JsonObject;
  /** The memories whose texts it shows. */
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

/** What decides the order of the sources of a period. */
export type Ranked = {
  readonly id: Uuid;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
};

/** The sources that a summary shows, the weightiest first. */
export function selectSources<T extends Ranked>(sources: readonly T[], max: number): readonly T[] {
  const order = (a: T, b: T) =>
    b.salienceBase - a.salienceBase ||
    b.confidenceBase - a.confidenceBase ||
    compareUnits(b.at, a.at) ||
    compareUnits(a.id, b.id);
  return [...sources].sort(order).slice(0, max);
}

/** What a summary of selected sources would be made from. @param how what else decides its text and its vector */
export function requestHashOf(selected: readonly Ranked[], how: Json): string {
  const sources = selected.map(({ id, salienceBase, confidenceBase }) => [
    id,
    salienceBase,
    confidenceBase,
  ]);
  return sha256OfJson([how, sources]);
}

/** What of a source stands in a summary; while it is equal, the summary is right. */
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
  given: {
    readonly about: string;
    readonly requestHash: string;
    readonly method: SummaryMethod;
  },
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

/** The sources whose whole text a summary shows, with the hash of what it shows of each. */
function coverageOf(excerpts: readonly Excerpt[]): JsonObject {
  const covered = excerpts.filter(({ source, text }) => text === source.content);
  return Object.fromEntries(covered.map(({ source }) => [source.id, sourceHash(source)]));
}

/** The facts about a source of a group or a profile. */
export function sourceLine(node: MemoryNode): string {
  const { event_time: event, valid_from: from, valid_to: to, ...quoted } = quotedMembers(node);
  const { source_id: id, epistemic_type: epistemic, source_type: type } = quoted;
  return `source ${id}; event_time ${event ?? "unknown"}; valid_from ${from}; valid_to ${to ?? "unknown"}; epistemic ${epistemic}; source_type ${type}`;
}

/** A set of memories as what a summary is about. */
export function groupKey(members: readonly { readonly id: Uuid }[]): string {
  return sha256OfJson(members.map(({ id }) => id).sort(compareUnits));
}

function mean(values: readonly number[]): number {
  return withoutNoise(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}
