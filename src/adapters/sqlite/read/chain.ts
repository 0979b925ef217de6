import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { ChainDirection, ChainRead } from "../../../ports/store/graph.ts";
import { findBeginning, readInOrder } from "./in-order.ts";

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
