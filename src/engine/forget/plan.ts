import {
  parseId,
  parseOptionalBoolean,
  parseOptionalList,
  parseOptionalText,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { erasedBy, inJson, namesAny } from "../../domain/erasure.ts";
import { invalid, missingNode } from "../../domain/errors.ts";
import type { MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ErasureScope, Erasures, EventLog } from "../../ports/store/events.ts";
import type { Activity, Graph } from "../../ports/store/graph.ts";
import { allOf, eventPages } from "../pages.ts";
import { questionIn, toldByReceipt } from "../receipt-check.ts";
import type { ForgetInput, ForgottenMemory, Staying } from "./api.ts";

/** Maximum events, and memories, per forgetting; and of everything of an owner. */
const FORGET_MAX = 1000;
const EVERYTHING_MAX = 100_000;
const EXCERPT_CHARS = 120;
/** Shorter texts do not identify a question. */
const TELLING_CHARS = 4;
const PAGE = 500;

export type PlanStore = EventLog & Graph & Erasures & Pick<Activity, "eventsByTime">;

export type ForgetPlan = ErasureScope & {
  readonly confirm: string;
  readonly eventsGone: readonly MemoryEvent[];
  readonly nodesGone: readonly {
    readonly node: MemoryNode;
    readonly why: ForgottenMemory["why"];
  }[];
  readonly kept: readonly MemoryNode[];
  readonly stays: readonly Staying[];
  readonly forgottenBefore: readonly Uuid[];
};

type Chosen = { readonly events: Map<Uuid, MemoryEvent>; readonly nodes: Map<Uuid, MemoryNode> };

/** Changes nothing. @throws SvcError invalid_argument; not_found */
export async function planForgetting(store: PlanStore, input: ForgetInput): Promise<ForgetPlan> {
  const userId = parseUserId(input.userId);
  const keepsDerived = parseOptionalBoolean(input.keepDerived, "keep_derived") ?? false;
  const isAll = parseOptionalBoolean(input.everything, "everything") ?? false;
  const chosen = isAll ? await chooseAll(store, userId, input) : await choose(store, userId, input);
  const most = isAll ? EVERYTHING_MAX : FORGET_MAX;
  const forgottenBefore = [...chosen.events.values()].filter(isErased).map(({ id }) => id);
  for (const id of forgottenBefore) chosen.events.delete(id);
  const selected = new Set(chosen.nodes.keys());
  await addEvidence(store, userId, chosen);
  requireFew(chosen.events.size, most);
  const gone = new Set<string>([...chosen.events.keys(), ...selected]);
  const resting = await store.restingOn(userId, [...chosen.events.keys()]);
  const all = new Map([...chosen.nodes, ...resting.map((node) => [node.id, node] as const)]);
  const nodesGone: { node: MemoryNode; why: ForgottenMemory["why"] }[] = [];
  const kept: MemoryNode[] = [];
  for (const node of all.values()) {
    const why = selected.has(node.id) ? "evidence" : whyGone(node, gone, keepsDerived);
    if (why === undefined) kept.push(node);
    else nodesGone.push({ node, why });
  }
  requireFew(nodesGone.length, most);
  const events = [...chosen.events.keys()].sort();
  const nodes = nodesGone.map(({ node }) => node.id).sort();
  const texts = [
    ...[...chosen.events.values()].map(({ content }) => content),
    ...nodesGone.map(({ node }) => node.content),
  ];
  return {
    userId,
    events,
    nodes,
    texts: [...new Set(texts)],
    // Everything includes the questions that found nothing.
    isTold: isAll ? () => true : teller(nodes, texts),
    confirm: sha256OfJson([userId, events, nodes, kept.map(({ id }) => id).sort()]).slice(0, 32),
    eventsGone: [...chosen.events.values()],
    nodesGone,
    kept,
    stays: isAll ? [] : await staying(store, userId, { events, nodesGone, kept }),
    forgottenBefore,
  };
}

export function excerptOf(text: string): string {
  const letters = [...text.slice(0, 2 * EXCERPT_CHARS + 1)];
  return letters.length > EXCERPT_CHARS ? `${letters.slice(0, EXCERPT_CHARS).join("")}…` : text;
}

/** Whether only its place in the log is left. */
export function isErased({ metadata, content }: MemoryEvent): boolean {
  return content === "" && erasedBy(metadata) !== undefined;
}

function requireFew(count: number, most = FORGET_MAX): void {
  if (count <= most) return;
  throw invalid(
    "ids",
    `stand for ${count} events or memories, at most ${most} are forgotten at once`,
  );
}

/** Everything that an owner has. @throws SvcError invalid_argument beside another choice */
async function chooseAll(store: PlanStore, userId: string, input: ForgetInput): Promise<Chosen> {
  for (const [name, value] of Object.entries({
    ids: input.ids,
    session_id: input.sessionId,
    containing: input.containing,
  })) {
    if (value !== undefined && value !== null) {
      throw invalid(name, "cannot stand beside everything, which includes it");
    }
  }
  const chosen: Chosen = { events: new Map(), nodes: new Map() };
  await addEvents(store, { userId }, chosen.events, { most: EVERYTHING_MAX });
  await addNodes(store, userId, chosen.nodes, { most: EVERYTHING_MAX });
  return chosen;
}

/** @throws SvcError invalid_argument; not_found */
async function choose(store: PlanStore, userId: string, input: ForgetInput): Promise<Chosen> {
  const given = parseOptionalList(input.ids, "ids") ?? [];
  const ids = [...new Set(given.map((id, index) => parseId(id, `ids[${index}]`)))];
  const sessions = sessionNames(input.sessionId);
  const containing = parseOptionalText(input.containing, "containing");
  if (containing?.trim() === "") throw invalid("containing", "must not be blank");
  if (ids.length === 0 && sessions.length === 0 && containing === undefined) {
    throw invalid(
      "ids",
      "or session_id, containing or everything is needed: what is to be forgotten",
    );
  }
  requireFew(ids.length);
  const events = new Map<Uuid, MemoryEvent>();
  const nodes = new Map<Uuid, MemoryNode>();
  for (const id of ids) {
    const [event, node] = await Promise.all([store.event(id, userId), store.node(id, userId)]);
    if (event !== undefined) events.set(id, event);
    if (node !== undefined) nodes.set(id, node);
    if (event === undefined && node === undefined) throw missingNode(id);
  }
  for (const name of sessions) await addEvents(store, { userId, sessionId: name }, events);
  if (containing !== undefined) {
    await addNodes(store, userId, nodes, { containing });
    // A memory's text may differ from its message's, and a message may have no memory yet.
    const said = containing.toLowerCase();
    const isMeant = (event: MemoryEvent) => event.content.toLowerCase().includes(said);
    await addEvents(store, { userId }, events, { isMeant });
  }
  return { events, nodes };
}

/** A session id, and its form in older versions. */
function sessionNames(given: unknown): readonly string[] {
  const name = parseSessionId(given);
  return name === undefined ? [] : [...new Set([name, parseText(given, "session_id")])];
}

async function addEvents(
  store: PlanStore,
  of: { readonly userId: string; readonly sessionId?: string },
  events: Chosen["events"],
  given: { readonly isMeant?: (event: MemoryEvent) => boolean; readonly most?: number } = {},
): Promise<void> {
  const { isMeant = () => true, most } = given;
  for await (const items of eventPages(store, of, PAGE)) {
    for (const event of items) if (isMeant(event)) events.set(event.id, event);
    requireFew(events.size, most);
  }
}

async function addNodes(
  store: PlanStore,
  userId: string,
  nodes: Chosen["nodes"],
  { containing, most }: { readonly containing?: string; readonly most?: number },
): Promise<void> {
  for (let olderThan: { createdAt: MemoryNode["createdAt"]; id: Uuid } | undefined; ; ) {
    const page = await store.queryNodes({
      owner: userId,
      lifecycleStates: LIFECYCLE_STATES,
      ...(containing !== undefined && { contentContainsAny: [containing] }),
      oldestFirst: false,
      limit: PAGE,
      ...(olderThan !== undefined && { olderThan }),
    });
    for (const node of page) nodes.set(node.id, node);
    requireFew(nodes.size, most);
    const last = page.at(-1);
    if (last === undefined) return;
    olderThan = last;
  }
}

/** Adds the events behind the memories. Events behind a summary stay: other memories cite them. */
async function addEvidence(store: PlanStore, userId: string, chosen: Chosen): Promise<void> {
  const refs = new Set<Uuid>();
  for (const node of chosen.nodes.values()) {
    if (node.nodeType === "summary") continue;
    for (const id of node.evidenceRefs) if (!chosen.events.has(id)) refs.add(id);
  }
  for (const event of await eventsOf(store, userId, [...refs])) {
    if (!isErased(event)) chosen.events.set(event.id, event);
  }
}

async function eventsOf(store: EventLog, userId: string, ids: readonly Uuid[]) {
  return (await allOf(ids, (some) => store.eventsById(some, userId))).values();
}

/** Undefined: it stays. */
function whyGone(
  { nodeType, evidenceRefs }: MemoryNode,
  gone: ReadonlySet<string>,
  keepsDerived: boolean,
): ForgottenMemory["why"] | undefined {
  if (evidenceRefs.every((id) => gone.has(id))) return "evidence";
  if (nodeType === "summary") return "summary";
  // An entity that others mention reveals nothing about what is erased.
  if (keepsDerived || nodeType === "entity") return undefined;
  return "may_repeat";
}

/** Whether a receipt names one of the memories or quotes one of the texts. */
function teller(nodes: readonly Uuid[], texts: readonly string[]): ErasureScope["isTold"] {
  const ids = new Set<string>(nodes);
  const telling = texts
    .filter((text) => text.trim().length >= TELLING_CHARS)
    .map((text) => text.trim().toLowerCase());
  return (body) => {
    const { query, ids: named } = toldByReceipt(body);
    const asked = query.toLowerCase();
    return telling.some((text) => asked.includes(text)) || namesAny(named, ids);
  };
}

async function staying(
  store: PlanStore,
  userId: string,
  { events, nodesGone, kept }: Pick<ForgetPlan, "events" | "nodesGone" | "kept">,
): Promise<readonly Staying[]> {
  const gone = new Set<string>([...events, ...nodesGone.map(({ node }) => node.id)]);
  const stays = new Map<Uuid, Staying>();
  const add = (
    kind: Staying["kind"],
    { id, content }: Pick<MemoryNode, "id" | "content">,
    why: Staying["why"],
  ): void => {
    if (!gone.has(id) && !stays.has(id))
      stays.set(id, { kind, id, why, excerpt: excerptOf(content) });
  };
  for (const node of kept) add("memory", node, "other_evidence");
  const others = nodesGone
    .filter(({ why }) => why === "may_repeat")
    .flatMap(({ node }) => node.evidenceRefs.filter((id) => !gone.has(id)));
  for (const event of await eventsOf(store, userId, [...new Set(others)])) {
    if (!isErased(event)) add("event", event, "own_text");
  }
  for (const { node } of nodesGone) {
    const read = { owner: userId, nodeId: node.id, direction: "backward", maxSteps: 1 } as const;
    for (const replaced of await store.chain(read)) add("memory", replaced, "replaced");
  }
  return [...stays.values()];
}

/** Bytes of each search window, and the minimum distance between windows. */
const WINDOW = 24;
const STEP = 8;
/** Shorter texts are too common to search for. */
const LEAST = 6;
/** Windows searched for; of more, an evenly spaced subset. */
const PIECES_MAX = 20_000;

function piecesOf(texts: readonly string[]): readonly string[] {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const step = Math.max(STEP, Math.ceil(bytes / PIECES_MAX));
  const pieces = new Set<string>();
  for (const text of texts) {
    const forms = new Set([text, inJson(text), inJson(inJson(text))]);
    for (const form of forms) for (const piece of windowsOf(form.trim(), step)) pieces.add(piece);
  }
  return [...pieces];
}

/** Whole characters of at least one window of bytes. */
function windowsOf(text: string, step: number): readonly string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < WINDOW) return bytes.length < LEAST ? [] : [text];
  const windows: string[] = [];
  for (let at = 0; at + WINDOW <= bytes.length; at = letterFrom(bytes, at + step)) {
    windows.push(bytes.toString("utf8", at, letterFrom(bytes, at + WINDOW)));
  }
  let last = bytes.length - WINDOW;
  while (isInsideLetter(bytes, last)) last -= 1;
  return [...windows, bytes.toString("utf8", last)];
}

/** The start of the next character. */
function letterFrom(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isInsideLetter(bytes, next)) next += 1;
  return next;
}

function isInsideLetter(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}

/**
 * Searches every page and an owner's records. Null: the store cannot search pages. Pages that hold data of other owners are not reported.
 */
export async function lookFor(
  store: Pick<Erasures, "scan">,
  texts: readonly string[],
  owner: Owner,
): Promise<JsonObject | null> {
  const pieces = piecesOf(texts);
  const scan = await store.scan(pieces, owner, questionIn);
  if (scan === undefined) return null;
  const { pages, held, heldBy } = scan;
  return {
    pages: pages?.count ?? null,
    bytes: pages?.bytes ?? null,
    needles: pieces.length,
    hits: pages?.found.filter((place) => !held.has(place)).length ?? null,
    kept_elsewhere: [...heldBy].sort(),
  };
}
