import type { Database } from "bun:sqlite";
import { evictVectors } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { removeDocuments } from "./lexical-index.ts";
import { readTurn } from "./turns.ts";

/**
 * Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them, as if they
 * had never existed. The cost does not grow with the length of a conversation. Runs inside a write transaction, after the new
 * states are written.
 */
export function evict(database: Database, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const gone = keys.flatMap((key) => readTurn(database, key) ?? []);
  removeDocuments(database, gone);
  evictVectors(database, gone);
  advanceIndexSequence(database);
}
