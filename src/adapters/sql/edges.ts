import { noSuchPlace } from "../../domain/arguments.ts";
import type { EdgeType, LifecycleState, NodeType, Scope } from "../../domain/enums.ts";
import { SvcError } from "../../domain/errors.ts";
import { type Edge, edgeForm, type MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import { rowWriter } from "../../domain/records/rows.ts";
import { PageBuilder } from "../../domain/search/pages.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type {
  ContradictionPage,
  EdgePage,
  NotedContradiction,
  StoreCounts,
} from "../../ports/store/graph.ts";
import type { Page } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import { keyOf, ofOwner, Params } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { countEvents } from "./events.ts";
import { nodesOf } from "./nodes.ts";
import { EDGE_COLUMNS, EDGE_PAGE, type EdgeRow, joinedEdge, toEdge, toNode } from "./rows.ts";
import * as sql from "./statement.ts";

/** Edges, contradictions among them, and counts of everything. */
export function bindEdges({ read, snapshot }: sql.Access) {
  return {
    contradictions: (userId, keys) => read(userId, () => readContradictions(userId, keys)),
    edges: (wanted) => read(wanted.owner, () => readEdges(wanted)),
    edgesAt: (nodeId) => read(ALL_OWNERS, () => readEdgesOf(nodeId)),
    contradictionsAmong: (userId, ids) => read(userId, () => readContradictionsAmong(userId, ids)),
    contradictionsOf: (nodeId, owner) => read(owner, () => readContradictionsOf(nodeId, owner)),
    notedContradictions: (wanted) => snapshot(wanted.userId, () => readNotedContradictions(wanted)),
    storeCounts: (owner) => snapshot(owner, () => readStoreCounts(owner)),
  } satisfies Partial<Store<number>>;
}

/** One page of edges by id. */
function* readEdges(wanted: EdgePage): sql.Steps<Page<Edge>> {
  const { nodeId, sourceId, targetId, edgeType, afterId, limit } = wanted;
  const owner = yield* keyOf(wanted.owner);
  if (owner === undefined) return { items: [], hasMore: false };
  const known = yield* sql.dialect();
  const params = new Params(limit + 1);
  const conditions = [ofOwner(params, known.free("e.owner"), owner)];
  const compare = (value: string | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(params.add(value)));
  };
  const { nodeRef } = known;
  compare(afterId, (id) => `e.id > ${id}::uuid`);
  compare(nodeId, (id) => `(e.source = ${nodeRef(id)} OR e.target = ${nodeRef(id)})`);
  compare(sourceId, (id) => `e.source = ${nodeRef(id)}`);
  compare(targetId, (id) => `e.target = ${nodeRef(id)}`);
  compare(edgeType, (type) => `e.edge_type = ${type}`);
  const text = `SELECT ${EDGE_COLUMNS} FROM edges e ${joinedEdge(known)} WHERE ${conditions.join(" AND ")} ORDER BY e.id LIMIT $1`;
  return yield* sql.page(EDGE_PAGE, limit, text, ...params.values);
}

type ContradictionRow = EdgeRow & {
  readonly actor_id: string | null;
  /** Of both texts. */
  readonly length: number;
};

const IS_OPEN = "(s.lifecycle_state = 'contested' AND t.lifecycle_state = 'contested')";
const CONTRADICTS = "e.edge_type = 'contradicts'";
/** The record's target is the first claim, which is the target of the edge. */
const actor = ({ isOwnerInKeys }: Dialect): string =>
  `(SELECT p.actor_id FROM operations p WHERE ${isOwnerInKeys ? "p.owner IN (e.owner, 0) AND " : ""}p.target_id = t.id::text
    AND p.op_type = 'CONTRADICTION_NOTED' AND p.created_at = e.created_at LIMIT 1)`;

const PLACE = sql.statement(
  `SELECT created_at, id FROM edges e WHERE owner = $1::bigint AND id = $2::uuid AND ${CONTRADICTS}`,
);

