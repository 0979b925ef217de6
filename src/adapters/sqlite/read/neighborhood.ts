import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { NEIGHBORHOOD_EDGES } from "../../../domain/search/graph.ts";
import type { NeighborhoodRead } from "../../../ports/store/graph.ts";
import { ACTIVE } from "../write/turns.ts";
import { IS_LINK } from "./filter-sql.ts";
import { findBeginning, readInOrder } from "./in-order.ts";

/** Active nodes around a node, nearest first, then by id; if there are too many, those with the lowest ids of a hop. */
export function readNeighborhood(
  database: Database,
  { nodeId, owner, maxHops, maxVisited }: NeighborhoodRead,
): readonly MemoryNode[] {
  const start = findBeginning(database, nodeId, owner);
  if (start === undefined) return [];
  const visited = [start.key];
  const active: number[] = [];
  let last: readonly number[] = visited;
  for (let hop = 1; hop <= maxHops && last.length > 0; hop += 1) {
    const room = maxVisited - visited.length;
    const found =
      room > 0 ? readNeighbours(database, { of: last, visited, owner: start.owner, room }) : [];
    last = found.map(({ key }) => key);
    visited.push(...last);
    active.push(...found.flatMap(({ key, isActive }) => (isActive === 1 ? [key] : [])));
  }
  return readInOrder(database, active);
}

/** The nodes at one end of edges whose other ends are the nodes ?1. */
function endsOf(here: "source" | "target", there: "source" | "target"): string {
  return `SELECT far FROM (SELECT e.${there} AS far FROM json_each(?1) k CROSS JOIN edges e ON e.${here} = k.value
    WHERE e.owner = ?2 AND ${IS_LINK} LIMIT ${NEIGHBORHOOD_EDGES})`;
}

const NEIGHBOURS = `SELECT n.key, n.lifecycle_state IN ${ACTIVE} AS isActive FROM (${endsOf("source", "target")} UNION ${endsOf("target", "source")}) f
  CROSS JOIN nodes n ON n.key = f.far AND n.owner = ?2
  WHERE f.far NOT IN (SELECT value FROM json_each(?3)) ORDER BY n.id LIMIT ?4`;

type Step = {
  readonly of: readonly number[];
  readonly visited: readonly number[];
  readonly owner: number;
  readonly room: number;
};

type Neighbour = { readonly key: number; readonly isActive: number };

/** Nodes not visited yet, by id. */
function readNeighbours(
  database: Database,
  { of, visited, owner, room }: Step,
): readonly Neighbour[] {
  return database
    .query<Neighbour, [string, number, string, number]>(NEIGHBOURS)
    .all(JSON.stringify(of), owner, JSON.stringify(visited), room);
}
