import {
  cursorOf,
  parseCursor,
  parseFilled,
  parseId,
  parseOptionalMember,
  parseOptionalMembers,
  parseOptionalText,
  parsePageLimit,
  parseSessionId,
  parseUserId,
} from "../../domain/arguments.ts";
import {
  ACTIVE_STATES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import { type MemoryNode, statedTime } from "../../domain/node.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import { BUCKETS, firstDay, localDates } from "../../lib/local-dates.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  Browse,
  BrowseClock,
  BrowseFilter,
  FacetCount,
  FacetValues,
} from "../../ports/store/browse.ts";
import type { EngineDeps } from "../deps.ts";
import {
  BROWSE_ORDERS,
  type BrowsedPage,
  type BrowseFilters,
  type BrowseQuery,
  CLOCKS,
  type Facet,
  type Facets,
  type NodeBatch,
  type Timeline,
  type TimelineQuery,
} from "./api.ts";

type BrowseDeps = Pick<EngineDeps<Browse>, "store">;

/** One page of an owner's memories by time. @throws SvcError invalid_argument */
export async function browse({ store }: BrowseDeps, query: BrowseQuery): Promise<BrowsedPage> {
  const filter = parseFilters(query);
  const order = parseOptionalMember(BROWSE_ORDERS, query.order, "order") ?? "newest";
  const limit = parsePageLimit(query.limit);
  const after = parseCursor(query.cursor);
  const oldestFirst = order === "oldest";
  const { items: nodes, hasMore } = await store.browse({ ...filter, oldestFirst, after, limit });
  const last = hasMore ? nodes.at(-1) : undefined;
  return {
    nodes,
    hasMore,
    nextCursor: last && cursorOf({ at: momentOf(last, filter.clock), id: last.id }),
  };
}

function momentOf(node: MemoryNode, clock: BrowseClock): Instant {
  return clock === "learned" ? node.createdAt : statedTime(node);
}

/** How many memories each unit of a calendar has. @throws SvcError invalid_argument */
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

/** How many memories have each value of a property. @throws SvcError invalid_argument */
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

/** Memories in any state by id. @throws SvcError invalid_argument */
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

/** @throws SvcError invalid_argument */
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
