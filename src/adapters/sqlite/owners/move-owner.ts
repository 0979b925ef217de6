import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { fromPayload } from "../../../domain/search/turns.ts";
import { asInstant } from "../../../lib/instant.ts";
import { joinChanges } from "../../sql/audit.ts";
import { moveBlobs } from "../../sql/blobs.ts";
import { forgetWalkPlaces } from "../../sql/organizing.ts";
import type { HandOver } from "../../sql/owners.ts";
import { advanceIndexSequence, ownerKey } from "../connection/ask.ts";
import { native, run } from "../connection/run.ts";
import { putVectors, removeVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import { mendDocuments, writeDocuments } from "../write/lexical-index.ts";
import { ACTIVE, HAS_TEXT } from "../write/turns.ts";

/**
 * If the target does not exist yet, only the name changes; otherwise the rows move, and their index entries are written as if they had
 * always been the target's.
 */
export const handOver: HandOver = ({ from, into }) =>
  native((database) => {
    const key = ownerKey(database, from);
    if (key === undefined) throw new SvcError("internal", "an owner has things and no key");
    const target = ownerKey(database, into);
    if (target === undefined) {
      database.query("UPDATE owners SET user_id = ? WHERE owner = ?").run(into, key);
    } else moveRows(database, key, target);
    database.query("UPDATE receipts SET user_id = ? WHERE user_id = ?").run(into, from);
  });

/** Moves the rows of one key to another, with their entries in both indexes. */
function moveRows(database: Database, from: number, into: number): void {
  const keys = database
    .query<{ key: number }, [number]>(
      `SELECT key FROM nodes WHERE owner = ? AND lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}`,
    )
    .all(from)
    .map(({ key }) => key);
  const vectors = vectorsOf(database, from);
  removeVectors(
    database,
    vectors.map(({ key }) => key),
  );
  run(database, joinChanges(from, into));
  for (const table of ["nodes", "edges", "events", "work"]) {
    // A recurring job of both becomes one.
    database.query(`UPDATE OR REPLACE ${table} SET owner = ? WHERE owner = ?`).run(into, from);
  }
  run(database, moveBlobs(from, into));
  run(database, forgetWalkPlaces(into));
  // The documents with the old numbers no longer have a node.
  mendDocuments(database);
  writeDocuments(database, keys);
  const models = Map.groupBy(vectors, ({ model, version }) => JSON.stringify([model, version]));
  for (const entries of models.values()) {
    const [{ model, version } = { model: "", version: "" }] = entries;
    putVectors(database, entries, { model, version, dimension: entries[0]?.vector.length ?? 0 });
  }
  advanceIndexSequence(database);
}

type OwnVector = VectorEntry & { readonly model: string; readonly version: string };
type VectorRow = {
  readonly key: number;
  readonly model: string;
  readonly version: string;
  readonly content_hash: string;
  readonly created_at: string;
  readonly embedding: Uint8Array;
  readonly own: Uint8Array | null;
};

/** The vectors of an owner's own texts, whatever is indexed for them. */
function vectorsOf(database: Database, owner: number): readonly OwnVector[] {
  return database
    .query<VectorRow, [number]>(
      `SELECT m.node_key AS key, m.embedding_model AS model, m.embedding_version AS version, m.content_hash,
         m.created_at, v.embedding, p.embedding AS own
       FROM vector_metadata m CROSS JOIN vectors v ON v.node_key = m.node_key
         LEFT JOIN vector_payloads p ON p.node_key = m.node_key
       WHERE m.owner = ? ORDER BY m.node_key`,
    )
    .all(owner)
    .map(({ key, model, version, content_hash: contentHash, created_at: at, embedding, own }) => ({
      key,
      model,
      version,
      contentHash,
      at: asInstant(at),
      vector: own === null ? new Float32Array(embedding.slice().buffer) : fromPayload(own),
    }));
}
