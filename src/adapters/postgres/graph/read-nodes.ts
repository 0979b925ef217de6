import { LIMITS } from "../../../domain/arguments.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../../domain/owner.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ExpiredRead, NodeFilter, NodeScan } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ACTIVE, END_FRACTION, endedBefore, isSession, ofOwner } from "../conditions.ts";
import { NODE_PAGE, pageOf } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { type OwnerKey, ownerKey, ownerKeyOrNull } from "../owner-key.ts";
import { FROM_NODES, type NodeRow, toNode } from "../rows.ts";

export async function readNode(sql: Sql, id: Uuid, owner: Owner): Promise<MemoryNode | undefined> {
  const params = new Params(id);
  const row = await sql.get<NodeRow>(
    `${FROM_NODES} WHERE n.id = $1::uuid AND ${ofOwner(params, "n", owner)}`,
    ...params.values,
  );
  return row && toNode(row);
}

/** Nodes of any owner, by id. */
export async function readNodeRows(
  sql: Sql,
  ids: readonly Uuid[],
  owner: Owner = ALL_OWNERS,
): Promise<NodeRow[]> {
  if (ids.length === 0) return [];
  return await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.id = ANY ($1::uuid[]) AND ($2::bigint IS NULL OR n.owner = $2::bigint)`,
    listText(ids),
    ownerKeyOrNull(owner),
  );
}

/** Rows that are read at a time where a text decides which of them count. */
const CHUNK = 500;

/** Nodes that pass a filter, newest first unless requested otherwise. */
export async function readNodes(sql: Sql, filter: NodeFilter): Promise<readonly MemoryNode[]> {
  if (filter.limit === 0) return [];
  const needles = (filter.contentContainsAny ?? []).map((needle) => needle.toLowerCase());
  const page = new PageBuilder(NODE_PAGE, filter.limit);
  const chunk = needles.length === 0 ? filter.limit : CHUNK;
  for await (const row of matching(sql, filter, chunk)) {
    if (containsAny(row.content, needles) && (!page.add(row) || page.isFull)) break;
  }
  return page.page().items;
}

/** The rows that pass a filter but for its texts, read in parts. */
async function* matching(sql: Sql, filter: NodeFilter, chunk: number): AsyncGenerator<NodeRow> {
  for (let after: NodeRow | undefined; ; ) {
    const rows = await readChunk(sql, filter, after, chunk);
    yield* rows;
    after = rows.at(-1);
    if (rows.length < chunk || after === undefined) return;
  }
}

/** The database may fold case differently, so texts are compared here. */
function containsAny(content: string, needles: readonly string[]): boolean {
  if (needles.length === 0) return true;
  const text = content.toLowerCase();
  return needles.some((needle) => text.includes(needle));
}

function readChunk(
  sql: Sql,
  filter: NodeFilter,
  after: NodeRow | undefined,
  limit: number,
): Promise<NodeRow[]> {
  const params = new Params(limit);
  const conditions = nodeConditions(params, filter);
  const [direction, compare] = filter.oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  if (after !== undefined) conditions.push(placed(params, compare, after.created_at, after.id));
  return sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${conditions.join(" AND ")}
     ORDER BY n.created_at ${direction}, n.id ${direction} LIMIT $1`,
    ...params.values,
  );
}

function placed(params: Params, compare: string, createdAt: string, id: string): string {
  return `(n.created_at, n.id) ${compare} (${params.add(createdAt)}, ${params.add(id)}::uuid)`;
}

