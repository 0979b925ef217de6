import {
  LIMITS,
  parseId,
  parseOptionalBoolean,
  parseOptionalId,
  parseOptionalInteger,
  parseOptionalList,
  parseOptionalMember,
  parseOptionalMembers,
  parseOptionalNumber,
  parseOwner,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  SCOPES,
  type Scope,
} from "../../domain/enums.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { isActive, parseInstantInput } from "../../domain/lifecycle.ts";
import { type KeptBlob, type MemoryNode, parseBlobKey } from "../../domain/node.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { nameForm, given as withoutAbsent } from "../../lib/text.ts";
import type { EventLog, EventPage } from "../../ports/store/events.ts";
import type { Activity, Graph, NodeFilter, NodeScan } from "../../ports/store/graph.ts";
import type { Blobs } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import type { ExtractionQueue, WorkQueue } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import type {
  BlobOptions,
  ChainOptions,
  EventQuery,
  IterateQuery,
  NeighborhoodOptions,
  NodeQuery,
  ScanPage,
  ScanQuery,
  Stats,
  StatsDetails,
} from "./api.ts";

/** Inactive nodes only on request. */
export async function getNode(
  deps: Pick<EngineDeps<Graph>, "store">,
  nodeId: string,
  options: { readonly userId?: string | undefined; readonly includeSuperseded?: boolean } = {},
): Promise<MemoryNode | undefined> {
  const node = await deps.store.node(parseId(nodeId, "node_id"), parseOwner(options.userId));
  if (node === undefined || options.includeSuperseded === true) return node;
  return isActive(node.lifecycleState) ? node : undefined;
}

export function parseNodeQuery(query: NodeQuery): NodeFilter {
  const scopes = commonScopes(query);
  const given = {
    nodeType: parseOptionalMember(NODE_TYPES, query.nodeType, "node_type"),
    scopes: scopes === "none" ? undefined : scopes,
    sessionIds: texts(query.sessionIds, "session_ids")?.flatMap((id) => [id, nameForm(id)]),
    validAt: parseInstantInput(query.validAt, "valid_at"),
    minConfidence: parseOptionalNumber(query.minConfidence, "min_confidence", 0, 1),
    minSalience: parseOptionalNumber(query.minSalience, "min_salience", 0, 1),
    contentContainsAny: texts(query.contentContainsAny, "content_contains_any"),
    createdBefore: parseInstantInput(query.createdBefore, "created_before"),
    olderThan: parsePlace(query.olderThan),
  };
  const states = parseOptionalMembers(LIFECYCLE_STATES, query.lifecycleStates, "lifecycle_states");
  return {
    ...withoutAbsent(given),
    owner: parseOwner(query.userId),
    // An empty list of states matches nothing, an empty list of scopes everything.
    lifecycleStates: scopes === "none" ? [] : (states ?? ACTIVE_STATES),
    oldestFirst: parseOptionalBoolean(query.oldestFirst, "oldest_first") ?? false,
    limit: parseOptionalInteger(query.limit, "limit", 0, LIMITS.nodeQueryMax) ?? 100,
  };
}

function parsePlace(place: NodeQuery["olderThan"]): NodeFilter["olderThan"] {
  if (place === undefined || place === null) return undefined;
  const createdAt = parseInstantInput(place.createdAt, "older_than.created_at");
  if (createdAt === undefined) throw invalid("older_than.created_at", "is missing");
  return { createdAt, id: parseId(place.id, "older_than.id") };
}

export function parseEventQuery(query: EventQuery): EventPage {
  const given = {
    sessionId: parseSessionId(query.sessionId),
    scopes: parseOptionalMembers(SCOPES, query.scopes, "scopes"),
  };
  return {
    ...withoutAbsent(given),
    userId: parseUserId(query.userId),
    limit: parseOptionalInteger(query.limit, "limit", 0, LIMITS.eventPageMax) ?? 100,
    offset: parseOptionalInteger(query.offset, "offset", 0) ?? 0,
  };
}

/** Scopes that both members allow. Undefined: all. */
function commonScopes(query: NodeQuery): readonly Scope[] | undefined | "none" {
  const scopes = parseOptionalMembers(SCOPES, query.scopes, "scopes") ?? [];
  const scope = parseOptionalMember(SCOPES, query.scope, "scope");
  if (scope === undefined) return scopes.length === 0 ? undefined : scopes;
  return scopes.length === 0 || scopes.includes(scope) ? [scope] : "none";
}

function texts(value: unknown, field: string): string[] | undefined {
  return parseOptionalList(value, field)?.map((item) => parseText(item, field));
}

const DEFAULT_PAGE = 100;

type OpenEngine = {
  readonly use: <T>(call: () => Promise<T>) => Promise<T>;
  /** @throws SvcError engine_closed */
  readonly requireOpen: () => void;
};

export async function scanNodes(
  deps: Pick<EngineDeps<Graph>, "store">,
  query: ScanQuery,
): Promise<ScanPage> {
  const limit = parsePageSize(query.limit, "limit");
  return readPage(deps, {
    ...parseRestrictions(query),
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit,
  });
}

/** All memories of an owner by ascending id. @throws SvcError invalid_argument at the first memory; engine_closed */
export async function* iterNodes(
  engine: OpenEngine,
  deps: Pick<EngineDeps<Graph>, "store">,
  query: IterateQuery,
): AsyncGenerator<MemoryNode, void, undefined> {
  engine.requireOpen();
  if (typeof query !== "object" || query === null) throw invalid("input", "must be an object");
  const limit = parsePageSize(query.batchSize, "batch_size");
  let scan: NodeScan | undefined = { ...parseRestrictions(query), limit };
  while (scan !== undefined) {
    const current: NodeScan = scan;
    const page = await engine.use(() => readPage(deps, current));
    for (const node of page.nodes) {
      engine.requireOpen();
      yield node;
    }
    const { nextCursor } = page;
    scan = nextCursor === undefined ? undefined : { ...current, afterId: nextCursor };
  }
}

