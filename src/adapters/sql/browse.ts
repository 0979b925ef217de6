import { LIFECYCLE_STATES, type LifecycleState } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { RowOf } from "../../domain/records/rows.ts";
import { charsOfNode, PageBuilder, type PageForm } from "../../domain/search/pages.ts";
import { asInstant } from "../../lib/instant.ts";
import { asUuid } from "../../lib/uuid.ts";
import type {
  BrowseFilter,
  BrowsePage,
  CountedEntity,
  EntityPage,
  FacetCount,
  FacetValues,
  QuarterCount,
} from "../../ports/store/graph.ts";
import type { Page } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import { ACTIVE, endedBefore, Params } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { isValidAt, nodesOf } from "./nodes.ts";
import { NODE_COLUMNS, NODE_PAGE, type NodeRow, toNode } from "./rows.ts";
import * as sql from "./statement.ts";

/** Browsing: memories by time and by property, entities by their memories. */
export function bindBrowse({ snapshot }: sql.Access) {
  return {
    browse: (wanted) => snapshot(wanted.userId, () => readBrowse(wanted)),
    facetCounts: (filter) => snapshot(filter.userId, () => readFacetCounts(filter)),
    quarterCounts: (filter) => snapshot(filter.userId, () => readQuarterCounts(filter)),
    entities: (wanted) => snapshot(wanted.userId, () => readEntities(wanted)),
  } satisfies Partial<Store>;
}

/** The moment of a node `n` by each clock. */
const MOMENT = {
  learned: "n.created_at",
  happened: "coalesce(n.event_time, n.created_at)",
} as const;

/** Memories read at once if a text filter decides. */
const CHUNK = 500;

const NOTHING = { items: [], hasMore: false } as const;

/** A page of memories by clock. Stored times are read in index order; event times are sorted. */
function* readBrowse(wanted: BrowsePage): sql.Steps<Page<MemoryNode>> {
  const owner = yield* sql.ownerKey(wanted.userId);
  if (owner === undefined || statesOf(wanted).length === 0) return NOTHING;
  const known = yield* sql.dialect();
  const { oldestFirst, clock, limit } = wanted;
  const needle = wanted.contains?.toLowerCase();
  const most = needle === undefined ? limit + 1 : CHUNK;
  const [order, compare] = oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const found = new PageBuilder(NODE_PAGE, limit);
  for (let { after } = wanted; ; ) {
    const params = new Params(owner, most);
    const place =
      after === undefined
        ? "true"
        : `(${MOMENT[clock]}, n.id) ${compare} (${params.add(after.at)}, ${params.add(after.id)}::uuid)`;
    // A pack merges the states' sorted index ranges row by row; keys only, because event times are sorted.
    const parts = rangesOf(known, wanted).map(
      (
        state,
      ) => `SELECT n.owner, n.key, ${MOMENT[clock]} AS moment, n.id FROM nodes n ${known.indexed("nodes_by_owner")}
        WHERE ${partOf(known, params, wanted, state)} AND ${place}`,
    );
    let rows = 0;
    let last: NodeRow | undefined;
    let isDone = false;
    yield* sql.each<NodeRow>(
      most - 1,
      (row) => {
        rows += 1;
        last = row;
        if (row.id === null) return false;
        if (row.content.toLowerCase().includes(needle ?? "")) isDone = !found.add(row);
        return !isDone;
      },
      `SELECT ${NODE_COLUMNS} FROM (${parts.join(" UNION ALL ")} ORDER BY moment ${order}, id ${order} LIMIT $2) k
       LEFT JOIN nodes n ON n.owner = k.owner AND n.key = k.key LEFT JOIN owners o ON o.owner = n.owner
       ${known.again(`k.moment ${order}, k.id ${order}`)}`,
      ...params.values,
    );
    if (last?.id === null) yield* sql.throwDamaged();
    if (isDone || last === undefined || rows < most) return found.page();
    const { id, event_time: stated, created_at: stored } = last;
    after = { at: asInstant(clock === "learned" ? stored : (stated ?? stored)), id: asUuid(id) };
  }
}