/** The conditions of a node query, but for the texts. */
function nodeConditions(params: Params, filter: NodeFilter): string[] {
  const conditions = [
    ofOwner(params, "n", filter.owner),
    params.any("n.lifecycle_state", filter.lifecycleStates),
  ];
  const { nodeType, scopes = [], sessionIds = [], validAt, minConfidence, minSalience } = filter;
  if (nodeType !== undefined) conditions.push(`n.node_type = ${params.add(nodeType)}`);
  if (scopes.length > 0) conditions.push(params.any("n.scope", scopes));
  const [session = "", ...others] = sessionIds;
  if (others.length > 0) conditions.push(params.any("n.session_id", sessionIds));
  else if (sessionIds.length > 0) conditions.push(isSession("n.session_id", params.add(session)));
  if (validAt !== undefined) {
    const moment = params.add(validAt);
    conditions.push(`n.valid_from <= ${moment} AND (n.valid_to IS NULL OR n.valid_to > ${moment})`);
  }
  if (minConfidence !== undefined) conditions.push(`n.confidence >= ${params.add(minConfidence)}`);
  if (minSalience !== undefined) conditions.push(`n.salience >= ${params.add(minSalience)}`);
  const { createdBefore, olderThan } = filter;
  if (createdBefore !== undefined) conditions.push(`n.created_at <= ${params.add(createdBefore)}`);
  if (olderThan !== undefined) {
    conditions.push(placed(params, "<", olderThan.createdAt, olderThan.id));
  }
  return conditions;
}

/** A page of an owner's nodes by id. */
export async function readScan(sql: Sql, page: NodeScan): Promise<Page<MemoryNode>> {
  const params = new Params(ownerKey(page.userId), page.limit + 1);
  const conditions = [
    "n.owner = $1::bigint",
    params.any("n.lifecycle_state", page.lifecycleStates),
  ];
  if (page.scope !== undefined) conditions.push(`n.scope = ${params.add(page.scope)}`);
  if (page.nodeType !== undefined) conditions.push(`n.node_type = ${params.add(page.nodeType)}`);
  if (page.afterId !== undefined) conditions.push(`n.id > ${params.add(page.afterId)}::uuid`);
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${conditions.join(" AND ")} ORDER BY n.id LIMIT $2`,
    ...params.values,
  );
  return pageOf(rows, page.limit, NODE_PAGE);
}

/** Active nodes whose retention ended before a moment, earliest first, then by id. */
export async function readExpired(
  sql: Sql,
  { owner, now, limit }: ExpiredRead,
): Promise<MemoryNode[]> {
  const params = new Params(limit);
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE}
       AND ${endedBefore(params, now)} AND ${ofOwner(params, "n", owner)}
     ORDER BY n.retention_second, ${END_FRACTION}, n.id LIMIT $1`,
    ...params.values,
  );
  return rows.map(toNode);
}

/** Nodes in any state that cite an event and have the same owner, by id. */
export async function readNodesCiting(
  sql: Sql,
  eventId: Uuid,
  owner: Owner,
): Promise<readonly MemoryNode[]> {
  const params = new Params(eventId, LIMITS.citingNodesMax);
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} JOIN node_evidence c ON c.owner = n.owner AND c.node_key = n.key
       JOIN events e ON e.owner = c.owner AND e.id = c.event_id
     WHERE c.event_id = $1::uuid AND e.id = $1::uuid AND ${ofOwner(params, "e", owner)} ORDER BY n.id LIMIT $2`,
    ...params.values,
  );
  return pageOf(rows, LIMITS.citingNodesMax, NODE_PAGE).items;
}

/** Active nodes. */
export async function countNodes(sql: Sql, owner: Owner): Promise<number> {
  const params = new Params();
  const row = await sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM nodes n WHERE n.lifecycle_state IN ${ACTIVE} AND ${ofOwner(params, "n", owner)}`,
    ...params.values,
  );
  return row?.count ?? 0;
}

/** The highest key of an owner's nodes in any state; 0 without one. */
export async function readNewestKey(sql: Sql, owner: OwnerKey): Promise<number> {
  const row = await sql.get<{ key: number | null }>(
    "SELECT max(key) AS key FROM nodes WHERE owner = $1::bigint",
    owner,
  );
  return row?.key ?? 0;
}
