import type { LifecycleState } from "../../../domain/enums.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { RowOf } from "../../../domain/records/rows.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import { asInstant } from "../../../lib/instant.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type {
  BrowseFilter,
  BrowsePage,
  FacetCount,
  FacetValues,
  QuarterCount,
} from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { endedBefore } from "../conditions.ts";
import { NODE_PAGE } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow } from "../rows.ts";

/** The moment of a node `n` by each clock. */
const MOMENT = {
  learned: "n.created_at",
  happened: "coalesce(n.event_time, n.created_at)",
} as const;

/** Memories that are read at once: a page may end with any of them. */
const READ_AT_ONCE = 200;

/** A page of memories by clock. Texts are compared here: the database folds only ASCII. Runs in a snapshot. */
export async function readBrowse(sql: Sql, page: BrowsePage): Promise<Page<MemoryNode>> {
  const needle = page.contains?.toLowerCase();
  const found = new PageBuilder(NODE_PAGE, page.limit);
  for (let after = page.after; ; ) {
    const rows = await readPlaced(sql, page, after);
    for (const row of rows) {
      if (!row.content.toLowerCase().includes(needle ?? "")) continue;
      if (!found.add(row)) return found.page();
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_AT_ONCE) return found.page();
    after = placeOf(last, page.clock);
  }
}

/** Where the next page of rows begins. */
function placeOf({ id, event_time, created_at }: NodeRow, clock: BrowsePage["clock"]): BrowsePlace {
  const moment = clock === "learned" ? created_at : (event_time ?? created_at);
  return { at: asInstant(moment), id: asUuid(id) };
}

type BrowsePlace = NonNullable<BrowsePage["after"]>;

function readPlaced(
  sql: Sql,
  page: BrowsePage,
  after: BrowsePlace | undefined,
): Promise<readonly NodeRow[]> {
  const params = new Params(ownerKey(page.userId));
  const [order, compare] = page.oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const moment = MOMENT[page.clock];
  const conditions = [matches(params, page)];
  if (after !== undefined) {
    conditions.push(
      `(${moment}, n.id) ${compare} (${params.add(after.at)}, ${params.add(after.id)}::uuid)`,
    );
  }
  return sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${conditions.join(" AND ")}
     ORDER BY ${moment} ${order}, n.id ${order} LIMIT ${READ_AT_ONCE}`,
    ...params.values,
  );
}

/**
 * What leaves out texts that cannot contain a text in lower case, so that few have to be looked at, as SQL. The database folds ASCII
 * alone, as all of such a text is folded.
 */
function mayContain(params: Params, needle: string): string {
  const isBeyondAscii = "char_length(n.content) <> octet_length(n.content)";
  if (!/^\p{ASCII}*$/u.test(needle)) return isBeyondAscii;
  const pattern = `%${needle.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return `(n.content ILIKE ${params.add(pattern)} OR ${isBeyondAscii})`;
}

/** The conditions of a filter on a node `n` of the owner $1, as SQL; of a text only what the database can check. */
function matches(params: Params, filter: BrowseFilter): string {
  const moment = MOMENT[filter.clock];
  const conditions = ["n.owner = $1::bigint"];
  const any = (column: string, values: readonly string[] | undefined): void => {
    if (values !== undefined) conditions.push(params.any(column, values));
  };
  const compare = (value: string | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(params.add(value)));
  };
  any("n.lifecycle_state", filter.lifecycleStates);
  any("n.scope", filter.scopes);
  any("n.source_type", filter.sourceTypes);
  any("n.epistemic_type", filter.epistemicTypes);
  compare(filter.nodeType, (type) => `n.node_type = ${type}`);
  compare(filter.sessionId, (session) => `n.session_id = ${session}`);
  compare(filter.timeFrom, (from) => `${moment} >= ${from}`);
  compare(filter.timeTo, (to) => `${moment} < ${to}`);
  compare(
    filter.validAt,
    (at) => `n.valid_from <= ${at} AND (n.valid_to IS NULL OR n.valid_to > ${at})`,
  );
  if (filter.contains !== undefined) {
    conditions.push(mayContain(params, filter.contains.toLowerCase()));
  }
  if (filter.expiresBefore !== undefined) {
    conditions.push(
      `n.pinned = 0 AND n.ttl_days IS NOT NULL AND ${endedBefore(params, filter.expiresBefore)}`,
    );
  }
  return conditions.join(" AND ");
}