type FacetRow = RowOf<FacetValues> & { readonly count: number };

const FACETS = "n.node_type, n.lifecycle_state, n.scope, n.source_type, n.epistemic_type";

/** The number of memories for each type, state, scope, source and kind of knowledge. */
function* readFacetCounts(filter: BrowseFilter): sql.Steps<readonly FacetCount[]> {
  const index = isOfProperties(filter) ? "nodes_by_property" : "nodes_by_owner";
  const rows = yield* readGroups<FacetRow>(filter, FACETS, "1, 2, 3, 4, 5", index);
  return rows.map((row) => ({
    // SAFETY: the columns hold members of these sets; a later version's are counted under their names.
    ...({
      nodeType: row.node_type,
      lifecycleState: row.lifecycle_state,
      scope: row.scope,
      sourceType: row.source_type,
      epistemicType: row.epistemic_type,
    } as FacetValues),
    count: row.count,
  }));
}

type QuarterRow = {
  readonly quarter: string;
  readonly lifecycle_state: LifecycleState;
  readonly count: number;
};

/** The number of memories in each quarter of an hour. */
function* readQuarterCounts(filter: BrowseFilter): sql.Steps<readonly QuarterCount[]> {
  const moment = MOMENT[filter.clock];
  const minute = `substr(${moment}, 15, 2)`;
  const quarter = `substr(${moment}, 1, 14) || CASE WHEN ${minute} < '15' THEN '00'
    WHEN ${minute} < '30' THEN '15' WHEN ${minute} < '45' THEN '30' ELSE '45' END AS quarter`;
  const columns = `n.lifecycle_state, ${quarter}`;
  const rows = yield* readGroups<QuarterRow>(filter, columns, "1, 2", "nodes_by_owner");
  return rows.map((row) => ({
    quarter: row.quarter,
    lifecycleState: row.lifecycle_state,
    count: row.count,
  }));
}

/** Whether the property index covers a filter. */
function isOfProperties(filter: BrowseFilter): boolean {
  const { contains, sessionId, validAt, timeFrom, timeTo, expiresBefore } = filter;
  const others = [contains, sessionId, validAt, timeFrom, timeTo, expiresBefore];
  return others.every((value) => value === undefined);
}

/** The memories that pass a filter, counted by some columns. @param groups the numbers of the columns */
function* readGroups<Row>(
  filter: BrowseFilter,
  columns: string,
  groups: string,
  index: string,
): sql.Steps<Row[]> {
  const owner = yield* sql.ownerKey(filter.userId);
  if (owner === undefined || statesOf(filter).length === 0) return [];
  const known = yield* sql.dialect();
  if (filter.contains !== undefined) {
    const keys = yield* keysWithText(owner, filter, filter.contains);
    return yield* sql.all<Row>(
      `SELECT ${columns}, count(*)::float8 AS count FROM ${known.each("$2", "integer", "k")}
       ${known.join} nodes n ON n.key = k.value AND ${known.free("n.owner")} = $1::bigint GROUP BY ${groups}`,
      owner,
      keys,
    );
  }
  const rows: Row[] = [];
  for (const state of rangesOf(known, filter)) {
    const params = new Params(owner);
    const part = partOf(known, params, filter, state);
    const from = `nodes n ${known.indexed(index)}`;
    const text = `SELECT ${columns}, count(*)::float8 AS count FROM ${from} WHERE ${part} GROUP BY ${groups}`;
    rows.push(...(yield* sql.all<Row>(text, ...params.values)));
  }
  return rows;
}

