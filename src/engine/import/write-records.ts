import { checksummed } from "../../domain/checksummed.ts";
import type { EpistemicType, Role, SourceType } from "../../domain/enums.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { isActive } from "../../domain/lifecycle.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../../domain/node.ts";
import { hasText } from "../../domain/search/turns.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { SourceEdge, SourceRecord, SourceVoice } from "../../ports/sources.ts";
import type { PlannedChange } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import { transition } from "../lifecycle/transitions.ts";
import { allOf, eventPages } from "../pages.ts";
import { isForgottenBatch } from "../write/ingest.ts";
import { planStore, type StorePlan, stampsFor } from "../write/plan.ts";
import {
  type Book,
  eventsIn,
  type Found,
  IMPORTED,
  type ImportDeps,
  idOf,
  idWithTail,
  keyOf,
  learn,
  type Place,
  readKeys,
  type Taken,
  tailOf,
  type Wish,
} from "./book.ts";

/** Nodes whose words are written in one transaction. */
const WORDS_BATCH = 50;
const EDGES_BATCH = 200;
const EVENTS_PAGE = 500;

/** What a voice makes of an event and its memory. What a system made up is never its owner's word. */
const VOICES: Readonly<
  Record<
    SourceVoice,
    { readonly role: Role; readonly sourceType: SourceType; readonly epistemicType: EpistemicType }
  >
> = {
  said: { role: "user", sourceType: "user_stated", epistemicType: "asserted" },
  other: { role: "participant", sourceType: "user_stated", epistemicType: "asserted" },
  // Default retrieval leaves unverified memories of low confidence out.
  answer: { role: "assistant", sourceType: "system_inferred", epistemicType: "unverified" },
  tool: { role: "tool", sourceType: "tool_output", epistemicType: "unverified" },
  derived: { role: "system", sourceType: "system_inferred", epistemicType: "inferred" },
  document: { role: "tool", sourceType: "external_document", epistemicType: "asserted" },
};

/** A record with its place, before it is compared. */
type Draft = Taken & { readonly place: Place | undefined };

/** Compares records with what is there, and admits what is new. All records of a batch belong to one source. */
export async function writeRecords(
  deps: ImportDeps,
  wish: Wish,
  book: Book,
  taken: readonly Taken[],
): Promise<readonly Found[]> {
  if (book.keys === undefined && taken.some(({ record }) => "key" in record.identity)) {
    await readKeys(deps, wish, book);
  }
  const drafts = taken.map((one): Draft => ({ ...one, place: placeOf(book, one.record) }));
  for (;;) {
    const found = await compare(deps, wish, book, drafts);
    if (wish.dryRun || (await admit(deps, wish, book, drafts, found))) {
      for (const { record, eventId } of found) {
        if (record.label !== undefined) book.labels.set(record.label, eventId);
      }
      return found;
    }
  }
}

function placeOf(book: Book, { identity, content }: SourceRecord): Place | undefined {
  if (!("key" in identity)) return undefined;
  const place = { at: identity.key, isOfText: identity.isOfText, turn: 0 };
  const key = keyOf(place, content);
  const turn = book.seen.get(key) ?? 0;
  book.seen.set(key, turn + 1);
  return { ...place, turn };
}

async function compare(
  deps: ImportDeps,
  wish: Wish,
  book: Book,
  drafts: readonly Draft[],
): Promise<readonly Found[]> {
  const own = await newestOf(deps, wish, book, drafts);
  const captured = await capturedOf(deps, wish, book, drafts);
  const compared = drafts.map((draft): Found => {
    const { record, place, secrets } = draft;
    const found =
      place === undefined
        ? withId(deps, wish, record, own.get(draft))
        : withPlace(deps, wish, book, record, place);
    const event = found.state === "new" ? captured(record) : undefined;
    return { record, secrets, ...(event === undefined ? found : seen("unchanged", event)) };
  });
  return wish.again ? compared : await withoutForgotten(deps, wish, compared);
}

/** What a hook had stored and was forgotten since stays so. */
async function withoutForgotten(
  { store, sources }: ImportDeps,
  { userId }: Wish,
  compared: readonly Found[],
): Promise<readonly Found[]> {
  const kept: Found[] = [];
  for (const one of compared) {
    const request = one.state === "new" ? sources?.capturedId?.(one.record) : undefined;
    const isForgotten = request !== undefined && (await isForgottenBatch(store, userId, request));
    kept.push(isForgotten ? { ...one, ...seen("forgotten", one.eventId) } : one);
  }
  return kept;
}

