import { parseOptionalInteger, parseOptionalMembers, parseUserId } from "../domain/arguments.ts";
import { modelRules, onScale } from "../domain/embedding-models.ts";
import { LIFECYCLE_STATES, SCOPES, type Scope } from "../domain/enums.ts";
import { isActive } from "../domain/lifecycle.ts";
import { type MemoryNode, statedTime } from "../domain/node.ts";
import {
  Names,
  OVERVIEW_PARTS,
  OVERVIEW_READS,
  type OverviewPart,
  overviewPart,
} from "../domain/overview.ts";
import { replaces, type Statement, sharedPart, statementOf } from "../domain/replacement.ts";
import { endsAnother } from "../domain/same-saying.ts";
import { isOfConversation } from "../domain/search/turns.ts";
import { addDays, type Instant } from "../lib/instant.ts";
import { withoutInvisible } from "../lib/invisible.ts";
import { nextTurn } from "../lib/pause.ts";
import { compareUnits } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { Browse } from "../ports/store/graph.ts";
import type { ChangeLog } from "../ports/store/records.ts";
import type { SearchIndex } from "../ports/store/search-index.ts";
import type { EngineDeps } from "./deps.ts";

/** What is known of a person at a glance. `null` and `undefined` both mean absent. */

export type OverviewInput = {
  readonly userId: string;
  /** Absent: all. Empty: nothing. */
  readonly scopes?: readonly Scope[] | null | undefined;
  /** At least 0. Default 500. */
  readonly maxTokens?: number | null | undefined;
};

export type OverviewEntry = {
  readonly part: OverviewPart;
  /** Of a person or thing. */
  readonly name: string | undefined;
  /** The number of memories that name it. */
  readonly memories: number | undefined;
  /** As shown: the beginning of a long memory. */
  readonly text: string;
  readonly nodeId: Uuid;
  /** When it was said. */
  readonly at: Instant;
};

export type Overview = {
  readonly entries: readonly OverviewEntry[];
  /** The entries as text, part by part; empty if nothing is known. */
  readonly text: string;
  readonly tokens: number;
  /** The number of further entries that did not fit. */
  readonly leftOut: number;
};

export type OverviewMethods = {
  /**
   * Standing instructions, preferences, facts, people and things, decisions and open tasks, without a model. Every entry is active and has
   * no later memory that says otherwise. Instructions and preferences come first, the rest as far as it fits.
   * @throws SvcError invalid_argument
   */
  overview(input: OverviewInput): Promise<Overview>;
};

const DEFAULT_TOKENS = 500;
/** Memories read in one turn. */
const PAGE = 200;
/** Maximum entries of a part. */
const MOST: Readonly<Record<OverviewPart, number>> = {
  ...{ instructions: 20, preferences: 20, facts: 12, people: 10, decisions: 6, tasks: 6 },
};
/** Candidates of a part for each entry, since some are outdated. */
const SPARE = 2;
/** Days after which a task that was not renewed counts as done or forgotten. */
const TASK_DAYS = 180;
/** Near memories that may outdate an entry. */
const NEAR = 12;
/** The minimum share of common words from which a later memory settles a task. */
const SETTLES_FROM = 0.4;
/** Owners kept in memory. */
const KEPT = 8;

/** Changes of memories after which nothing that is known of entries is used again. */
const CHANGES = 100;
/** What `nearNodes` may be wrong by, twice. */
const INEXACT = 0.02;

type Deps = Pick<
  EngineDeps<
    Pick<Browse, "browse" | "nodesOf"> &
      Pick<ChangeLog, "changesAfter"> &
      Pick<SearchIndex, "keptEntries" | "nearNodes" | "cosines" | "hasModel">
  >,
  "store" | "embedder" | "tokenizer" | "clock"
>;

/** What was read of an owner's memories so far. */
type Known = {
  /** The last memory that was read. */
  after: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** The newest memories of each part, newest first. */
  readonly parts: Map<OverviewPart, readonly Uuid[]>;
  readonly names: Names;
  /** Up to `place` in the log of changes, by memory. */
  readonly judged: Map<Uuid, Judged>;
  place: number | undefined;
  /** Ends with the reading that is under way. */
  reading: Promise<void>;
};
/** An entry, and the memories that may be shown as it, the best first. */
type Candidate = Pick<OverviewEntry, "part" | "name" | "memories"> & {
  readonly ids: readonly Uuid[];
};
type Chosen = Omit<Candidate, "ids"> & { readonly node: MemoryNode };

