import type { Database } from "bun:sqlite";
import { noSuchPlace } from "../../../domain/arguments.ts";
import type { EdgeType, LifecycleState, NodeType, Scope } from "../../../domain/enums.ts";
import type { Edge } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { charsOfEdge, PageBuilder, type PageForm } from "../../../domain/search/pages.ts";
import type {
  ContradictionPage,
  EdgePage,
  NotedContradiction,
  StoreCounts,
} from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { hasRow, type Parameter } from "../connection/ask.ts";
import { EDGE_COLUMNS, type EdgeRow, JOINED_EDGE, toEdge } from "../write/edges.ts";
import { ownerKey, userIdOf } from "../write/owners.ts";
import { toNode } from "../write/rows.ts";
import { Conditions } from "./filter-sql.ts";
import { nodeReader, readPage } from "./pages.ts";
import { countEvents } from "./read.ts";

const EDGE_PAGE: PageForm<EdgeRow, Edge> = {
  toItem: toEdge,
  charsOf: charsOfEdge,
};

/** No edge leads to a node of another owner. */
const OF_ONE_OWNER = "s.owner = e.owner AND t.owner = e.owner";
/** The edges at a node, through the indexes of both ends. */
const AT_NODE = `e.key IN (SELECT a.key FROM nodes x CROSS JOIN edges a ON a.source = x.key WHERE x.id = ?
  UNION ALL SELECT b.key FROM nodes y CROSS JOIN edges b ON b.target = y.key WHERE y.id = ?)`;

export function readEdges(database: Database, page: EdgePage): Page<Edge> {
  const { nodeId, sourceId, targetId, edgeType, afterId = "", limit } = page;
  const userId = userIdOf(page.owner);
  const conditions = new Conditions();
  conditions.add(`e.id > ? AND ${OF_ONE_OWNER}`, afterId);
  if (userId !== null) conditions.add("o.user_id = ?", userId);
  if (nodeId !== undefined) conditions.add(AT_NODE, nodeId, nodeId);
  if (sourceId !== undefined) {
    conditions.add("e.source = (SELECT key FROM nodes WHERE id = ?)", sourceId);
  }
  if (targetId !== undefined) {
    conditions.add("e.target = (SELECT key FROM nodes WHERE id = ?)", targetId);
  }
  if (edgeType !== undefined) conditions.add("e.edge_type = ?", edgeType);
  const { sql, parameters } = conditions.build();
  const statement = database.query<EdgeRow, Parameter[]>(
    `SELECT ${EDGE_COLUMNS} FROM edges e ${JOINED_EDGE} WHERE ${sql} ORDER BY e.id LIMIT ?`,
  );
  return readPage(statement, [...parameters, limit + 1], limit, EDGE_PAGE);
}

type ContradictionRow = EdgeRow & {
  readonly source_key: number;
  readonly target_key: number;
  readonly actor_id: string | null;
};

const IS_OPEN = "(s.lifecycle_state = 'contested' AND t.lifecycle_state = 'contested')";
/** The record of the note has the first claim as its target, which is the target of the edge. */
const ACTOR = `(SELECT p.actor_id FROM operations p WHERE p.target_id = t.id AND p.op_type = 'CONTRADICTION_NOTED'
  AND p.created_at = e.created_at LIMIT 1)`;

const PLACE = "edges WHERE id = ? AND owner = ? AND edge_type = 'contradicts'";

/** Contradictions are few, so they are sorted. */
export function readNotedContradictions(
  database: Database,
  page: ContradictionPage,
): Page<NotedContradiction> {
  const { userId, isOpen, afterId, limit } = page;
  const owner = ownerKey(database, userId);
  const isKnown =
    owner !== undefined && (afterId === undefined || hasRow(database, PLACE, afterId, owner));
  if (afterId !== undefined && !isKnown) throw noSuchPlace(afterId);
  if (owner === undefined) return { items: [], hasMore: false };
  const open = isOpen === undefined ? "" : ` AND ${isOpen ? "" : "NOT "}${IS_OPEN}`;
  const after =
    afterId === undefined
      ? ""
      : " AND (e.created_at, e.id) > (SELECT a.created_at, a.id FROM edges a WHERE a.id = ? AND a.owner = ?)";
  const rows = database
    .query<ContradictionRow, Parameter[]>(
      `SELECT ${EDGE_COLUMNS}, e.source AS source_key, e.target AS target_key, ${ACTOR} AS actor_id
       FROM edges e ${JOINED_EDGE}
       WHERE e.owner + 0 = ? AND e.edge_type = 'contradicts' AND ${OF_ONE_OWNER}${open}${after}
       ORDER BY e.created_at, e.id LIMIT ?`,
    )
    .all(owner, ...(afterId === undefined ? [] : [afterId, owner]), limit + 1);
  const readRow = nodeReader(database);
  const form: PageForm<ContradictionRow, NotedContradiction | undefined> = {
    charsOf: ({ source_key: source, target_key: target }) =>
      (readRow(source)?.content.length ?? 0) + (readRow(target)?.content.length ?? 0),
    toItem: (row) => {
      const [a, b] = [readRow(row.target_key), readRow(row.source_key)];
      if (a === undefined || b === undefined) return undefined;
      const sides = { nodeA: toNode(a), nodeB: toNode(b) };
      return { edge: toEdge(row), ...sides, actorId: row.actor_id ?? undefined };
    },
  };
  const found = new PageBuilder(form, limit);
  for (const row of rows) if (!found.add(row)) break;
  const { items, hasMore } = found.page();
  return { items: items.flatMap((item) => item ?? []), hasMore };
}

type NodeCountRow = {
  readonly node_type: NodeType;
  readonly lifecycle_state: LifecycleState;
  readonly scope: Scope;
  readonly count: number;
  readonly confidence: number;
  readonly salience: number;
};

/** Counts of everything, of one owner or of all. */
export function readStoreCounts(database: Database, owner: Owner): StoreCounts {
  const userId = userIdOf(owner);
  const key = userId === null ? null : (ownerKey(database, userId) ?? -1);
  const nodes = database
    .query<NodeCountRow, [number | null]>(
      `SELECT node_type, lifecycle_state, scope, count(*) AS count, sum(confidence) AS confidence, sum(salience) AS salience
       FROM nodes WHERE ?1 IS NULL OR owner = ?1 GROUP BY 1, 2, 3`,
    )
    .all(key);
  const edges = database
    .query<{ edge_type: EdgeType; count: number }, [number | null]>(
      "SELECT edge_type, count(*) AS count FROM edges WHERE ?1 IS NULL OR owner = ?1 GROUP BY 1",
    )
    .all(key);
  return {
    nodes: nodes.map(({ node_type: nodeType, lifecycle_state: lifecycleState, ...rest }) => ({
      nodeType,
      lifecycleState,
      ...rest,
    })),
    edges: edges.map(({ edge_type: edgeType, count }) => ({ edgeType, count })),
    events: countEvents(database, owner),
  };
}
