import type { MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { NEIGHBORHOOD_EDGES } from "../../../domain/search/graph.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import type { ChainDirection, ChainRead, NeighborhoodRead } from "../../../ports/store/graph.ts";
import { ACTIVE, ofOwner } from "../conditions.ts";
import { NODE_PAGE } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow } from "../rows.ts";

/** Nodes that are read at once: a page may end with any of them. */
const READ_AT_ONCE = 100;

/** Nodes by id, in the order of the ids; those beyond the size of a page are left out. */
async function readInOrder(
  sql: Sql,
  owner: OwnerKey,
  ids: readonly string[],
): Promise<readonly MemoryNode[]> {
  const page = new PageBuilder(NODE_PAGE, ids.length);
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const some = ids.slice(from, from + READ_AT_ONCE);
    const rows = await sql.all<NodeRow>(
      `${FROM_NODES} WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
      owner,
      listText(some),
    );
    const byId = new Map<string, NodeRow>(rows.map((row) => [row.id, row]));
    for (const id of some) {
      const row = byId.get(id);
      if (row !== undefined && !page.add(row)) return page.page().items;
    }
  }
  return page.page().items;
}

/** The owner of a node; undefined if there is none of the owner who asks. */
async function findOwner(sql: Sql, id: string, owner: Owner): Promise<OwnerKey | undefined> {
  const params = new Params(id);
  const row = await sql.get<{ owner: OwnerKey }>(
    `SELECT n.owner::text AS owner FROM nodes n WHERE n.id = $1::uuid AND ${ofOwner(params, "n", owner)}`,
    ...params.values,
  );
  return row?.owner;
}

/**
 * Active nodes around a node, nearest first, then by id; if there are too many, those with the lowest ids of a hop. Runs in a
 * snapshot.
 */
export async function readNeighborhood(
  sql: Sql,
  { nodeId, owner: asker, maxHops, maxVisited }: NeighborhoodRead,
): Promise<readonly MemoryNode[]> {
  const owner = await findOwner(sql, nodeId, asker);
  if (owner === undefined) return [];
  const visited: string[] = [nodeId];
  const active: string[] = [];
  let last: readonly string[] = visited.slice();
  for (let hop = 1; hop <= maxHops && last.length > 0; hop += 1) {
    const room = maxVisited - visited.length;
    if (room <= 0) break;
    const found = await sql.all<Neighbour>(
      NEIGHBOURS,
      owner,
      listText(last),
      listText(visited),
      room,
    );
    last = found.map(({ id }) => id);
    visited.push(...last);
    active.push(...found.flatMap(({ id, isActive }) => (isActive ? [id] : [])));
  }
  return readInOrder(sql, owner, active);
}

/** The nodes at one end of edges whose other ends are the nodes $2. */
function endsOf(here: "source" | "target", there: "source" | "target"): string {
  return `(SELECT e.${there} AS far FROM edges e
    WHERE e.owner = $1::bigint AND e.${here} = ANY ($2::uuid[]) LIMIT ${NEIGHBORHOOD_EDGES})`;
}

const NEIGHBOURS = `SELECT n.id::text AS id, n.lifecycle_state IN ${ACTIVE} AS "isActive"
  FROM (${endsOf("source", "target")} UNION ${endsOf("target", "source")}) f
    JOIN nodes n ON n.owner = $1::bigint AND n.id = f.far
  WHERE f.far <> ALL ($3::uuid[]) ORDER BY n.id LIMIT $4`;

type Neighbour = { readonly id: string; readonly isActive: boolean };

/** The ids of a chain: at each step the other end of the newest `supersedes` edge, until a node that was visited before. */
function chainOf(here: "source" | "target", there: "source" | "target"): string {
  return `WITH RECURSIVE chain (id, step, met) AS (
      SELECT $2::uuid, 0, ARRAY[$2::uuid]
      UNION ALL SELECT next.id, c.step + 1, c.met || next.id FROM chain c CROSS JOIN LATERAL (
        SELECT n.id FROM edges e JOIN nodes n ON n.owner = $1::bigint AND n.id = e.${there}
        WHERE e.owner = $1::bigint AND e.${here} = c.id AND e.edge_type = 'supersedes'
        ORDER BY e.created_at DESC, e.id DESC LIMIT 1) next
      WHERE c.step < $3 AND next.id <> ALL (c.met))
    SELECT id::text AS id FROM chain WHERE step > 0 ORDER BY step`;
}

/** The replacement is the source of the edge. */
const CHAINS: Readonly<Record<ChainDirection, string>> = {
  forward: chainOf("target", "source"),
  backward: chainOf("source", "target"),
};

/** What replaced a node, or what it replaced, nearest first, in any state. Runs in a snapshot. */
export async function readChain(
  sql: Sql,
  { nodeId, owner: asker, direction, maxSteps }: ChainRead,
): Promise<readonly MemoryNode[]> {
  const owner = await findOwner(sql, nodeId, asker);
  if (owner === undefined) return [];
  const rows = await sql.all<{ id: string }>(CHAINS[direction], owner, nodeId, maxSteps);
  return readInOrder(
    sql,
    owner,
    rows.map(({ id }) => id),
  );
}
