import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { nodeValues } from "../../sql/rows.ts";
import { hasRow } from "../connection/ask.ts";
import { INSERT_NODE } from "./rows.ts";
import { ACTIVE } from "./turns.ts";

/**
 * Writes a node; an existing one is kept, and one that was forgotten stays so. Runs inside a write transaction.
 * @returns its key; undefined if it is not active and so has no index entries
 */
export function writeNode(database: Database, node: MemoryNode, owner: number): number | undefined {
  const find = database.query<{ key: number; active: number }, [string]>(
    `SELECT key, lifecycle_state IN ${ACTIVE} AS active FROM nodes WHERE id = ?`,
  );
  let found = find.get(node.id);
  if (found === null) {
    // Whoever planned it may have read it before it was forgotten.
    if (hasRow(database, "erasures WHERE event_id = ?", node.id)) return undefined;
    database.query(INSERT_NODE).run(node.id, owner, ...nodeValues(node));
    found = find.get(node.id);
  }
  return found?.active === 1 ? found.key : undefined;
}