/** The keys of the memories that pass and have a text. */
function* keysWithText(
  owner: sql.OwnerKey,
  filter: BrowseFilter,
  text: string,
): sql.Steps<readonly number[]> {
  const needle = text.toLowerCase();
  const { isOwnerInKeys } = yield* sql.dialect();
  const keys: number[] = [];
  let rows = 0;
  let after = 0;
  const take = ({ key, content }: { key: number; content: string }): boolean => {
    rows += 1;
    after = key;
    if (content.toLowerCase().includes(needle)) keys.push(key);
    return true;
  };
  // A server sends rows in batches, whereas a pack reads row by row.
  do {
    rows = 0;
    yield* eachText(owner, filter, after, take);
  } while (isOwnerInKeys && rows === CHUNK);
  return keys;
}

function* eachText(
  owner: sql.OwnerKey,
  filter: BrowseFilter,
  after: number,
  take: (row: { key: number; content: string }) => boolean,
): sql.Steps<void> {
  const known = yield* sql.dialect();
  const from = `nodes n ${known.indexed("nodes_by_owner")}`;
  const end = known.isOwnerInKeys ? ` ORDER BY n.key LIMIT ${CHUNK}` : "";
  for (const state of rangesOf(known, filter)) {
    const params = new Params(owner, after);
    const part = partOf(known, params, filter, state);
    const text = `SELECT n.key, n.content FROM ${from} WHERE ${part} AND n.key > $2${end}`;
    yield* sql.each(Number.POSITIVE_INFINITY, take, text, ...params.values);
  }
}

function statesOf({ lifecycleStates = LIFECYCLE_STATES }: BrowseFilter): readonly LifecycleState[] {
  return [...new Set(lifecycleStates)];
}

/** The states read separately, because each is a range of an index; undefined: all wanted ones at once. */
function rangesOf(
  { isOwnerInKeys }: Dialect,
  filter: BrowseFilter,
): readonly (LifecycleState | undefined)[] {
  return isOwnerInKeys ? [undefined] : statesOf(filter);
}

/** The conditions of a filter on a node `n` of the owner $1, as SQL; for texts only what a database can check. */
function partOf(
  known: Dialect,
  params: Params,
  filter: BrowseFilter,
  state: LifecycleState | undefined,
): string {
  const moment = MOMENT[filter.clock];
  const conditions = ["n.owner = $1::bigint"];
  const any = (column: string, values: readonly string[] | undefined): void => {
    if (values !== undefined) conditions.push(params.any(column, values));
  };
  const compare = (value: string | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(params.add(value)));
  };
  if (state === undefined) any("n.lifecycle_state", filter.lifecycleStates);
  compare(state, (place) => `n.lifecycle_state = ${place}`);
  any("n.scope", filter.scopes);
  any("n.source_type", filter.sourceTypes);
  any("n.epistemic_type", filter.epistemicTypes);
  compare(filter.nodeType, (type) => `n.node_type = ${type}`);
  compare(filter.sessionId, (session) => `n.session_id = ${session}`);
  compare(filter.timeFrom, (from) => `${moment} >= ${from}`);
  compare(filter.timeTo, (to) => `${moment} < ${to}`);
  if (filter.validAt !== undefined) conditions.push(isValidAt(params, filter.validAt));
  if (filter.contains !== undefined) {
    conditions.push(mayContain(known, params, filter.contains.toLowerCase()));
  }
  if (filter.expiresBefore !== undefined) {
    const ended = endedBefore(known, params, filter.expiresBefore);
    conditions.push(`n.pinned = 0 AND n.ttl_days IS NOT NULL AND ${ended}`);
  }
  return conditions.join(" AND ");
}

/** Bytes of the longest pattern for a database: SQLite limits them. */
const MAX_PATTERN = 10_000;
/** Whether a text has characters beyond ASCII; in a pack also NUL, at which SQLite's functions stop. */
const IS_BEYOND_ASCII = "length(n.content) <> octet_length(n.content)";

/**
 * Excludes texts that cannot contain a lower-case text, so that few have to be checked, as SQL. Databases fold only ASCII, which suffices
 * for ASCII texts.
 */
