import type { Database } from "bun:sqlite";
import type { Materialization } from "../../../ports/store.ts";
import { ACTIVE, writeDocument } from "./lexical-index.ts";
import { INSERT_NODE, nodeValues } from "./rows.ts";

/**
 * Writes a node and its lexical entry; a node that exists is kept. Runs inside a write transaction.
 * @returns its key; undefined when it is not active and so has no index entries
 */
export function writeNode(
  database: Database,
  { node, lexical }: Pick<Materialization, "node" | "lexical">,
  owner: number,
): number | undefined {
  const find = database.query<{ key: number; active: number }, [string]>(
    `SELECT key, lifecycle_state IN ${ACTIVE} AS active FROM nodes WHERE id = ?`,
  );
  let found = find.get(node.id);
  if (found === null) {
    database.query(INSERT_NODE).run(node.id, owner, ...nodeValues(node));
    found = find.get(node.id);
  }
  if (found === null || found.active !== 1) return undefined;
  if (lexical) writeDocument(database, found.key);
  return found.key;
}
