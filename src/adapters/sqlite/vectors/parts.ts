import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { nearestPart, PARTS_FROM, packParts } from "../../../domain/search/turns.ts";
import type { TextParts } from "../../../ports/store/search-index.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../../sql/rows.ts";
import type { Parameter } from "../connection/ask.ts";
import type { Condition } from "../read/filter-sql.ts";
import { ACTIVE } from "../write/turns.ts";
import { isSearched } from "./exact.ts";

/** Stores the vectors of parts. Runs inside a write transaction. */
export function putParts(database: Database, texts: readonly TextParts[]): void {
  const put = database.query<unknown, [Uint8Array, string]>(
    `INSERT OR REPLACE INTO vector_parts (node_key, owner, parts) SELECT key, owner, ? FROM nodes
     WHERE id = ? AND lifecycle_state IN ${ACTIVE} AND ${isSearched("nodes.key")}`,
  );
  for (const { nodeId, vectors } of texts) put.run(packParts(vectors), nodeId);
}

/** Removes the vectors of the parts of nodes. Runs inside a write transaction. */
export function removeParts(database: Database, keys: readonly number[]): void {
  database
    .query("DELETE FROM vector_parts WHERE node_key IN (SELECT value FROM json_each(?))")
    .run(JSON.stringify(keys));
}

/** See the port. */
export function readTextsWithoutParts(
  database: Database,
  bytes: number,
  limit: number,
): readonly MemoryNode[] {
  return database
    .query<NodeRow, [number, number]>(
      // The first condition is the index's.
      `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner
       WHERE octet_length(n.content) > ${PARTS_FROM} AND octet_length(n.content) > ?
         AND n.key NOT IN (SELECT node_key FROM vector_parts) AND n.lifecycle_state IN ${ACTIVE}
         AND ${isSearched("n.key")} ORDER BY n.key LIMIT ?`,
    )
    .all(bytes, limit)
    .map(toNode);
}

/**
 * The cosine of the nearest part of each of an owner's long texts that passes.
 * @param narrowed a condition on `nodes n`; undefined: none
 */
export function nearestParts(
  database: Database,
  vector: Float32Array,
  owner: number,
  narrowed: Condition | undefined,
): ReadonlyMap<number, number> {
  const [joined, passes] =
    narrowed === undefined
      ? ["", ""]
      : ["CROSS JOIN nodes n ON n.key = p.node_key", `AND ${narrowed.sql}`];
  const rows = database.query<{ key: number; parts: Uint8Array }, Parameter[]>(
    `SELECT p.node_key AS key, p.parts FROM vector_parts p ${joined} WHERE p.owner = ? ${passes}`,
  );
  const found = new Map<number, number>();
  for (const { key, parts } of rows.iterate(owner, ...(narrowed?.parameters ?? []))) {
    found.set(key, nearestPart(vector, parts));
  }
  return found;
}
