import type { Edge } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import { ofOwner } from "../conditions.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { type EdgeRow, FROM_EDGES, toEdge } from "../rows.ts";

/** The other end of a node's newest edge in one direction that leads to a node of its owner, as SQL. */
function otherEnd(here: "source" | "target", there: "source" | "target"): string {
  return `(SELECT o.id FROM edges e JOIN nodes o ON o.owner = $1::bigint AND o.id = e.${there} AND o.id <> n.id
    WHERE e.owner = $1::bigint AND e.${here} = n.id AND e.edge_type = 'contradicts' ORDER BY e.created_at DESC, e.id DESC LIMIT 1)`;
}

const OTHER_ENDS = `SELECT n.key, coalesce(${otherEnd("source", "target")}, ${otherEnd("target", "source")})::text AS id
  FROM nodes n WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[]) AND n.lifecycle_state = 'contested'`;

/** What each contested node contradicts, else what contradicts it; nodes without such an edge are left out. */
export async function readContradictions(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<ReadonlyMap<number, Uuid>> {
  if (keys.length === 0) return new Map();
  const rows = await sql.all<{ key: number; id: string | null }>(
    OTHER_ENDS,
    ownerKey(userId),
    listText(keys),
  );
  return new Map(rows.flatMap(({ key, id }) => (id === null ? [] : [[key, asUuid(id)] as const])));
}

const AMONG = `${FROM_EDGES} JOIN nodes s ON s.owner = e.owner AND s.id = e.source
    JOIN nodes t ON t.owner = e.owner AND t.id = e.target
  WHERE e.owner = $1::bigint AND e.edge_type = 'contradicts'
  AND e.source = ANY ($2::uuid[]) AND e.target = ANY ($2::uuid[]) ORDER BY e.created_at, e.id`;

/** The `contradicts` edges of an owner with both ends among the nodes. */
export async function readContradictionsAmong(
  sql: Sql,
  userId: string,
  nodeIds: readonly Uuid[],
): Promise<readonly Edge[]> {
  if (nodeIds.length === 0) return [];
  const rows = await sql.all<EdgeRow>(AMONG, ownerKey(userId), listText(new Set(nodeIds)));
  return rows.map(toEdge);
}

/** The `contradicts` edges at a node whose other end has the same owner and scope. */
export async function readContradictionsOf(
  sql: Sql,
  nodeId: Uuid,
  owner: Owner,
): Promise<readonly Edge[]> {
  const params = new Params(nodeId);
  const rows = await sql.all<EdgeRow>(
    `${FROM_EDGES} JOIN nodes s ON s.owner = e.owner AND s.id = e.source
       JOIN nodes t ON t.owner = e.owner AND t.id = e.target AND t.scope = s.scope
     WHERE ${ofOwner(params, "e", owner)} AND e.edge_type = 'contradicts' AND (e.source = $1::uuid OR e.target = $1::uuid)
     ORDER BY e.created_at, e.id`,
    ...params.values,
  );
  return rows.map(toEdge);
}