/** Finds what hooks of assistants have stored of the same conversations, by session, role and text. */
async function capturedOf(
  deps: ImportDeps,
  { userId }: Wish,
  { captured }: Book,
  drafts: readonly Draft[],
): Promise<(record: SourceRecord) => Uuid | undefined> {
  for (const { record } of drafts) {
    const { about, sessionId } = record;
    if (typeof about["client"] !== "string" || sessionId === undefined) continue;
    if (!captured.has(sessionId))
      captured.set(sessionId, await readCaptured(deps, userId, sessionId));
  }
  return ({ sessionId, voice, content }) =>
    sessionId === undefined
      ? undefined
      : captured.get(sessionId)?.get(saidKey(VOICES[voice].role, content));
}

function saidKey(role: string, content: string): string {
  return `${role} ${content.trim()}`;
}

async function readCaptured(
  { store }: ImportDeps,
  userId: string,
  sessionId: string,
): Promise<ReadonlyMap<string, Uuid>> {
  const captured = new Map<string, Uuid>();
  for await (const events of eventPages(store, { userId, sessionId }, EVENTS_PAGE)) {
    for (const { id, role, content, metadata } of events) {
      if (!String(metadata?.["source"] ?? "").startsWith("capture:")) continue;
      captured.set(saidKey(role, content), id);
    }
  }
  return captured;
}

type State = Pick<Found, "state" | "eventId" | "replaces">;

function withId(
  { ids }: ImportDeps,
  { again }: Wish,
  { content }: SourceRecord,
  newest: Newest | undefined,
): State {
  const { id, last } = newest ?? { id: ids.next(), last: undefined };
  if (last === undefined) return { state: "new", eventId: id, replaces: undefined };
  const isForgotten = erasedBy(last.metadata) !== undefined;
  if (isForgotten && !again) return seen("forgotten", last.id);
  if (!isForgotten && last.content === content) return seen("unchanged", last.id);
  return { state: "changed", eventId: id, replaces: isForgotten ? undefined : last.id };
}

function withPlace(
  { ids }: ImportDeps,
  { again }: Wish,
  book: Book,
  { content }: SourceRecord,
  place: Place,
): State {
  const key = keyOf(place, content);
  const known = book.keys?.get(key);
  if (known?.content === content) return seen("unchanged", known.eventId);
  const tail = tailOf(book, place.isOfText ? key : `${key}${content}`);
  if (book.erased.has(tail) && !again) return seen("forgotten", ids.next());
  const state = known === undefined ? "new" : "changed";
  return { state, eventId: idWithTail(ids.next(), tail), replaces: known?.eventId };
}

function seen(state: "unchanged" | "forgotten", eventId: Uuid): State {
  return { state, eventId, replaces: undefined };
}

type Newest = {
  /** The id of the next revision. */
  readonly id: Uuid;
  readonly last: Pick<MemoryEvent, "id" | "content" | "metadata"> | undefined;
};

/** Of records with ids: the newest event of each, and the id that follows. */
async function newestOf(
  deps: ImportDeps,
  { userId }: Wish,
  book: Book,
  drafts: readonly Draft[],
): Promise<ReadonlyMap<Draft, Newest>> {
  const newest = new Map<Draft, Newest>();
  const [current = userId] = book.names;
  let steps = drafts
    .filter(({ place }) => place === undefined)
    .flatMap((draft) => book.names.map((name) => ({ draft, name, revision: 0 })));
  while (steps.length > 0) {
    const asked = steps.map((step) => ({
      ...step,
      id: idOf(book, step.name, step.draft.record, step.revision),
    }));
    const ids = asked.map(({ id }) => id);
    const events = await allOf(ids, (some) => deps.store.eventsById(some, userId));
    steps = [];
    for (const { id, draft, name, revision } of asked) {
      const last = events.get(id);
      const known = newest.get(draft);
      if (last !== undefined) {
        newest.set(draft, { id, last });
        steps.push({ draft, name, revision: revision + 1 });
      } else if (revision > 0) newest.set(draft, { id, last: known?.last });
      else if (known === undefined && name === current) newest.set(draft, { id, last: undefined });
    }
  }
  return withoutTwins(newest);
}

/** A file may have the same record twice: the first one is written, and the next import compares the other with it. */
function withoutTwins(newest: Map<Draft, Newest>): ReadonlyMap<Draft, Newest> {
  const taken = new Set<Uuid>();
  for (const [draft, { id }] of newest) {
    if (taken.has(id)) {
      const { content } = draft.record;
      newest.set(draft, { id, last: { id, content, metadata: undefined } });
    }
    taken.add(id);
  }
  return newest;
}

