import type { Database } from "bun:sqlite";
import { LIFECYCLE_STATES, type LifecycleState } from "../../../domain/enums.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { RowOf } from "../../../domain/records/rows.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type {
  BrowseFilter,
  BrowsePage,
  FacetCount,
  FacetValues,
  QuarterCount,
} from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import type { Parameter } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow } from "../write/rows.ts";
import { type Condition, Conditions } from "./filter-sql.ts";
import { NODE_PAGE, nodeReader, readPage } from "./pages.ts";
import { endedBefore, fractionOf, secondOf } from "./retention-sql.ts";
import { damaged } from "./sound.ts";

/** The moment of a node `n` by each clock. */
const MOMENT = {
  learned: "n.created_at",
  happened: "coalesce(n.event_time, n.created_at)",
} as const;

/** A page of memories by clock. Stored moments are read in the order of an index; stated ones are sorted. */
export function readBrowse(database: Database, page: BrowsePage): Page<MemoryNode> {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return NOTHING;
  const { after, oldestFirst, clock, limit } = page;
  const [order, compare] = oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const moment = MOMENT[clock];
  const place: Condition =
    after === undefined
      ? { sql: "1", parameters: [] }
      : { sql: `(${moment}, n.id) ${compare} (?, ?)`, parameters: [after.at, after.id] };
  const parts = statesOf(page).map((state) => partOf(page, owner, state));
  if (parts.length === 0) return NOTHING;
  // SQLite merges the sorted index ranges of the states row by row; only keys, because stated moments are sorted.
  const sql = parts
    .map(
      (part) => `SELECT n.key, ${moment} AS moment, n.id FROM nodes n INDEXED BY nodes_by_owner
        WHERE ${part.sql} AND ${place.sql}`,
    )
    .join(" UNION ALL ");
  const parameters = parts.flatMap((part) => [...part.parameters, ...place.parameters]);
  const needle = page.contains?.toLowerCase();
  const found = new PageBuilder(NODE_PAGE, limit);
  const readRow = nodeReader(database);
  // Uncached: a cached statement would stay open if the loop ends early.
  const keys = database.prepare<{ key: number }, Parameter[]>(
    `${sql} ORDER BY moment ${order}, id ${order} LIMIT ?`,
  );
  try {
    for (const { key } of keys.iterate(
      ...parameters,
      needle === undefined ? limit + 1 : NO_LIMIT,
    )) {
      const row = readRow(key);
      // SQLite folds only ASCII, so the texts are compared here.
      if (row === undefined) throw damaged(database);
      if (!row.content.toLowerCase().includes(needle ?? "")) continue;
      if (!found.add(row)) break;
    }
  } finally {
    keys.finalize();
  }
  return found.page();
}

const NOTHING = { items: [], hasMore: false } as const;
/** SQLite's value for no limit. */
const NO_LIMIT = -1;

type FacetRow = RowOf<FacetValues> & { readonly count: number };

const FACETS = "n.node_type, n.lifecycle_state, n.scope, n.source_type, n.epistemic_type";

