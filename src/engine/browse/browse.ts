import {
  cursorOf,
  LIMITS,
  parseCursor,
  parseFilled,
  parseId,
  parseOptionalId,
  parseOptionalList,
  parseOptionalMember,
  parseOptionalMembers,
  parseOptionalText,
  parseOwner,
  parsePageLimit,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import {
  ACTIVE_STATES,
  EDGE_TYPES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { isActive, parseInstantInput } from "../../domain/lifecycle.ts";
import { type MemoryNode, statedTime } from "../../domain/node.ts";
import { fromBase64Url, toBase64Url } from "../../lib/encoding.ts";
import { type Instant, parseInstant } from "../../lib/instant.ts";
import { BUCKETS, firstDay, localDates } from "../../lib/local-dates.ts";
import { compareUnits } from "../../lib/text.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import type {
  Activity,
  Browse,
  BrowseClock,
  BrowseFilter,
  CountedEntity,
  EntityPage,
  FacetCount,
  FacetValues,
  Graph,
  Session,
  SessionPage,
} from "../../ports/store/graph.ts";
import type { AuditLog, ChangeLog, LoggedChange, Page } from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import {
  BROWSE_ORDERS,
  type BrowsedPage,
  type BrowseFilters,
  type BrowseQuery,
  type ChangeFeed,
  type ChangesQuery,
  CLOCKS,
  CONTRADICTION_STATUSES,
  type ContradictionQuery,
  type EdgeQuery,
  type EntityQuery,
  type EventsQuery,
  type Facet,
  type Facets,
  type FeedChange,
  type FeedQuery,
  type ListedChanges,
  type ListedContradictions,
  type ListedEdges,
  type ListedEntities,
  type ListedEvents,
  type ListedSessions,
  type NodeBatch,
  type PageEnd,
  type SessionsQuery,
  type Timeline,
  type TimelineQuery,
} from "./api.ts";

type BrowseDeps = Pick<EngineDeps<Browse>, "store">;

export async function browse({ store }: BrowseDeps, query: BrowseQuery): Promise<BrowsedPage> {
  const filter = parseFilters(query);
  const order = parseOptionalMember(BROWSE_ORDERS, query.order, "order") ?? "newest";
  const limit = parsePageLimit(query.limit);
  const after = parseCursor(query.cursor);
  const oldestFirst = order === "oldest";
  const page = await store.browse({ ...filter, oldestFirst, after, limit });
  const toCursor = (node: MemoryNode) =>
    cursorOf({ at: momentOf(node, filter.clock), id: node.id });
  return { nodes: page.items, ...endOf(page, toCursor) };
}

function momentOf(node: MemoryNode, clock: BrowseClock): Instant {
  return clock === "learned" ? node.createdAt : statedTime(node);
}

export async function timeline({ store }: BrowseDeps, query: TimelineQuery): Promise<Timeline> {
  const filter = parseFilters(query);
  const bucket = parseOptionalMember(BUCKETS, query.bucket, "bucket") ?? "day";
  const timeZone = parseOptionalText(query.timeZone, "time_zone") ?? "UTC";
  const dateOf = datesIn(timeZone);
  const buckets = new Map<string, Map<string, number>>();
  let total = 0;
  for (const { quarter, lifecycleState, count } of await store.quarterCounts(filter)) {
    const from = firstDay(dateOf(quarter), bucket);
    const states = buckets.get(from) ?? new Map<string, number>();
    states.set(lifecycleState, (states.get(lifecycleState) ?? 0) + count);
    buckets.set(from, states);
    total += count;
  }
  const newestFirst = [...buckets].sort(([a], [b]) => compareUnits(b, a));
  return {
    bucket,
    timeZone,
    total,
    buckets: newestFirst.map(([from, states]) => ({
      from,
      count: [...states.values()].reduce((sum, count) => sum + count, 0),
      byState: Object.fromEntries([...states].sort(([a], [b]) => compareUnits(a, b))),
    })),
  };
}

function datesIn(timeZone: string): (quarter: string) => string {
  try {
    return localDates(timeZone);
  } catch {
    const shown = JSON.stringify(timeZone.slice(0, 80));
    throw invalid("time_zone", `${shown} is no time zone; name one such as Europe/Berlin`);
  }
}

export async function facets({ store }: BrowseDeps, query: BrowseFilters): Promise<Facets> {
  const filter = parseFilters(query);
  const { nodeType, lifecycleStates, scopes, sourceTypes, epistemicTypes, ...others } = filter;
  const allowed: Readonly<Record<keyof FacetValues, readonly string[] | undefined>> = {
    nodeType: nodeType && [nodeType],
    lifecycleState: lifecycleStates,
    scope: scopes,
    sourceType: sourceTypes,
    epistemicType: epistemicTypes,
  };
  const counts = await store.facetCounts(others);
  const passing = (but?: keyof FacetValues) => counts.filter((one) => passes(one, allowed, but));
  const facet = (name: keyof FacetValues) => tally(passing(name), name);
  return {
    total: passing().reduce((sum, { count }) => sum + count, 0),
    nodeType: facet("nodeType"),
    lifecycleState: facet("lifecycleState"),
    scope: facet("scope"),
    sourceType: facet("sourceType"),
    epistemicType: facet("epistemicType"),
  };
}

const FACETS = ["nodeType", "lifecycleState", "scope", "sourceType", "epistemicType"] as const;

function passes(
  values: FacetValues,
  allowed: Readonly<Record<keyof FacetValues, readonly string[] | undefined>>,
  but: keyof FacetValues | undefined,
): boolean {
  return FACETS.every((name) => name === but || (allowed[name]?.includes(values[name]) ?? true));
}

function tally(counts: readonly FacetCount[], name: keyof FacetValues): Facet {
  const sums = new Map<string, number>();
  for (const one of counts) sums.set(one[name], (sums.get(one[name]) ?? 0) + one.count);
  return [...sums]
    .sort(([a, one], [b, other]) => other - one || compareUnits(a, b))
    .map(([value, count]) => ({ value, count }));
}

export async function getNodes(
  { store }: BrowseDeps,
  nodeIds: readonly string[],
  userId: string,
): Promise<NodeBatch> {
  const owner = parseUserId(userId);
  if (!Array.isArray(nodeIds)) throw invalid("node_ids", "must be a list");
  const most = LIMITS.nodeBatchMax;
  if (nodeIds.length > most) {
    throw invalid("node_ids", `has ${nodeIds.length} ids, at most ${most} are allowed`);
  }
  const ids = [...new Set(nodeIds.map((id, index) => parseId(id, `node_ids[${index}]`)))];
  const { items, hasMore } = await store.nodesOf(owner, ids);
  const found = new Map<Uuid, MemoryNode>(items.map((node) => [node.id, node]));
  const others = ids.filter((id) => !found.has(id));
  return {
    nodes: ids.flatMap((id) => found.get(id) ?? []),
    missing: hasMore ? [] : others,
    leftOut: hasMore ? others : [],
  };
}

function endOf<T, Cursor>(
  { items, hasMore }: Page<T>,
  toCursor: (last: T) => Cursor,
): PageEnd<Cursor> {
  const last = hasMore ? items.at(-1) : undefined;
  return { hasMore, nextCursor: last && toCursor(last) };
}

function parseFilters(query: BrowseFilters): BrowseFilter {
  const { contains } = query;
  return {
    userId: parseUserId(query.userId),
    clock: parseOptionalMember(CLOCKS, query.clock, "clock") ?? "learned",
    lifecycleStates:
      parseOptionalMembers(LIFECYCLE_STATES, query.lifecycleStates, "lifecycle_states") ??
      ACTIVE_STATES,
    nodeType: parseOptionalMember(NODE_TYPES, query.nodeType, "node_type"),
    scopes: parseOptionalMembers(SCOPES, query.scopes, "scopes"),
    sourceTypes: parseOptionalMembers(SOURCE_TYPES, query.sourceTypes, "source_types"),
    epistemicTypes: parseOptionalMembers(EPISTEMIC_TYPES, query.epistemicTypes, "epistemic_types"),
    sessionId: parseSessionId(query.sessionId),
    validAt: parseInstantInput(query.validAt, "valid_at"),
    timeFrom: parseInstantInput(query.timeFrom, "time_from"),
    timeTo: parseInstantInput(query.timeTo, "time_to"),
    expiresBefore: parseInstantInput(query.expiresBefore, "expires_before"),
    contains:
      contains === undefined || contains === null ? undefined : parseFilled(contains, "contains"),
  };
}

type ActivityDeps = Pick<EngineDeps<Activity>, "store">;

export async function listEvents(
  { store }: ActivityDeps,
  query: EventsQuery,
): Promise<ListedEvents> {
  const order = parseOptionalMember(BROWSE_ORDERS, query.order, "order") ?? "newest";
  const page = await store.eventsByTime({
    userId: parseUserId(query.userId),
    sessionId: parseSessionId(query.sessionId),
    scopes: parseOptionalMembers(SCOPES, query.scopes, "scopes"),
    oldestFirst: order === "oldest",
    after: parseCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  return { events: page.items, ...endOf(page, ({ timestamp: at, id }) => cursorOf({ at, id })) };
}

export async function listChanges(
  { store }: Pick<EngineDeps<AuditLog>, "store">,
  query: ChangesQuery,
): Promise<ListedChanges> {
  const page = await store.changesOf({
    userId: parseUserId(query.userId),
    opTypes: parseOptionalList(query.opTypes, "op_types")?.map((type) =>
      parseText(type, "op_types"),
    ),
    actorId: parseOptionalText(query.actorId, "actor"),
    timeFrom: parseInstantInput(query.timeFrom, "time_from"),
    timeTo: parseInstantInput(query.timeTo, "time_to"),
    before: parseCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  return {
    operations: page.items,
    ...endOf(page, ({ createdAt: at, id }) => cursorOf({ at, id })),
  };
}

export async function changes(
  { store }: Pick<EngineDeps<ChangeLog>, "store">,
  { userId, since, limit }: FeedQuery,
): Promise<ChangeFeed> {
  const after = parseSince(since);
  const query = { userId: parseUserId(userId), after, limit: parsePageLimit(limit) };
  const { items, hasMore, newest } = await store.changesAfter(query);
  // A restored copy has fewer.
  if (after !== undefined && after > newest) throw invalid("since", "is no cursor of this memory");
  const last = items.at(-1)?.place ?? after ?? newest;
  return { changes: items.map(toFeedChange), hasMore, nextCursor: String(last) };
}

/** A place in the log; undefined: its end. */
function parseSince(value: unknown): number | undefined {
  const text = parseOptionalText(value, "since") ?? "0";
  if (text === "now") return undefined;
  if (!/^\d{1,9}$/.test(text)) throw invalid("since", "is no cursor of the feed, nor now");
  return Number(text);
}

function toFeedChange({ place, was, ...change }: LoggedChange): FeedChange {
  return { ...change, cursor: String(place), change: kindOf(was, change.state) };
}

function kindOf(was: LoggedChange["was"], state: LoggedChange["state"]): FeedChange["change"] {
  if (state === undefined) return "forgotten";
  if (was === undefined) return "stored";
  if (state === "superseded" || state === "deprecated" || state === "archived") return state;
  return isActive(was) ? "changed" : "restored";
}

export async function listSessions(
  { store }: ActivityDeps,
  query: SessionsQuery,
): Promise<ListedSessions> {
  const page = await store.sessions({
    userId: parseUserId(query.userId),
    after: parseSessionCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  return { sessions: page.items, ...endOf(page, sessionCursor) };
}

/** Session ids may contain anything. */
function sessionCursor({ lastAt, sessionId }: Session): string {
  return `${lastAt}_${toBase64Url(sessionId)}`;
}

function parseSessionCursor(value: unknown): SessionPage["after"] {
  const text = parseOptionalText(value, "cursor");
  if (text === undefined) return undefined;
  const [moment = "", name = ""] = text.split(/_(.*)/s);
  const at = parseInstant(moment);
  const sessionId = fromBase64Url(name);
  if (typeof at === "string" || sessionId === undefined) {
    throw invalid("cursor", "is not the next_cursor of a page");
  }
  return { at: at.instant, sessionId };
}

type EdgeDeps = Pick<EngineDeps<Browse & Pick<Graph, "node">>, "store">;

export async function getEdges(
  { store }: EdgeDeps,
  query: EdgeQuery = {},
  nodeId?: Uuid,
): Promise<ListedEdges> {
  const page = await store.edges({
    owner: parseOwner(query.userId),
    nodeId,
    edgeType: parseOptionalMember(EDGE_TYPES, query.edgeType, "edge_type"),
    sourceId: parseOptionalId(query.sourceId, "source_id"),
    targetId: parseOptionalId(query.targetId, "target_id"),
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit: parsePageLimit(query.limit),
  });
  return { edges: page.items, ...endOf(page, ({ id }) => id) };
}

/** Undefined for an unknown memory, or one of another owner. */
export async function getNodeEdges(
  deps: EdgeDeps,
  nodeId: string,
  query: EdgeQuery = {},
): Promise<ListedEdges | undefined> {
  const node = await deps.store.node(parseId(nodeId, "node_id"), parseOwner(query.userId));
  return node && getEdges(deps, { ...query, userId: node.userId }, node.id);
}

export async function listContradictions(
  { store }: EdgeDeps,
  query: ContradictionQuery,
): Promise<ListedContradictions> {
  const status = parseOptionalMember(CONTRADICTION_STATUSES, query.status, "status");
  const page = await store.notedContradictions({
    userId: parseUserId(query.userId),
    isOpen: status && status === "open",
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit: parsePageLimit(query.limit),
  });
  const contradictions = page.items.map(({ edge, nodeA, nodeB, actorId }) => {
    const isOpen = [nodeA, nodeB].every(({ lifecycleState }) => lifecycleState === "contested");
    return {
      edgeId: edge.id,
      notedAt: edge.createdAt,
      actor: actorId,
      status: isOpen ? ("open" as const) : ("resolved" as const),
      nodeA,
      nodeB,
    };
  });
  return { contradictions, ...endOf(page, ({ edge }) => edge.id) };
}

export async function listEntities(
  { store }: Pick<EngineDeps<Browse>, "store">,
  { userId, contains, cursor, limit }: EntityQuery,
): Promise<ListedEntities> {
  const page = await store.entities({
    userId: parseUserId(userId),
    contains:
      contains === undefined || contains === null ? undefined : parseFilled(contains, "contains"),
    after: parseEntityCursor(cursor),
    limit: parsePageLimit(limit),
  });
  return { entities: page.items, ...endOf(page, entityCursor) };
}

function entityCursor({ memories, node }: CountedEntity): string {
  return `${memories}_${node.id}`;
}

function parseEntityCursor(value: unknown): EntityPage["after"] {
  const text = parseOptionalText(value, "cursor");
  if (text === undefined) return undefined;
  const [, count = "", given = ""] = /^(\d{1,9})_(.*)$/s.exec(text) ?? [];
  const id = parseUuid(given);
  if (count === "" || id === undefined) {
    throw invalid("cursor", "is not the next_cursor of a page");
  }
  return { memories: Number(count), id };
}