type FacetRow = RowOf<FacetValues> & { readonly count: number };

const FACETS = "n.node_type, n.lifecycle_state, n.scope, n.source_type, n.epistemic_type";

/** How many memories share their type, state, scope, source and kind of knowledge. Runs in a snapshot. */
export async function readFacetCounts(
  sql: Sql,
  filter: BrowseFilter,
): Promise<readonly FacetCount[]> {
  const rows = await readGroups<FacetRow>(sql, filter, FACETS, "1, 2, 3, 4, 5");
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

/** How many memories each quarter of an hour has. Runs in a snapshot. */
export async function readQuarterCounts(
  sql: Sql,
  filter: BrowseFilter,
): Promise<readonly QuarterCount[]> {
  const moment = MOMENT[filter.clock];
  const minute = `substr(${moment}, 15, 2)`;
  const quarter = `substr(${moment}, 1, 14) || CASE WHEN ${minute} < '15' THEN '00'
    WHEN ${minute} < '30' THEN '15' WHEN ${minute} < '45' THEN '30' ELSE '45' END AS quarter`;
  const rows = await readGroups<QuarterRow>(sql, filter, `n.lifecycle_state, ${quarter}`, "1, 2");
  return rows.map((row) => ({
    quarter: row.quarter,
    lifecycleState: row.lifecycle_state,
    count: row.count,
  }));
}

/** The memories that pass a filter, grouped by some columns and counted. @param groups the numbers of the columns */
async function readGroups<Row>(
  sql: Sql,
  filter: BrowseFilter,
  columns: string,
  groups: string,
): Promise<readonly Row[]> {
  const params = new Params(ownerKey(filter.userId));
  const conditions = [matches(params, filter)];
  if (filter.contains !== undefined) {
    const keys = await keysWithText(sql, filter, filter.contains);
    conditions.push(`n.key = ANY (${params.add(listText(keys))}::integer[])`);
  }
  return sql.all<Row>(
    `SELECT ${columns}, count(*)::integer AS count FROM nodes n WHERE ${conditions.join(" AND ")} GROUP BY ${groups}`,
    ...params.values,
  );
}

/** The keys of the memories that pass and have a text. */
async function keysWithText(
  sql: Sql,
  filter: BrowseFilter,
  text: string,
): Promise<readonly number[]> {
  const needle = text.toLowerCase();
  const keys: number[] = [];
  for (let after = 0; ; ) {
    const params = new Params(ownerKey(filter.userId));
    const rows = await sql.all<{ key: number; content: string }>(
      `SELECT n.key, n.content FROM nodes n WHERE ${matches(params, filter)} AND n.key > ${params.add(after)}
       ORDER BY n.key LIMIT ${READ_AT_ONCE}`,
      ...params.values,
    );
    for (const { key, content } of rows) {
      if (content.toLowerCase().includes(needle)) keys.push(key);
    }
    if (rows.length < READ_AT_ONCE) return keys;
    after = rows.at(-1)?.key ?? after;
  }
}

/** Nodes in any state by id. Runs in a snapshot. */
export async function readNodesOf(
  sql: Sql,
  userId: string,
  ids: readonly Uuid[],
): Promise<Page<MemoryNode>> {
  const wanted = [...new Set(ids)];
  const found = new PageBuilder(NODE_PAGE, wanted.length);
  for (let from = 0; from < wanted.length; from += READ_AT_ONCE) {
    const rows = await sql.all<NodeRow>(
      `${FROM_NODES} WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
      ownerKey(userId),
      listText(wanted.slice(from, from + READ_AT_ONCE)),
    );
    for (const row of rows) if (!found.add(row)) return found.page();
  }
  return found.page();
}
