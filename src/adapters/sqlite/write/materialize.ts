import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { IndexedNode } from "../../../ports/store/search-index.ts";
import type { Materialization } from "../../../ports/store/work.ts";
import { putVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { openJob, settleJob } from "./jobs.ts";
import { writeDocuments } from "./lexical-index.ts";
import { ensureOwner } from "./owners.ts";
import { writeNode } from "./write-node.ts";

/**
 * Writes nodes, index entries and job states. A complete job is left alone; an existing node is kept; a node that is no longer
 * active is not indexed. Runs inside a write transaction.
 */
export function materializeAll(
  database: Database,
  items: readonly Materialization[],
  identity: EmbeddingIdentity,
): void {
  const texts: number[] = [];
  const vectors: VectorEntry[] = [];
  for (const item of items) {
    const key = materializeOne(database, item);
    if (key === undefined) continue;
    if (item.lexical) texts.push(key);
    if (item.vector === undefined) continue;
    const contentHash = sha256Hex(item.node.content);
    vectors.push({ key, vector: item.vector, contentHash, at: item.at });
  }
  // Vectors before words (see `evict`), and words once all nodes exist: neighbours that arrive together are written once.
  putVectors(database, vectors, identity);
  writeDocuments(database, texts);
  advanceIndexSequence(database);
}

/** @returns the key of the node if it is to be indexed */
function materializeOne(database: Database, item: Materialization): number | undefined {
  const job = openJob(database, item.eventId, item.generation);
  if (job === undefined) return undefined;
  const key = writeNode(database, item.node, job.owner);
  settleJob(database, job, item.failure, item.at);
  return key;
}

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
  putVectors(database, entries, identity);
  // Once all nodes exist: neighbours that arrive together are written once.
  const keys = entries.map(({ key }) => key);
  writeDocuments(database, keys);
  advanceIndexSequence(database);
}