/** How many memories share their type, state, scope, source and kind of knowledge. */
export function readFacetCounts(database: Database, filter: BrowseFilter): readonly FacetCount[] {
  const index = isOfProperties(filter) ? "nodes_by_property" : "nodes_by_owner";
  const groups = { columns: FACETS, groups: "1, 2, 3, 4, 5", index };
  return readGroups<FacetRow>(database, filter, groups).map((row) => ({
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

/** How many memories each quarter of an hour has. */
export function readQuarterCounts(
  database: Database,
  filter: BrowseFilter,
): readonly QuarterCount[] {
  const moment = MOMENT[filter.clock];
  const minute = `substr(${moment}, 15, 2)`;
  const quarter = `substr(${moment}, 1, 14) || CASE WHEN ${minute} < '15' THEN '00'
    WHEN ${minute} < '30' THEN '15' WHEN ${minute} < '45' THEN '30' ELSE '45' END AS quarter`;
  const columns = `n.lifecycle_state, ${quarter}`;
  const groups = { columns, groups: "2", index: "nodes_by_owner" };
  return readGroups<QuarterRow>(database, filter, groups).map(
    ({ quarter, lifecycle_state: lifecycleState, count }) => ({ quarter, lifecycleState, count }),
  );
}

/** Whether the index of the properties has all that a filter asks of. */
function isOfProperties(filter: BrowseFilter): boolean {
  const { contains, sessionId, validAt, timeFrom, timeTo, expiresBefore } = filter;
  const others = [contains, sessionId, validAt, timeFrom, timeTo, expiresBefore];
  return others.every((value) => value === undefined);
}

type Groups = {
  readonly columns: string;
  /** The numbers of the columns; that of the state is not needed, since states are read apart. */
  readonly groups: string;
  readonly index: string;
};

/** The memories that pass a filter, grouped by some columns and counted. */
function readGroups<Row>(
  database: Database,
  filter: BrowseFilter,
  { columns, groups, index }: Groups,
): Row[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined) return [];
  const parts = statesOf(filter).map((state) => partOf(filter, owner, state));
  if (parts.length === 0) return [];
  const matching = matchesOf(database, filter, parts);
  if (matching !== undefined) {
    return database
      .query<Row, Parameter[]>(
        `SELECT ${columns}, count(*) AS count FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value GROUP BY ${groups}, n.lifecycle_state`,
      )
      .all(JSON.stringify(matching));
  }
  return parts.flatMap((part) =>
    database
      .query<Row, Parameter[]>(
        `SELECT ${columns}, count(*) AS count FROM nodes n INDEXED BY ${index} WHERE ${part.sql} GROUP BY ${groups}`,
      )
      .all(...part.parameters),
  );
}

/** The keys of the memories with a text; undefined if none is asked for. */
function matchesOf(
  database: Database,
  { contains }: BrowseFilter,
  parts: readonly Condition[],
): readonly number[] | undefined {
  if (contains === undefined) return undefined;
  const needle = contains.toLowerCase();
  return parts.flatMap(({ sql, parameters }) => {
    const rows = database
      .query<{ key: number; content: string }, Parameter[]>(
        `SELECT n.key, n.content FROM nodes n INDEXED BY nodes_by_owner WHERE ${sql}`,
      )
      .iterate(...parameters);
    return Array.from(rows).flatMap(({ key, content }) =>
      content.toLowerCase().includes(needle) ? [key] : [],
    );
  });
}

/** A column of its own for each state, so that each is a range of the index. */
function statesOf({ lifecycleStates = LIFECYCLE_STATES }: BrowseFilter): readonly LifecycleState[] {
  return [...new Set(lifecycleStates)];
}

/** The filter for one state; of a text only what SQLite can check. */
function partOf(filter: BrowseFilter, owner: number, state: LifecycleState): Condition {
  const conditions = new Conditions();
  const moment = MOMENT[filter.clock];
  conditions.add("n.owner = ? AND n.lifecycle_state = ?", owner, state);
  if (filter.nodeType !== undefined) conditions.add("n.node_type = ?", filter.nodeType);
  if (filter.scopes !== undefined) conditions.addAny("n.scope", filter.scopes);
  if (filter.sourceTypes !== undefined) conditions.addAny("n.source_type", filter.sourceTypes);
  if (filter.epistemicTypes !== undefined) {
    conditions.addAny("n.epistemic_type", filter.epistemicTypes);
  }
  if (filter.sessionId !== undefined) conditions.add("n.session_id = ?", filter.sessionId);
  if (filter.timeFrom !== undefined) conditions.add(`${moment} >= ?`, filter.timeFrom);
  if (filter.timeTo !== undefined) conditions.add(`${moment} < ?`, filter.timeTo);
  const { validAt, expiresBefore, contains } = filter;
  if (contains !== undefined) addMayContain(conditions, contains.toLowerCase());
  if (validAt !== undefined) {
    conditions.add(
      "n.valid_from <= ? AND (n.valid_to IS NULL OR n.valid_to > ?)",
      validAt,
      validAt,
    );
  }
  if (expiresBefore !== undefined) {
    const second = secondOf(expiresBefore);
    conditions.add(
      `n.pinned = 0 AND n.ttl_days IS NOT NULL AND ${endedBefore("?", "?")}`,
      ...[second, second, fractionOf(expiresBefore)],
    );
  }
  return conditions.build();
}

/** Bytes of the longest pattern that is given to SQLite, which bounds them. */
const MAX_PATTERN = 10_000;
/** Whether a text has characters beyond ASCII, or a zero, where SQLite's functions end. */
const IS_BEYOND_ASCII = "length(n.content) <> octet_length(n.content)";

/**
 * Leaves out texts that cannot contain a text in lower case, so that few have to be looked at. SQLite folds ASCII alone, as all
 * of such a text is folded.
 */
function addMayContain(conditions: Conditions, needle: string): void {
  const isAscii = /^\p{ASCII}*$/u.test(needle) && !needle.includes("\0");
  if (!isAscii) conditions.add(IS_BEYOND_ASCII);
  else if (needle.length <= MAX_PATTERN) {
    const pattern = `%${needle.replaceAll(/[\\%_]/g, "\\$&")}%`;
    conditions.add(`(n.content LIKE ? ESCAPE '\\' OR ${IS_BEYOND_ASCII})`, pattern);
  }
}

/** Nodes in any state by id. */
export function readNodesOf(
  database: Database,
  userId: string,
  ids: readonly Uuid[],
): Page<MemoryNode> {
  const owner = ownerKey(database, userId);
  const wanted = [...new Set(ids)];
  if (owner === undefined || wanted.length === 0) return NOTHING;
  const statement = database.query<NodeRow, Parameter[]>(
    `SELECT ${NODE_COLUMNS} FROM json_each(?) i CROSS JOIN nodes n ON n.id = i.value AND n.owner = ?
     JOIN owners o ON o.owner = n.owner`,
  );
  return readPage(statement, [JSON.stringify(wanted), owner], wanted.length, NODE_PAGE);
}