/** Makes overviews, and remembers what it read, so that later ones read only new memories. */
export function createOverviews(deps: Deps) {
  const kept = new Map<string, Known>();
  return {
    of: async (input: OverviewInput): Promise<Overview> => {
      const userId = parseUserId(input.userId);
      const scopes = parseOptionalMembers(SCOPES, input.scopes, "scopes");
      const max = parseOptionalInteger(input.maxTokens, "max_tokens", 0) ?? DEFAULT_TOKENS;
      await deps.tokenizer.ready();
      const known = kept.get(userId) ?? nothing();
      kept.delete(userId);
      kept.set(userId, known);
      for (const other of kept.keys()) if (kept.size > KEPT) kept.delete(other);
      const readOn = () => readNew(deps, userId, known);
      known.reading = known.reading.then(readOn, readOn);
      await known.reading;
      const found = await choose(deps, userId, known, scopes);
      return toOverview(found, max, (text) => deps.tokenizer.count(text, userId));
    },
    /** Drops what was read of an owner, whose memories may have been erased. */
    forget: (userId: string): void => void kept.delete(userId),
  };
}

export type Overviews = ReturnType<typeof createOverviews>;

function nothing(): Known {
  const parts = new Map<OverviewPart, readonly Uuid[]>();
  const judged = new Map<Uuid, Judged>();
  const reading = Promise.resolve();
  return { after: undefined, parts, names: new Names(), judged, place: undefined, reading };
}

/** Reads what was stored since, in any state, since a memory may be restored. */
async function readNew({ store }: Deps, userId: string, known: Known): Promise<void> {
  const filter = { userId, clock: "learned", lifecycleStates: LIFECYCLE_STATES } as const;
  for (;;) {
    const { after } = known;
    const page = await store.browse({ ...filter, oldestFirst: true, after, limit: PAGE });
    for (const node of page.items) read(known, node);
    const last = page.items.at(-1);
    if (last !== undefined) known.after = { at: last.createdAt, id: last.id };
    if (!page.hasMore) return;
    await nextTurn();
  }
}

function read({ parts, names }: Known, node: MemoryNode): void {
  if (node.nodeType === "entity" || node.nodeType === "summary") return;
  const part = overviewPart(node);
  if (part !== undefined) {
    const most = MOST[part] * SPARE;
    parts.set(part, [node.id, ...(parts.get(part) ?? [])].slice(0, most));
  }
  if (node.content.length <= OVERVIEW_READS) names.add(node);
}

function candidatesOf(known: Known): readonly Candidate[] {
  return OVERVIEW_PARTS.flatMap((part): readonly Candidate[] => {
    if (part !== "people") {
      const newest = known.parts.get(part) ?? [];
      return newest.map((id) => ({ part, ids: [id], name: undefined, memories: undefined }));
    }
    const names = known.names.list().slice(0, MOST.people * SPARE);
    return names.map(({ about, ...named }) => ({ part, ids: about, ...named }));
  });
}

async function choose(
  deps: Deps,
  userId: string,
  known: Known,
  scopes: readonly Scope[] | undefined,
): Promise<readonly Chosen[]> {
  const { store, clock } = deps;
  const now = clock.now();
  const listed = candidatesOf(known);
  const ids = new Set(listed.flatMap((one) => one.ids));
  const { items } = await store.nodesOf(userId, [...ids]);
  const active = new Map(
    items.filter((node) => counts(node, now, scopes)).map((node) => [node.id, node]),
  );
  const hasModel = await store.hasModel(deps.embedder.identity);
  if (hasModel) await judgeAgain(deps, userId, known, ids);
  const fateOf = async (node: MemoryNode) =>
    hasModel ? await fateNow(deps, userId, known, node) : undefined;
  const old = addDays(now, -TASK_DAYS) ?? now;
  const seen = new Map<OverviewPart, number>();
  const chosen: Chosen[] = [];
  for (const { ids: candidates, ...rest } of listed) {
    const count = seen.get(rest.part) ?? 0;
    if (count >= MOST[rest.part]) continue;
    const nodes = candidates.flatMap((id) => active.get(id) ?? []);
    const found = await firstKept(nodes, fateOf);
    if (found === undefined) continue;
    const { node, fate } = found;
    if (rest.part === "tasks" && (fate !== undefined || statedTime(node) < old)) continue;
    seen.set(rest.part, count + 1);
    chosen.push({ ...rest, node });
  }
  return chosen;
}