/** @returns false, with nothing written, if another import was faster: then everything is compared again */
async function admit(
  deps: ImportDeps,
  wish: Wish,
  book: Book,
  drafts: readonly Draft[],
  found: readonly Found[],
): Promise<boolean> {
  const wanted = found.flatMap((one, at) =>
    one.state === "new" || one.state === "changed" ? [{ one, draft: drafts[at] }] : [],
  );
  if (wanted.length === 0) return true;
  const stamp = await stampsFor(deps, wish.userId);
  const plans = wanted.map(({ one, draft }) => planRecord(deps, wish, book, one, draft, stamp()));
  const replaced = await replacing(
    deps,
    wish,
    plans,
    wanted.map(({ one }) => one),
  );
  const guard = uuidV5(book.sourceId, String(book.transactions));
  const earlier = await deps.store.admitOnce(
    {
      events: plans.map(({ event }) => event),
      // The words follow: they take far longer than everything else.
      nodes: plans.map(({ node }) => ({ node, lexical: false })),
      auditRecords: [recordOf(wish, book, guard, plans, replaced.pairs, deps.clock.now())],
      change: replaced.change,
      leaseJobs: false,
    },
    guard,
  );
  book.transactions += 1;
  if (earlier !== undefined) {
    await learn(deps, wish, book, eventsIn(earlier));
    return false;
  }
  for (const { one, draft } of wanted) {
    if (draft?.place === undefined) continue;
    const { content } = one.record;
    book.keys?.set(keyOf(draft.place, content), { eventId: one.eventId, content });
  }
  return true;
}

function planRecord(
  deps: ImportDeps,
  wish: Wish,
  book: Book,
  { record, eventId, secrets }: Found,
  draft: Draft | undefined,
  now: MemoryEvent["timestamp"],
): StorePlan {
  const { role, ...knowledge } = VOICES[record.voice];
  const redacted = Object.keys(secrets).length > 0 ? { redacted: { ...secrets } } : {};
  const { place } = draft ?? {};
  const about = {
    id: wish.importId,
    source: book.part.source.name,
    ...record.about,
    ...(record.isTimeAssumed === true && { time_source: "assumed" }),
    ...(place !== undefined && { place }),
  };
  const input = {
    content: record.content,
    retrievalContent: record.place && `${record.place}:\n${record.content}`,
    userId: wish.userId,
    role,
    speaker: record.speaker,
    sessionId: record.sessionId,
    scope: wish.scope ?? record.scope,
    nodeType: record.nodeType,
    eventTime: record.eventTime,
    metadata: { ...redacted, import: about },
    ...knowledge,
  };
  return planStore(input, { now, eventId, nodeId: eventId, settings: deps.settings });
}

function recordOf(
  wish: Wish,
  book: Book,
  id: Uuid,
  plans: readonly StorePlan[],
  pairs: readonly (readonly [Uuid, Uuid])[],
  now: AuditRecord["createdAt"],
): AuditRecord {
  return {
    id,
    opType: IMPORTED,
    targetId: id,
    payload: checksummed({
      schema_version: 1,
      import_id: wish.importId,
      source_id: book.sourceId,
      source: book.part.source.name,
      event_ids: plans.map(({ event }) => event.id),
      replaced: pairs.map(([before, after]) => [before, after]),
    }),
    actorId: wish.userId,
    namespaceId: wish.userId,
    createdAt: now,
  };
}

type Replacing = {
  readonly pairs: readonly (readonly [before: Uuid, after: Uuid])[];
  readonly change: PlannedChange | undefined;
};

/** The changes that let new texts replace those of earlier imports, which nobody has retired meanwhile. */
async function replacing(
  { store, steps }: ImportDeps,
  { userId }: Wish,
  plans: readonly StorePlan[],
  found: readonly Found[],
): Promise<Replacing> {
  const changed = found.flatMap(({ replaces }, at) =>
    replaces === undefined ? [] : [{ replaces, node: plans[at]?.node }],
  );
  if (changed.length === 0) return { pairs: [], change: undefined };
  const { items } = await store.nodesOf(
    userId,
    changed.map(({ replaces }) => replaces),
  );
  const before = new Map(items.map((node) => [node.id, node]));
  const pairs: (readonly [Uuid, Uuid])[] = [];
  const changes: PlannedChange[] = [];
  for (const { replaces, node } of changed) {
    const old = before.get(replaces);
    if (node === undefined || old === undefined || old.scope !== node.scope) continue;
    if (!isActive(old.lifecycleState)) continue;
    pairs.push([old.id, node.id]);
    changes.push(steps.replace([old.id], node, { userId }));
  }
  return { pairs, change: joined(changes) };
}