/** There are few contradictions, so they are sorted. */
function* readNotedContradictions(wanted: ContradictionPage): sql.Steps<Page<NotedContradiction>> {
  const { userId, isOpen, afterId, limit } = wanted;
  const owner = yield* sql.ownerKey(userId);
  const known = yield* sql.dialect();
  const params = new Params(owner ?? null, limit + 1);
  const conditions = [`${known.contradicting} = $1::bigint AND ${CONTRADICTS}`];
  if (isOpen !== undefined) conditions.push(`${isOpen ? "" : "NOT "}${IS_OPEN}`);
  if (afterId !== undefined) {
    const place = yield* sql.get<{ created_at: string; id: string }>(PLACE, owner ?? null, afterId);
    if (place === undefined) throw noSuchPlace(afterId);
    const [at, id] = [params.add(place.created_at), params.add(place.id)];
    conditions.push(`(e.created_at, e.id) > (${at}, ${id}::uuid)`);
  }
  if (owner === undefined) return { items: [], hasMore: false };
  const rows = yield* sql.all<ContradictionRow>(
    `SELECT ${EDGE_COLUMNS}, ${actor(known)} AS actor_id, length(s.content) + length(t.content) AS length
     FROM edges e ${joinedEdge(known)} WHERE ${conditions.join(" AND ")} ORDER BY e.created_at, e.id LIMIT $2`,
    ...params.values,
  );
  const found = new PageBuilder<ContradictionRow, ContradictionRow>(
    { toItem: (row) => row, charsOf: ({ length }) => length },
    limit,
  );
  for (const row of rows) if (!found.add(row)) break;
  const { items, hasMore } = found.page();
  const ids = new Set(items.flatMap((edge) => [edge.source_id, edge.target_id]));
  const nodes = new Map<string, MemoryNode>();
  yield* nodesOf(owner, "id", [...ids], (row) => {
    nodes.set(row.id, toNode(row));
    return true;
  });
  return {
    items: items.flatMap((row): readonly NotedContradiction[] => {
      const [nodeA, nodeB] = [nodes.get(row.target_id), nodes.get(row.source_id)];
      if (nodeA === undefined || nodeB === undefined) return [];
      return [{ edge: toEdge(row), nodeA, nodeB, actorId: row.actor_id ?? undefined }];
    }),
    hasMore,
  };
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
function* readStoreCounts(of: Owner): sql.Steps<StoreCounts> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return { nodes: [], edges: [], events: 0 };
  const params = new Params();
  const mine = ofOwner(params, "c.owner", owner);
  const nodes = yield* sql.all<NodeCountRow>(
    `SELECT node_type, lifecycle_state, scope, count(*)::float8 AS count, sum(confidence) AS confidence, sum(salience) AS salience
     FROM nodes c WHERE ${mine} GROUP BY 1, 2, 3`,
    ...params.values,
  );
  const edges = yield* sql.all<{ edge_type: EdgeType; count: number }>(
    `SELECT edge_type, count(*)::float8 AS count FROM edges c WHERE ${mine} GROUP BY 1`,
    ...params.values,
  );
  return {
    nodes: nodes.map(({ node_type: nodeType, lifecycle_state: lifecycleState, ...rest }) => ({
      nodeType,
      lifecycleState,
      ...rest,
    })),
    edges: edges.map(({ edge_type: edgeType, count }) => ({ edgeType, count })),
    events: yield* countEvents(of),
  };
}

/** The id of the owner's node at the other end of a contested node's newest edge in one direction. */
function otherEnd({ end }: Dialect, here: string, there: string): string {
  return `(SELECT f.id FROM edges e JOIN nodes f ON f.owner = e.owner AND f.${end} = e.${there} AND f.id <> n.id
    WHERE e.owner = n.owner AND e.${here} = n.${end} AND ${CONTRADICTS} ORDER BY e.created_at DESC, e.${end} DESC LIMIT 1)`;
}

const OTHER_ENDS = sql.statement(
  (
    known,
  ) => `SELECT n.key, coalesce(${otherEnd(known, "source", "target")}, ${otherEnd(known, "target", "source")}) AS id
    FROM ${known.each("$2", "integer", "k")} ${known.join} nodes n ON n.key = k.value AND ${known.free("n.owner")} = $1::bigint
    WHERE n.lifecycle_state = 'contested'`,
);

/** What each contested node contradicts, else what contradicts it; nodes without such an edge are left out. */
export function* readContradictions(
  userId: string,
  keys: readonly number[],
): sql.Steps<ReadonlyMap<number, Uuid>> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || keys.length === 0) return new Map();
  const rows = yield* sql.all<{ key: number; id: string | null }>(OTHER_ENDS, owner, keys);
  return new Map(rows.flatMap(({ key, id }) => (id === null ? [] : [[key, asUuid(id)] as const])));
}

const AMONG_NODES = sql.statement(
  (known) => `WITH wanted (key) AS MATERIALIZED (
      SELECT n.key FROM json_each($2) i CROSS JOIN nodes n ON n.id = i.value AND +n.owner = $1)
    SELECT ${EDGE_COLUMNS} FROM wanted w CROSS JOIN edges e ON e.source = w.key AND ${CONTRADICTS} AND e.owner = $1 ${joinedEdge(known)}
    WHERE e.target IN (SELECT key FROM wanted) ORDER BY e.created_at, e.id`,
);

const AMONG_EDGES = sql.statement((known) => {
  const [source, target] = known.isOwnerInKeys ? ["e.source", "e.target"] : ["s.id", "t.id"];
  return `SELECT ${EDGE_COLUMNS} FROM edges e ${joinedEdge(known)} WHERE ${known.contradicting} = $1::bigint AND ${CONTRADICTS}
    AND ${source} = ANY ($2::uuid[]) AND ${target} = ANY ($2::uuid[]) ORDER BY e.created_at, e.id`;
});

const HAS_MORE = sql.statement(
  `SELECT e.key FROM edges e WHERE ${"e.owner + 0"} = $1 AND ${CONTRADICTS} LIMIT 1 OFFSET $2`,
);