/** The first one that no later memory replaces. */
async function firstKept(
  nodes: readonly MemoryNode[],
  fateOf: (node: MemoryNode) => Promise<Fate | undefined>,
) {
  for (const node of nodes) {
    const fate = await fateOf(node);
    if (fate !== "replaced") return { node, fate };
  }
  return undefined;
}

function counts(node: MemoryNode, now: Instant, scopes: readonly Scope[] | undefined): boolean {
  const { lifecycleState: state, validFrom, validTo, scope } = node;
  return (
    isActive(state) &&
    state !== "contested" &&
    (scopes?.includes(scope) ?? true) &&
    validFrom <= now &&
    (validTo === undefined || now < validTo)
  );
}

type Fate = "replaced" | "settled";

/** Whether a later memory replaces one, or takes up a task; and the least cosine of a new one that may change this. */
type Judged = {
  readonly fate: Fate | undefined;
  readonly vector: Float32Array;
  readonly least: number;
};

/** Drops what changes since may have made wrong: of a few new memories, what one of them is near to; else all. */
async function judgeAgain(
  { store }: Deps,
  userId: string,
  known: Known,
  listed: ReadonlySet<Uuid>,
): Promise<void> {
  const after = known.place;
  const page = await store.changesAfter({ userId, after, limit: CHANGES });
  const isGrown = page.items.every(({ was, state }) => was === undefined && state !== undefined);
  const isFew = after !== undefined && page.newest >= after && !page.hasMore;
  if (!(isGrown && isFew)) known.judged.clear();
  known.place = page.newest;
  for (const id of known.judged.keys()) if (!listed.has(id)) known.judged.delete(id);
  if (page.items.length === 0 || known.judged.size === 0) return;
  const entries = await store.keptEntries(
    userId,
    page.items.map(({ nodeId }) => nodeId),
  );
  const keys = Array.from(entries.values(), ({ key }) => key);
  for (const [id, { vector, least }] of known.judged) {
    const near = await store.cosines(vector, userId, keys);
    if (near.some(({ score }) => score >= least)) known.judged.delete(id);
  }
}

/** Of a memory that a later one replaces, or of a task that a later one takes up. */
async function fateNow(
  { store, embedder }: Deps,
  userId: string,
  known: Known,
  node: MemoryNode,
): Promise<Fate | undefined> {
  const judged = known.judged.get(node.id);
  if (judged !== undefined) return judged.fate;
  const { place } = known;
  const statement = statementOf(node);
  const vector = (await store.keptEntries(userId, [node.id])).get(node.id)?.vector;
  if (statement === undefined || vector === undefined) return undefined;
  const { likeMemories } = modelRules(embedder.identity.model);
  let least = Number.NEGATIVE_INFINITY;
  const question = { userId, scope: node.scope, count: NEAR };
  const later = await store.nearNodes(vector, question, (near) => {
    if (near.length >= NEAR) least = Math.min(...near.map(({ cosine }) => cosine)) - INEXACT;
    return near.filter(({ node: other }) => other.id !== node.id && isLater(other, node));
  });
  let fate: Fate | undefined;
  for (const { node: other, cosine } of later) {
    const newer = statementOf(other);
    if (newer === undefined || fate === "replaced") continue;
    fate =
      fateBy(
        { node: other, statement: newer },
        { node, statement },
        onScale(likeMemories, cosine),
      ) ?? fate;
  }
  // Meanwhile what is known may be of a later place.
  if (known.place === place) known.judged.set(node.id, { fate, vector, least });
  return fate;
}

