import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { Materialization } from "../../../ports/store.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { settleJob } from "./jobs.ts";
import { writeNode } from "./write-node.ts";

/** Writes nodes, index entries and job states. Runs inside a write transaction. */
export function materializeAll(
  database: Database,
  items: readonly Materialization[],
  identity: EmbeddingIdentity,
): void {
  for (const item of items) materializeOne(database, item, identity);
  advanceIndexSequence(database);
}

/** A complete job is left alone; a node that exists is kept; a node that is no longer active is not indexed. */
function materializeOne(
  database: Database,
  item: Materialization,
  identity: EmbeddingIdentity,
): void {
  const job = database
    .query<{ event_key: number; owner: number }, [string]>(
      `SELECT j.event_key, j.owner FROM events e JOIN jobs j ON j.event_key = e.key AND j.kind = 'materialization'
       WHERE e.id = ? AND j.status = 'pending'`,
    )
    .get(item.eventId);
  if (job === null) return;
  const key = writeNode(database, item, job.owner);
  if (key !== undefined && item.vector !== undefined) {
    writeVector(database, { key, owner: job.owner, item, vector: item.vector }, identity);
  }
  settleJob(database, job.event_key, item.failure, item.at);
}

type VectorEntry = {
  readonly key: number;
  readonly owner: number;
  readonly item: Materialization;
  readonly vector: Float32Array;
};

function writeVector(database: Database, entry: VectorEntry, identity: EmbeddingIdentity): void {
  const present = database.query("SELECT 1 FROM vector_metadata WHERE node_key = ?").get(entry.key);
  // Looking for an entry that is not there costs vec0 more than writing one.
  if (present !== null) database.query("DELETE FROM vectors WHERE node_key = ?").run(entry.key);
  database
    .query("INSERT INTO vectors (node_key, owner, active, embedding) VALUES (?, ?, 1, ?)")
    .run(entry.key, entry.owner, entry.vector);
  database
    .query(
      `INSERT OR REPLACE INTO vector_metadata (node_key, embedding_model, embedding_version, content_hash, created_at)
       VALUES (?, ?, ?, ?, ?)`,
    )
    .run(
      entry.key,
      identity.model,
      identity.version,
      sha256Hex(entry.item.node.content),
      entry.item.at,
    );
}
