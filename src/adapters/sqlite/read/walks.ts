import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { NEIGHBORHOOD_EDGES } from "../../../domain/search/graph.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import type { ChainDirection, ChainRead, NeighborhoodRead } from "../../../ports/store/graph.ts";
import { userIdOf } from "../write/owners.ts";
import { ACTIVE } from "../write/turns.ts";
import { NODE_PAGE, nodeReader } from "./pages.ts";

/** Nodes by key, in the order of the keys; those beyond the size of a page are left out. */
export function readInOrder(database: Database, keys: readonly number[]): readonly MemoryNode[] {
  const page = new PageBuilder(NODE_PAGE, keys.length);
  const readRow = nodeReader(database);
  for (const key of keys) {
    const row = readRow(key);
    if (row !== undefined && !page.add(row)) break;
  }
  return page.page().items;
}

/** The starting point of a walk over edges. */
export type Beginning = { readonly key: number; readonly owner: number };

export function findBeginning(database: Database, id: string, owner: Owner): Beginning | undefined {
  return (
    database
      .query<Beginning, [string, string | null]>(
        `SELECT n.key, n.owner FROM nodes n JOIN owners o ON o.owner = n.owner
         WHERE n.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
      )
      .get(id, userIdOf(owner)) ?? undefined
  );
}

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
    WHERE e.owner = ?2 LIMIT ${NEIGHBORHOOD_EDGES})`;
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

/** The other end of the newest `supersedes` edge at a node. */
function nextAlong(here: "source" | "target", there: "source" | "target"): string {
  return `SELECT n.key FROM edges e CROSS JOIN nodes n ON n.key = e.${there} AND n.owner = e.owner
    WHERE e.${here} = ?1 AND e.edge_type = 'supersedes' AND e.owner = ?2
    ORDER BY e.created_at DESC, e.key DESC LIMIT 1`;
}

/** The replacement is the source of the edge. */
const NEXT: Readonly<Record<ChainDirection, string>> = {
  forward: nextAlong("target", "source"),
  backward: nextAlong("source", "target"),
};

/** What replaced a node, or what it replaced, nearest first, in any state. */
export function readChain(
  database: Database,
  { nodeId, owner, direction, maxSteps }: ChainRead,
): readonly MemoryNode[] {
  const start = findBeginning(database, nodeId, owner);
  if (start === undefined) return [];
  const next = database.query<{ key: number }, [number, number]>(NEXT[direction]);
  const met = new Set([start.key]);
  for (let { key } = start; met.size <= maxSteps; ) {
    const found = next.get(key, start.owner)?.key;
    if (found === undefined || met.has(found)) break;
    met.add(found);
    key = found;
  }
  return readInOrder(database, [...met].slice(1));
}
