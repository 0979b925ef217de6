import type { Database } from "bun:sqlite";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Entry, IndexWrites } from "../../sql/change.ts";
import { advanceIndexSequence, ownerKeyOrAll } from "../connection/ask.ts";
import { native } from "../connection/run.ts";
import { mendVectors } from "../rebuild/rebuild.ts";
import { isSearched } from "../vectors/exact.ts";
import { evictVectors, putVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import {
  documentNumber,
  KEY_MASK,
  mendDocuments,
  removeDocuments,
  writeDocuments,
} from "./lexical-index.ts";
import { ACTIVE, HAS_TEXT, IS_EXTRACTED_ENTITY, readTurns } from "./turns.ts";

/** Whether a node `n` lacks an entry in one of the indexes, as SQL. */
export const IS_INCOMPLETE = `${HAS_TEXT} AND (NOT ${isSearched("n.key")}
  OR ${documentNumber("n.owner", "n.key")} NOT IN (SELECT id FROM lexical_documents_docsize) AND NOT (${IS_EXTRACTED_ENTITY}))`;

export function indexWrites(embedding: EmbeddingIdentity): IndexWrites {
  return {
    embedding,
    isIncomplete: IS_INCOMPLETE,
    write: (_owner, entries) => native((database) => write(database, entries)),
    evict: (_owner, keys) => native((database) => evict(database, keys)),
  };
}

function write(database: Database, entries: readonly Entry[]): void {
  if (entries.length === 0) return;
  const vectors = entries.flatMap(({ key, node, vector }): VectorEntry[] =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content) }],
  );
  putVectors(database, vectors);
  writeDocuments(
    database,
    entries.flatMap(({ key, lexical }) => (lexical ? [key] : [])),
  );
  advanceIndexSequence(database);
}

/** See `IndexWrites`. Runs inside a write transaction, after the new states are written. */
export function evict(database: Database, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const gone = readTurns(database, keys);
  evictVectors(database, gone);
  removeDocuments(database, gone);
  advanceIndexSequence(database);
}

/** Keys of nodes with an index entry that are inactive or gone. Reads only indexes, no node rows. */
export function findStaleEntries(database: Database, of: Owner): readonly number[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  const isOne = !isEverybody(owner);
  const first = documentNumber("?1", "0");
  const last = documentNumber("?1", String(KEY_MASK));
  const sql = `SELECT node_key AS key FROM vectors WHERE revision IS NOT NULL ${isOne ? "AND owner = ?1" : ""}
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
