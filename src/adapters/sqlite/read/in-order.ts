import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";

/** Nodes by key, in the order of the keys. */
export function readInOrder(
  database: Database,
  keys: readonly number[],
  states: "active" | "any",
): MemoryNode[] {
  if (keys.length === 0) return [];
  const condition = states === "active" ? `WHERE n.lifecycle_state IN ${ACTIVE}` : "";
  return database
    .query<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
       JOIN owners o ON o.owner = n.owner ${condition} ORDER BY k.key`,
    )
    .all(JSON.stringify(keys))
    .map(toNode);
}

/** Where a walk over edges begins. */
export type Beginning = { readonly key: number; readonly owner: number };

/** The key of a node and that of its owner. */
export function findBeginning(database: Database, id: string): Beginning | undefined {
  return (
    database.query<Beginning, [string]>("SELECT key, owner FROM nodes WHERE id = ?").get(id) ??
    undefined
  );
}
