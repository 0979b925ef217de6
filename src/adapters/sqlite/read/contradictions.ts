import type { Database } from "bun:sqlite";
import type { Edge } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import { EDGE_COLUMNS, type EdgeRow, JOINED_EDGE, toEdge } from "../write/edges.ts";
import { ownerKey, userIdOf } from "../write/owners.ts";

/** The id of the owner's node at the other end of a contested node's newest edge in one direction. */
function otherEnd(here: "source" | "target", there: "source" | "target"): string {
  return `(SELECT o.id FROM edges e JOIN nodes o ON o.key = e.${there} AND o.owner = n.owner AND o.key <> n.key
    WHERE e.${here} = n.key AND e.edge_type = 'contradicts' AND e.owner = n.owner
    ORDER BY e.created_at DESC, e.key DESC LIMIT 1)`;
}

const OTHER_ENDS = `SELECT n.key, coalesce(${otherEnd("source", "target")}, ${otherEnd("target", "source")}) AS id
  FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
  WHERE n.owner = ? AND n.lifecycle_state = 'contested'`;

/** What each contested node contradicts, else what contradicts it; nodes without such an edge are left out. */
export function readContradictions(
  database: Database,
  userId: string,
  keys: readonly number[],
): Map<number, Uuid> {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return new Map();
  const rows = database
    .query<{ key: number; id: string | null }, [string, number]>(OTHER_ENDS)
    .all(JSON.stringify(keys), owner);
  return new Map(rows.flatMap(({ key, id }) => (id === null ? [] : [[key, asUuid(id)] as const])));
}

const FROM_NODES = `WITH wanted (key) AS MATERIALIZED (
    SELECT n.key FROM json_each(?1) i CROSS JOIN nodes n ON n.id = i.value AND n.owner = ?2)
  SELECT ${EDGE_COLUMNS} FROM wanted w
  CROSS JOIN edges e ON e.source = w.key AND e.edge_type = 'contradicts' AND e.owner = ?2 ${JOINED_EDGE}
  WHERE e.target IN (SELECT key FROM wanted) ORDER BY e.created_at, e.id`;

/** Edges of the owner ?1, through their index. */
const OF_OWNER = "e.owner + 0 = ?1 AND e.edge_type = 'contradicts'";
const FROM_EDGES = `SELECT ${EDGE_COLUMNS} FROM edges e ${JOINED_EDGE}
  WHERE ${OF_OWNER} AND s.owner = ?1 AND t.owner = ?1 ORDER BY e.created_at, e.id`;

/** Nodes that can be looked up by id in the time it takes to read an edge. */
const NODES_PER_EDGE = 4;

/** The `contradicts` edges of an owner with both ends among the nodes. Reads whichever is less: the nodes or the edges. */
export function readContradictionsAmong(
  database: Database,
  userId: string,
  nodeIds: readonly Uuid[],
): Edge[] {
  const owner = ownerKey(database, userId);
  if (owner === undefined || nodeIds.length === 0 || !hasMore(database, owner, 0)) return [];
  const wanted = new Set(nodeIds);
  if (hasMore(database, owner, Math.floor(wanted.size / NODES_PER_EDGE))) {
    const query = database.query<EdgeRow, [string, number]>(FROM_NODES);
    return query.all(JSON.stringify([...wanted]), owner).map(toEdge);
  }
  const rows = database.query<EdgeRow, [number]>(FROM_EDGES).all(owner);
  return rows
    .map(toEdge)
    .filter(({ sourceId, targetId }) => wanted.has(sourceId) && wanted.has(targetId));
}

/** Whether an owner has more contradictions than this number. */
function hasMore(database: Database, owner: number, count: number): boolean {
  return (
    database
      .query<{ key: number }, [number, number]>(
        `SELECT e.key FROM edges e WHERE ${OF_OWNER} LIMIT 1 OFFSET ?2`,
      )
      .get(owner, count) !== null
  );
}

/** Keys of the `contradicts` edges of a node `n` in one direction that lead to a node of its owner and scope. */
function keysAlong(here: "source" | "target", there: "source" | "target"): string {
  return `SELECT c.key FROM nodes n CROSS JOIN owners o ON o.owner = n.owner AND (?2 IS NULL OR o.user_id = ?2)
    CROSS JOIN edges c ON c.${here} = n.key AND c.edge_type = 'contradicts' AND c.owner = n.owner
    CROSS JOIN nodes f ON f.key = c.${there} AND f.owner = n.owner AND f.scope = n.scope WHERE n.id = ?1`;
}

const AT_NODE = `SELECT ${EDGE_COLUMNS} FROM (${keysAlong("source", "target")} UNION ${keysAlong("target", "source")}) k
  CROSS JOIN edges e ON e.key = k.key ${JOINED_EDGE} ORDER BY e.created_at, e.id`;

/** The `contradicts` edges at a node whose other end has the same owner and scope. */
export function readContradictionsOf(database: Database, nodeId: Uuid, owner: Owner): Edge[] {
  return database
    .query<EdgeRow, [string, string | null]>(AT_NODE)
    .all(nodeId, userIdOf(owner))
    .map(toEdge);
}