async function readPage(
  { store }: Pick<EngineDeps<Graph>, "store">,
  scan: NodeScan,
): Promise<ScanPage> {
  const { items: nodes, hasMore } = await store.scanNodes(scan);
  return { nodes, hasMore, nextCursor: hasMore ? nodes.at(-1)?.id : undefined };
}

function parseRestrictions(
  query: Omit<ScanQuery, "afterId" | "limit">,
): Omit<NodeScan, "afterId" | "limit"> {
  return {
    userId: parseUserId(query.userId),
    scope: parseOptionalMember(SCOPES, query.scope, "scope"),
    nodeType: parseOptionalMember(NODE_TYPES, query.nodeType, "node_type"),
    lifecycleStates:
      parseOptionalMembers(LIFECYCLE_STATES, query.lifecycleStates, "lifecycle_states") ??
      ACTIVE_STATES,
  };
}

function parsePageSize(value: unknown, field: string): number {
  return parseOptionalInteger(value, field, 1, LIMITS.scanPageMax) ?? DEFAULT_PAGE;
}

const DEFAULT_HOPS = 2;
const DIRECTIONS = ["forward", "backward"] as const;

type GraphDeps = Pick<EngineDeps<Graph>, "store">;

/** Undefined for an unknown memory, or one of another owner. */
export async function neighborhood(
  { store }: GraphDeps,
  nodeId: string,
  options: NeighborhoodOptions = {},
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const maxHops =
    parseOptionalInteger(options.maxHops, "max_hops", 1, LIMITS.neighborhoodHops) ?? DEFAULT_HOPS;
  if ((await store.node(id, owner)) === undefined) return undefined;
  return store.neighborhood({ nodeId: id, owner, maxHops, maxVisited: LIMITS.neighborhoodVisited });
}

/** Undefined for an unknown memory, or one of another owner. */
export async function chain(
  { store }: GraphDeps,
  nodeId: string,
  options: ChainOptions = {},
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const direction = parseMember(DIRECTIONS, options.direction ?? "forward", "direction");
  if ((await store.node(id, owner)) === undefined) return undefined;
  return store.chain({ nodeId: id, owner, direction, maxSteps: LIMITS.chainSteps });
}

/** Undefined for an unknown event, or one of another owner. */
export async function getEventNodes(
  { store }: Pick<EngineDeps<EventLog & Graph>, "store">,
  eventId: string,
  userId: string | undefined,
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(eventId, "event_id");
  const event = await store.event(id, parseOwner(userId));
  return event === undefined ? undefined : store.nodesCiting(event.id, event.userId);
}

/** Undefined for an unknown key, or one of another owner. */
export async function findBlob(
  { store }: Pick<EngineDeps<Blobs>, "store">,
  key: string,
  options: BlobOptions = {},
): Promise<KeptBlob | undefined> {
  return await store.blob(parseBlobKey(key), parseOwner(options.userId));
}

type StatsDeps = Pick<
  EngineDeps<
    EventLog &
      Graph &
      Blobs &
      Activity &
      WorkQueue &
      ExtractionQueue &
      Pick<Store, "backend" | "manifest">
  >,
  "store" | "warn" | "isReadOnly" | "embedder"
>;

/** Failures that affect all counts. */
const OF_ALL: ReadonlySet<string> = new Set(["pack_locked", "storage_unavailable"]);

/** A count that fails reads 0 and is reported. @throws SvcError pack_locked; storage_unavailable */
export async function readStats(deps: StatsDeps, owner: Owner): Promise<Stats> {
  const attempt = async <T>(count: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await count;
    } catch (error) {
      if (error instanceof SvcError && OF_ALL.has(error.code)) throw error;
      deps.warn("stats: a count failed");
      return otherwise;
    }
  };
  const [nodeCount, eventCount, details] = await Promise.all([
    attempt(deps.store.countNodes(owner), 0),
    attempt(deps.store.countEvents(owner), 0),
    attempt<StatsDetails | undefined>(readDetails(deps, owner), undefined),
  ]);
  return { nodeCount, eventCount, backend: deps.store.backend, details };
}

async function readDetails(
  { store, embedder, isReadOnly = false }: StatsDeps,
  owner: Owner,
): Promise<StatsDetails> {
  const [state, { embedding }, jobs, extractions, blobs] = await Promise.all([
    store.storeState(owner),
    store.manifest(),
    store.countJobs(owner),
    store.countExtractions(owner),
    store.blobTotals(owner),
  ]);
  const { changeSequence, bytes, isEncrypted, states, receipts } = state;
  return {
    changeSequence,
    bytes: isEverybody(owner) ? bytes : undefined,
    encrypted: isEncrypted,
    readOnly: isReadOnly,
    model: embedding,
    states,
    jobs,
    extractions,
    embeddings: isEverybody(owner) ? embedder.use?.() : undefined,
    receipts,
    blobs,
  };
}

/** Whether queries can be answered; overlapping calls share one check. */
export function createReadiness({
  store,
  embedder,
}: Pick<EngineDeps<Pick<Store, "manifest">>, "store" | "embedder">): () => Promise<void> {
  let asking: Promise<void> | undefined;
  let isLoaded = false;
  const ask = async (): Promise<void> => {
    await store.manifest();
    if (isLoaded) return;
    await embedder.embedQuery("ready");
    isLoaded = true;
  };
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