type Stated = { readonly node: MemoryNode; readonly statement: Statement };

function fateBy(newer: Stated, older: Stated, cosine: number): Fate | undefined {
  const isSaid = isOfConversation(newer.node) && isOfConversation(older.node);
  const [one, other] = [newer.statement, older.statement];
  if (replaces(one, other, cosine, isSaid) && !endsAnother(one, other)) return "replaced";
  const isTask = overviewPart(older.node) === "tasks";
  return isTask && sharedPart(one.stems, other.stems) >= SETTLES_FROM ? "settled" : undefined;
}

function isLater(one: MemoryNode, other: MemoryNode): boolean {
  return (
    compareUnits(statedTime(one), statedTime(other)) > 0 ||
    (statedTime(one) === statedTime(other) && compareUnits(one.createdAt, other.createdAt) > 0)
  );
}

/** Parts that are filled before the others. */
const FIRST: ReadonlySet<OverviewPart> = new Set(["instructions", "preferences"]);
const HEADINGS: Readonly<Record<OverviewPart, string>> = {
  instructions: "Standing instructions",
  preferences: "Preferences",
  facts: "Facts",
  people: "People and things",
  decisions: "Decisions",
  tasks: "Open tasks",
};
/** Code points of a memory that an entry shows. */
const SHOWN = 160;

function toOverview(
  found: readonly Chosen[],
  max: number,
  count: (text: string) => number,
): Overview {
  const entries = found.map(({ node, ...rest }): OverviewEntry => {
    return { ...rest, nodeId: node.id, text: beginning(node.content), at: statedTime(node) };
  });
  const fitting: OverviewEntry[] = [];
  const headed = new Set<OverviewPart>();
  let tokens = 0;
  let leftOut = 0;
  for (const entry of inTurns(entries)) {
    const { part, nodeId } = entry;
    // A memory that an earlier part shows needs no second line.
    if (fitting.some((other) => other.nodeId === nodeId && other.part !== part)) continue;
    const heading = headed.has(part) ? [] : [`${HEADINGS[part]}:`];
    const needed = count([...heading, lineOf(entry), ""].join("\n"));
    if (tokens + needed > max) {
      leftOut += 1;
      continue;
    }
    fitting.push(entry);
    headed.add(part);
    tokens += needed;
  }
  const order = (entry: OverviewEntry) => OVERVIEW_PARTS.indexOf(entry.part);
  const sorted = fitting.toSorted((one, other) => order(one) - order(other));
  const text = written(sorted);
  return { entries: sorted, text, tokens: count(text), leftOut };
}

/** Instructions and preferences, then one of each other part in turns. */
function inTurns(entries: readonly OverviewEntry[]): readonly OverviewEntry[] {
  const parts = Map.groupBy(entries, ({ part }) => part);
  const rest = OVERVIEW_PARTS.filter((part) => !FIRST.has(part)).map(
    (part) => parts.get(part) ?? [],
  );
  const rounds = Math.max(...rest.map(({ length }) => length));
  return [
    ...entries.filter(({ part }) => FIRST.has(part)),
    ...Array.from({ length: rounds }, (_, at) => rest.flatMap((part) => part[at] ?? [])).flat(),
  ];
}

function written(entries: readonly OverviewEntry[]): string {
  const parts = Map.groupBy(entries, ({ part }) => part);
  return OVERVIEW_PARTS.flatMap((part) => {
    const lines = parts.get(part);
    return lines === undefined ? [] : [`${HEADINGS[part]}:`, ...lines.map(lineOf)];
  }).join("\n");
}

function lineOf({ name, text, at, part }: OverviewEntry): string {
  const dated = part === "instructions" || part === "preferences" ? "" : ` (${at.slice(0, 10)})`;
  return `- ${name === undefined ? "" : `${name}: `}${text}${dated}`;
}

/** One line, without characters that nobody sees. */
function beginning(content: string): string {
  const line = [...withoutInvisible(content).replaceAll(/\s+/gu, " ").trim()];
  return line.length <= SHOWN ? line.join("") : `${line.slice(0, SHOWN - 1).join("")}…`;
}
