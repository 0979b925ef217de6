import type { Database } from "bun:sqlite";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { mendVectors } from "../rebuild/staging.ts";
import { evict } from "./change.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { documentNumber, KEY_MASK, mendDocuments } from "./lexical-index.ts";
import { ownerKeyOrAll } from "./owners.ts";
import { ACTIVE } from "./turns.ts";

/** Keys of nodes with an index entry that are inactive or gone. Reads only indexes, no node rows. */
export function findStaleEntries(database: Database, of: Owner): readonly number[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  const isOne = !isEverybody(owner);
  const first = documentNumber("?1", "0");
  const last = documentNumber("?1", String(KEY_MASK));
  const sql = `SELECT node_key AS key FROM vector_metadata ${isOne ? "WHERE owner = ?1" : ""}
    UNION SELECT id & ${KEY_MASK} FROM lexical_documents_docsize ${isOne ? `WHERE id BETWEEN ${first} AND ${last}` : ""}
    EXCEPT SELECT key FROM nodes WHERE lifecycle_state IN ${ACTIVE} ${isOne ? "AND owner = ?1" : ""}`;
  return database
    .query<{ key: number }, number[]>(sql)
    .all(...(isOne ? [owner] : []))
    .map(({ key }) => key);
}

/**
 * Removes the entries of those nodes that are still inactive. Runs inside a write transaction.
 * @returns the number of nodes whose entries were removed
 */
export function removeStaleEntries(database: Database, keys: readonly number[]): number {
  const inactive = database
    .query<{ key: number }, [string]>(
      `SELECT n.key FROM json_each(?) i CROSS JOIN nodes n ON n.key = i.value WHERE n.lifecycle_state NOT IN ${ACTIVE}`,
    )
    .all(JSON.stringify(keys))
    .map(({ key }) => key);
  evict(database, inactive);
  const known = database
    .query<{ key: number }, [string]>(
      "SELECT n.key FROM json_each(?) i CROSS JOIN nodes n ON n.key = i.value",
    )
    .all(JSON.stringify(keys)).length;
  if (known === keys.length) return inactive.length;
  // Entries of nodes that no longer exist have no owner.
  mendVectors(database);
  mendDocuments(database);
  advanceIndexSequence(database);
  return inactive.length + keys.length - known;
}