/** Nodes that can be looked up by id in the time of reading an edge. */
const NODES_PER_EDGE = 4;

/** The `contradicts` edges of an owner with both ends among the nodes. A pack reads the smaller set: the nodes or the edges. */
export function* readContradictionsAmong(
  userId: string,
  nodeIds: readonly Uuid[],
): sql.Steps<readonly Edge[]> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || nodeIds.length === 0) return [];
  const wanted = [...new Set(nodeIds)];
  const { isOwnerInKeys } = yield* sql.dialect();
  let text = AMONG_EDGES;
  if (!isOwnerInKeys) {
    if ((yield* sql.get(HAS_MORE, owner, 0)) === undefined) return [];
    const some = Math.floor(wanted.length / NODES_PER_EDGE);
    if ((yield* sql.get(HAS_MORE, owner, some)) !== undefined) text = AMONG_NODES;
  }
  return (yield* sql.all<EdgeRow>(text, owner, wanted)).map(toEdge);
}

/** The edges at a node of an owner or of all, in either direction, by (created_at, id). */
function atNode(known: Dialect, isEdge: string, isPair: string): string {
  const along = (here: string): string =>
    `SELECT e.owner, e.id FROM place p ${known.join} edges e ON e.owner = p.owner AND e.${here} = p.name ${isEdge}`;
  return `WITH place AS (SELECT owner, ${known.end} AS name FROM nodes WHERE id = $1::uuid AND ($2::bigint IS NULL OR owner = $2::bigint))
    SELECT ${EDGE_COLUMNS} FROM (${along("source")} UNION ${along("target")}) k
    ${known.join} edges e ON e.id = k.id AND ${known.free("e.owner")} = k.owner ${joinedEdge(known)}
    ${isPair} ORDER BY e.created_at, e.id`;
}

const AT_NODE = sql.statement((known) => atNode(known, "", ""));
const CONTRADICTING = sql.statement((known) =>
  atNode(known, `AND ${CONTRADICTS}`, "WHERE s.scope = t.scope"),
);

/** All edges at a node, in either direction, by (created_at, id). */
export function* readEdgesOf(id: Uuid): sql.Steps<Edge[]> {
  return (yield* sql.all<EdgeRow>(AT_NODE, id, null)).map(toEdge);
}

/** The `contradicts` edges at a node whose other end has the same owner and scope. */
export function* readContradictionsOf(nodeId: Uuid, of: Owner): sql.Steps<readonly Edge[]> {
  const owner = typeof of === "string" ? yield* sql.ownerKey(of) : null;
  if (owner === undefined) return [];
  return (yield* sql.all<EdgeRow>(CONTRADICTING, nodeId, owner)).map(toEdge);
}

const AMONG = sql.statement(
  (
    known,
  ) => `SELECT ${EDGE_COLUMNS} FROM ${known.each("$1", "uuid", "k")} ${known.join} nodes s ON s.id = k.value
    ${known.join} edges e ON e.owner = s.owner AND e.source = s.${known.end}
    JOIN nodes t ON t.owner = e.owner AND t.${known.end} = e.target JOIN owners o ON o.owner = e.owner
    WHERE t.id = ANY ($1::uuid[]) ORDER BY e.created_at, e.id`,
);

/** The edges with both ends among the nodes, of any owner, by (created_at, id). */
export function* readEdgesAmong(ids: readonly Uuid[]): sql.Steps<Edge[]> {
  if (ids.length === 0) return [];
  return (yield* sql.all<EdgeRow>(AMONG, [...new Set(ids)])).map(toEdge);
}

const INSERT_EDGE = sql.statement(
  ({ end }) => `INSERT INTO edges
    (id, source, target, edge_type, owner, confidence, valid_from, valid_to, provenance_event_id, metadata, created_at)
    SELECT $1::uuid, s.${end}, t.${end}, $4, s.owner, $6::float8, $7, $8, $9::uuid, $10, $11
    FROM nodes s JOIN nodes t ON t.owner = s.owner AND t.id = $3::uuid
    WHERE s.owner = $5::bigint AND s.id = $2::uuid ON CONFLICT DO NOTHING`,
);
const valuesOf = rowWriter(edgeForm);
/** Position of the owner's name among the values. */
const OWNER_AT = edgeForm.members.findIndex(({ key }) => key === "userId");

/**
 * Writes a new edge. Runs inside a write transaction.
 * @throws SvcError internal unless the edge is new and both ends exist and belong to its owner
 */
export function* writeEdge(edge: Edge): sql.Steps<void> {
  const owner = (yield* sql.ownerKey(edge.userId)) ?? null;
  if ((yield* sql.run(INSERT_EDGE, ...valuesOf(edge).with(OWNER_AT, owner))) > 0) return;
  const message = `the edge ${edge.id} is there already, or ${edge.sourceId} and ${edge.targetId} are not both nodes of its owner`;
  throw new SvcError("internal", message, { edge: edge.id });
}
