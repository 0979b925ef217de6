import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Entry, IndexWrites } from "../../sql/change.ts";
import { native } from "../connection/run.ts";
import { evictVectors, putVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { documentNumber, removeDocuments, writeDocuments } from "./lexical-index.ts";
import { HAS_TEXT, IS_EXTRACTED_ENTITY, readTurns } from "./turns.ts";

/** Whether a node `n` lacks an entry in one of the indexes, as SQL. */
export const IS_INCOMPLETE = `${HAS_TEXT} AND (n.key NOT IN (SELECT node_key FROM vector_metadata)
  OR ${documentNumber("n.owner", "n.key")} NOT IN (SELECT id FROM lexical_documents_docsize) AND NOT (${IS_EXTRACTED_ENTITY}))`;

export function indexWrites(embedding: EmbeddingIdentity): IndexWrites {
  return {
    embedding,
    isIncomplete: IS_INCOMPLETE,
    write: (_owner, entries) => native((database) => write(database, entries, embedding)),
    evict: (_owner, keys) => native((database) => evict(database, keys)),
  };
}

// The vectors first: once the word index has changes, each write to the vector index is a savepoint for it, which costs several
// times as much as the write.

function write(database: Database, entries: readonly Entry[], identity: EmbeddingIdentity): void {
  if (entries.length === 0) return;
  const vectors = entries.flatMap(({ key, node, vector, at }): VectorEntry[] =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content), at }],
  );
  putVectors(database, vectors, identity);
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