function mayContain({ like, isOwnerInKeys }: Dialect, params: Params, needle: string): string {
  const isAscii = /^\p{ASCII}*$/u.test(needle) && (isOwnerInKeys || !needle.includes("\0"));
  if (!isAscii) return IS_BEYOND_ASCII;
  if (needle.length > MAX_PATTERN) return "true";
  const pattern = `%${needle.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return `(n.content ${like} ${params.add(pattern)} ESCAPE '\\' OR ${IS_BEYOND_ASCII})`;
}

type CountRow = {
  readonly name: string | number;
  readonly content: string;
  readonly memories: number;
  readonly contested: number;
};
type CountedRow = CountRow & { readonly row: NodeRow };

const ENTITY_PAGE: PageForm<CountedRow, CountedEntity> = {
  toItem: ({ row, memories, contested }) => ({ node: toNode(row), memories, contested }),
  charsOf: ({ row }) => charsOfNode(row),
};

/** Every active entity with its counts. A memory with several edges to an entity counts once. */
function counted({ end, indexed, join }: Dialect): string {
  return `WITH entities AS MATERIALIZED (SELECT n.${end} AS name, n.id, n.content FROM nodes n ${indexed("nodes_entities")}
      WHERE n.owner = $1::bigint AND n.node_type = 'entity' AND n.lifecycle_state IN ${ACTIVE}),
    linked AS (
      SELECT x.name, e.target AS far FROM entities x ${join} edges e ON e.owner = $1::bigint AND e.source = x.name
      UNION SELECT x.name, e.source FROM entities x ${join} edges e ON e.owner = $1::bigint AND e.target = x.name),
    counted AS (
      SELECT l.name, count(*)::integer AS memories, (count(*) FILTER (WHERE m.lifecycle_state = 'contested'))::integer AS contested
      FROM linked l ${join} nodes m ON m.owner = $1::bigint AND m.${end} = l.far
      WHERE m.node_type <> 'entity' AND m.lifecycle_state IN ${ACTIVE} GROUP BY l.name)
    SELECT x.name, x.id, x.content, coalesce(c.memories, 0) AS memories, coalesce(c.contested, 0) AS contested
    FROM entities x LEFT JOIN counted c ON c.name = x.name`;
}

const COUNTED = {
  first: sql.statement(
    (known) => `SELECT * FROM (${counted(known)}) c ORDER BY memories DESC, id LIMIT $2`,
  ),
  next: sql.statement(
    (known) =>
      `SELECT * FROM (${counted(known)}) c WHERE (-memories, id) > (-$3::integer, $4::uuid) ORDER BY memories DESC, id LIMIT $2`,
  ),
};

const ALL_OF_THEM = 2 ** 31 - 1;

/** A page of entities by number of memories, which are counted for each page. Names are compared here. */
function* readEntities(wanted: EntityPage): sql.Steps<Page<CountedEntity>> {
  const { userId, after, contains, limit } = wanted;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return NOTHING;
  const most = contains === undefined ? limit + 1 : ALL_OF_THEM;
  const rows =
    after === undefined
      ? yield* sql.all<CountRow>(COUNTED.first, owner, most)
      : yield* sql.all<CountRow>(COUNTED.next, owner, most, after.memories, after.id);
  const needle = contains?.toLowerCase() ?? "";
  const counts = rows
    .filter(({ content }) => content.toLowerCase().includes(needle))
    .slice(0, limit + 1);
  const found = new PageBuilder(ENTITY_PAGE, limit);
  const { end } = yield* sql.dialect();
  let place = 0;
  yield* nodesOf(
    owner,
    end,
    counts.map(({ name }) => name),
    (row) => {
      while (counts[place] !== undefined && counts[place]?.name !== row[end]) place += 1;
      const count = counts[place];
      return count === undefined || found.add({ ...count, row });
    },
  );
  return found.page();
}