function joined(changes: readonly PlannedChange[]): PlannedChange | undefined {
  const [first] = changes;
  if (first === undefined) return undefined;
  const all = changes.map(({ reads }) => reads);
  return {
    reads: {
      ...first.reads,
      nodeIds: all.flatMap(({ nodeIds }) => nodeIds),
      auditRecordIds: all.flatMap(({ auditRecordIds }) => auditRecordIds),
    },
    decide: (snapshot) => {
      const made = changes.flatMap(({ decide }) => decide(snapshot).change ?? []);
      const change = {
        nodes: made.flatMap(({ nodes }) => nodes),
        edges: made.flatMap(({ edges }) => edges),
        auditRecords: made.flatMap(({ auditRecords }) => auditRecords),
      };
      return { change, result: undefined };
    },
  };
}

/** Puts the words of admitted memories into the index. If it is interrupted, their jobs do it. */
export async function writeWords(
  { store }: ImportDeps,
  { userId, signal }: Wish,
  ids: readonly Uuid[],
  onProgress: (done: number) => void,
): Promise<void> {
  for (let at = 0; at < ids.length; at += WORDS_BATCH) {
    signal.throwIfAborted();
    let wanted = ids.slice(at, at + WORDS_BATCH);
    while (wanted.length > 0) {
      const { items, hasMore } = await store.nodesOf(userId, wanted);
      const nodes = items.map((node) => ({ node, lexical: hasText(node.content) }));
      await store.admit({ events: [], auditRecords: [], nodes, leaseJobs: false });
      const done = new Set(items.map(({ id }) => id));
      wanted = hasMore ? wanted.filter((id) => !done.has(id)) : [];
    }
    onProgress(Math.min(at + WORDS_BATCH, ids.length));
  }
}

/** Draws the edges that a source names and that are not there yet. @returns how many */
export async function drawEdges(
  { store, ids }: ImportDeps,
  { userId, signal }: Wish,
  book: Book,
): Promise<number> {
  let drawn = 0;
  const wanted = book.edges.flatMap((edge) => {
    const [from, to] = [book.labels.get(edge.from), book.labels.get(edge.to)];
    return from === undefined || to === undefined || from === to ? [] : [{ edge, from, to }];
  });
  for (let at = 0; at < wanted.length; at += EDGES_BATCH) {
    signal.throwIfAborted();
    const some = wanted.slice(at, at + EDGES_BATCH);
    const nodeIds = [...new Set(some.flatMap(({ from, to }) => [from, to]))];
    const reads = { owner: userId, nodeIds, auditRecordIds: [], eventIds: [] };
    drawn += await store.change(reads, (snapshot) => {
      const there = new Set(snapshot.edges.map(nameOfEdge));
      const edges = some.flatMap(({ edge, from, to }): Edge[] => {
        const [source, target] = [snapshot.nodes.get(from), snapshot.nodes.get(to)];
        if (source === undefined || target === undefined) return [];
        const made = edgeBetween(ids.next(), edge, [source, target], snapshot.at);
        const name = nameOfEdge(made);
        if (there.has(name)) return [];
        there.add(name);
        return [made];
      });
      const change = { nodes: [], edges, auditRecords: [] };
      return { change: edges.length === 0 ? undefined : change, result: edges.length };
    });
  }
  return drawn;
}

function nameOfEdge({ sourceId, targetId, edgeType, metadata }: Edge): string {
  return JSON.stringify([sourceId, targetId, edgeType, metadata?.["relation_type"] ?? null]);
}

function edgeBetween(
  id: Uuid,
  { edgeType, metadata }: SourceEdge,
  [source, target]: readonly [MemoryNode, MemoryNode],
  at: Edge["createdAt"],
): Edge {
  return {
    id,
    sourceId: source.id,
    targetId: target.id,
    edgeType,
    userId: source.userId,
    confidence: source.confidence,
    validFrom: at,
    validTo: undefined,
    provenanceEventId: source.evidenceRefs[0],
    metadata,
    createdAt: at,
  };
}

/** Archives the parts of a document that it no longer has. @returns how many */
export async function retireUnnamed(
  deps: ImportDeps,
  { userId }: Wish,
  book: Book,
  sessionId: string,
): Promise<number> {
  const named = new Set(book.labels.values());
  let retired = 0;
  for await (const events of eventPages(deps.store, { userId, sessionId }, EVENTS_PAGE)) {
    for (const { id } of events.filter((event) => !named.has(event.id))) {
      const node = await deps.store.node(id, userId);
      if (node === undefined || !isActive(node.lifecycleState)) continue;
      await transition(deps, "archive", id, { userId, actorId: userId });
      retired += 1;
    }
  }
  return retired;
}
