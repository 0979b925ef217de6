import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { IndexedNode } from "../../../ports/store/search-index.ts";
import { putVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { writeDocuments } from "./lexical-index.ts";
import { ensureOwner } from "./owners.ts";
import { noteNewTexts } from "./renew-texts.ts";
import { writeNode } from "./write-node.ts";

/**
 * Writes nodes without a job, with their index entries. An existing node is kept; one that is no longer active is not indexed.
 * Runs inside a write transaction.
 */
export function addNodes(
  database: Database,
  items: readonly IndexedNode[],
  identity: EmbeddingIdentity,
): void {
  const entries = items.flatMap(({ node, vector, at }): VectorEntry[] => {
    const key = writeNode(database, node, ensureOwner(database, node.userId));
    return key === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content), at }];
  });
  // Once all nodes exist: neighbours that arrive together are written once.
  const keys = entries.map(({ key }) => key);
  writeDocuments(database, keys);
  noteNewTexts(database, keys);
  putVectors(database, entries, identity);
  advanceIndexSequence(database);
}
