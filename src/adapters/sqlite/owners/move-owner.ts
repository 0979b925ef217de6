import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { joinChanges } from "../../sql/audit.ts";
import { moveBlobs } from "../../sql/blobs.ts";
import { forgetWalkPlaces } from "../../sql/organizing.ts";
import type { HandOver } from "../../sql/owners.ts";
import { advanceIndexSequence, ownerKey } from "../connection/ask.ts";
import { native, run } from "../connection/run.ts";
import { moveVectors } from "../vectors/write-vectors.ts";
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
  const withVector = database
    .query<{ key: number }, [number]>(
      "SELECT n.key FROM nodes n CROSS JOIN vectors v ON v.node_key = n.key WHERE n.owner = ?",
    )
    .all(from)
    .map(({ key }) => key);
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
  moveVectors(database, withVector, into);
  advanceIndexSequence(database);
}
