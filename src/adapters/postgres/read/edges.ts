import { noSuchPlace } from "../../../domain/arguments.ts";
import type { EdgeType, LifecycleState, NodeType, Scope } from "../../../domain/enums.ts";
import type { Edge, MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { charsOfEdge, type PageForm } from "../../../domain/search/pages.ts";
import type {
  ContradictionPage,
  EdgePage,
  NotedContradiction,
  StoreCounts,
} from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ofOwner } from "../conditions.ts";
import { pageOf } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import {
  EDGE_COLUMNS,
  type EdgeRow,
  FROM_EDGES,
  FROM_NODES,
  type NodeRow,
  toEdge,
  toNode,
} from "../rows.ts";

const EDGE_PAGE: PageForm<EdgeRow, Edge> = {
  toItem: toEdge,
  charsOf: charsOfEdge,
};

/** One page of edges by id. No edge leads to a node of another owner. */
export async function readEdges(sql: Sql, page: EdgePage): Promise<Page<Edge>> {
  const { nodeId, sourceId, targetId, edgeType, afterId, limit } = page;
  const params = new Params();
  const conditions = [ofOwner(params, "e", page.owner)];
  const compare = (value: string | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(params.add(value)));
  };
  compare(afterId, (id) => `e.id > ${id}::uuid`);
  compare(nodeId, (id) => `(e.source = ${id}::uuid OR e.target = ${id}::uuid)`);
  compare(sourceId, (id) => `e.source = ${id}::uuid`);
  compare(targetId, (id) => `e.target = ${id}::uuid`);
  compare(edgeType, (type) => `e.edge_type = ${type}`);
  const rows = await sql.all<EdgeRow>(
    `${FROM_EDGES} JOIN nodes s ON s.owner = e.owner AND s.id = e.source JOIN nodes t ON t.owner = e.owner AND t.id = e.target
     WHERE ${conditions.join(" AND ")} ORDER BY e.id LIMIT ${params.add(limit + 1)}`,
    ...params.values,
  );
  return pageOf(rows, limit, EDGE_PAGE);
}

type ContradictionRow = EdgeRow & {
  readonly actor_id: string | null;
  /** UTF-16 units of both texts are at most so many. */
  readonly length: number;
};

const IS_OPEN = "(s.lifecycle_state = 'contested' AND t.lifecycle_state = 'contested')";
/** The record of the note has the first claim as its target, which is the target of the edge. */
const ACTOR = `(SELECT p.actor_id FROM operations p WHERE p.owner IN (e.owner, 0) AND p.target_id = e.target::text
  AND p.op_type = 'CONTRADICTION_NOTED' AND p.created_at = e.created_at LIMIT 1)`;

const PLACE =
  "SELECT 1 FROM edges WHERE owner = $1::bigint AND id = $2::uuid AND edge_type = 'contradicts'";

/** Contradictions are few, so they are sorted. Runs in a snapshot. */
export async function readNotedContradictions(
  sql: Sql,
  { userId, isOpen, afterId, limit }: ContradictionPage,
): Promise<Page<NotedContradiction>> {
  const owner = ownerKey(userId);
  const params = new Params(owner);
  const conditions = ["e.owner = $1::bigint AND e.edge_type = 'contradicts'"];
  if (isOpen !== undefined) conditions.push(`${isOpen ? "" : "NOT "}${IS_OPEN}`);
  if (afterId !== undefined) {
    if ((await sql.get(PLACE, owner, afterId)) === undefined) throw noSuchPlace(afterId);
    conditions.push(`(e.created_at, e.id) > (SELECT a.created_at, a.id FROM edges a
      WHERE a.owner = $1::bigint AND a.id = ${params.add(afterId)}::uuid)`);
  }
  const rows = await sql.all<ContradictionRow>(
    `SELECT ${EDGE_COLUMNS}, ${ACTOR} AS actor_id, char_length(s.content) + char_length(t.content) AS length
     FROM edges e JOIN owners o ON o.owner = e.owner
       JOIN nodes s ON s.owner = e.owner AND s.id = e.source JOIN nodes t ON t.owner = e.owner AND t.id = e.target
     WHERE ${conditions.join(" AND ")} ORDER BY e.created_at, e.id LIMIT ${params.add(limit + 1)}`,
    ...params.values,
  );
  const page = pageOf(rows, limit, { toItem: (row) => row, charsOf: ({ length }) => length });
  const nodes = await readBoth(sql, owner, page.items);
  const items = page.items.flatMap((row): readonly NotedContradiction[] => {
    const [nodeA, nodeB] = [nodes.get(row.target_id), nodes.get(row.source_id)];
    if (nodeA === undefined || nodeB === undefined) return [];
    return [{ edge: toEdge(row), nodeA, nodeB, actorId: row.actor_id ?? undefined }];
  });
  return { items, hasMore: page.hasMore };
}

/** The nodes at both ends of edges, by id. */
async function readBoth(
  sql: Sql,
  owner: string,
  edges: readonly EdgeRow[],
): Promise<ReadonlyMap<string, MemoryNode>> {
  const ids = new Set(edges.flatMap((edge) => [edge.source_id, edge.target_id]));
  if (ids.size === 0) return new Map();
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
    owner,
    listText(ids),
  );
  return new Map(rows.map((row) => [row.id, toNode(row)]));
}

type NodeCountRow = {
  readonly node_type: NodeType;
  readonly lifecycle_state: LifecycleState;
  readonly scope: Scope;
  readonly count: number;
  readonly confidence: number;
  readonly salience: number;
};

/** Counts of everything, of one owner or of all. Runs in a snapshot. */
export async function readStoreCounts(sql: Sql, owner: Owner): Promise<StoreCounts> {
  const params = new Params();
  const mine = ofOwner(params, "t", owner);
  const nodes = await sql.all<NodeCountRow>(
    `SELECT node_type, lifecycle_state, scope, count(*)::integer AS count, sum(confidence) AS confidence, sum(salience) AS salience
     FROM nodes t WHERE ${mine} GROUP BY 1, 2, 3`,
    ...params.values,
  );
  const edges = await sql.all<{ edge_type: EdgeType; count: number }>(
    `SELECT edge_type, count(*)::integer AS count FROM edges t WHERE ${mine} GROUP BY 1`,
    ...params.values,
  );
  const events = await sql.get<{ count: number }>(
    `SELECT count(*)::integer AS count FROM events t WHERE ${mine}`,
    ...params.values,
  );
  return {
    nodes: nodes.map(({ node_type: nodeType, lifecycle_state: lifecycleState, ...rest }) => ({
      nodeType,
      lifecycleState,
      ...rest,
    })),
    edges: edges.map(({ edge_type: edgeType, count }) => ({ edgeType, count })),
    events: events?.count ?? 0,
  };
}
