import type { Database } from "bun:sqlite";
import { ERASED_HASH, erasedPayload, erasureConflict } from "../../../domain/erasure.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Erasure } from "../../../ports/store/events.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import { readAuditRecord, writeAuditRecords } from "../../sql/audit.ts";

import { removeBlobsOf } from "../../sql/blobs.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { evict } from "../write/change.ts";
import { ownerKey } from "../write/owners.ts";
import { keysOf, readReached, readResting, type Told } from "./reached.ts";
import { erasing } from "./secure-delete.ts";

/** Setting of a pack: the erasures that are not settled, by id, with blanks between them. */
const UNSETTLED = "unsettled_erasures";

/** The erasures that are not settled. */
export function readUnsettled(database: Database): readonly string[] {
  return readPackSetting(database, UNSETTLED)?.split(" ") ?? [];
}

/** Settles erasures. Those that came meanwhile are left. Runs inside a write transaction. */
export function noteSettled(database: Database, settled: readonly string[]): void {
  const left = readUnsettled(database).filter((id) => !settled.includes(id));
  writePackSetting(database, UNSETTLED, left.length === 0 ? undefined : left.join(" "));
}

/** Erases in the caller's write transaction, which must be rolled back when it throws. @throws SvcError request_conflict */
export function erase(database: Database, erasure: Erasure, told: Told): AuditRecord {
  const earlier = run(database, readAuditRecord(erasure.forgetId));
  if (earlier !== undefined) return earlier;
  requireFits(database, erasure);
  return erasing(database, () => eraseAll(database, erasure, told));
}

/** Whether everything is as the erasure takes it to be. @throws SvcError request_conflict */
function requireFits(database: Database, { userId, events, nodes, kept }: Erasure): void {
  const owner = ownerKey(database, userId) ?? 0;
  const count = (sql: string, ids: readonly Uuid[]): number =>
    ask<number>(database, sql, JSON.stringify(ids), owner) ?? 0;
  const there = count(
    "SELECT count(*) FROM json_each(?1) i CROSS JOIN events e ON e.id = i.value WHERE e.owner = ?2 AND e.content <> ''",
    events,
  );
  const known = count(
    "SELECT count(*) FROM json_each(?1) i CROSS JOIN nodes n ON n.id = i.value WHERE n.owner = ?2",
    nodes,
  );
  const named = new Set<Uuid>([...nodes, ...kept]);
  const isWhole = readResting(database, userId, events).every(({ id }) => named.has(id));
  if (there !== events.length || known !== nodes.length || !isWhole) throw erasureConflict();
}

function eraseAll(database: Database, erasure: Erasure, told: Told): AuditRecord {
  const { forgetId, actorId, at, events, nodes } = erasure;
  const reached = readReached(database, erasure, told);
  const eventKeys = keysOf(database, "events", events);
  const nodeKeys = keysOf(database, "nodes", nodes);
  const note = database.query(
    "INSERT INTO erasures (forget_id, event_id, erased_at, actor) VALUES (?, ?, ?, ?)",
  );
  // Memories too: what was planned for one of them must not come back under its id.
  for (const id of new Set([...events, ...nodes])) note.run(forgetId, id, at, actorId);
  database
    .query(
      `UPDATE events SET content = '', content_hash = ?1, metadata = json_object('erased', ?2, 'erased_at', ?3)
       WHERE key IN (SELECT value FROM json_each(?4))`,
    )
    .run(ERASED_HASH, forgetId, at, eventKeys);
  database
    .query(
      `UPDATE work SET status = 'complete', due = NULL, payload = NULL, last_error = NULL, lease_owner = NULL,
         lease_expires_at = NULL, generation = generation + 1, updated_at = ?1
       WHERE subject IN (SELECT value FROM json_each(?2))`,
    )
    .run(at, eventKeys);
  database
    .query("UPDATE operations SET payload = ?1 WHERE key IN (SELECT value FROM json_each(?2))")
    .run(JSON.stringify(erasedPayload(forgetId)), JSON.stringify(reached.operations));
  run(database, removeBlobsOf(ownerKey(database, erasure.userId) ?? 0, events));
  removeRows(database, "receipts", JSON.stringify(reached.receipts));
  eraseNodes(database, nodeKeys);
  const record = erasure.recordOf(reached.counts);
  run(database, writeAuditRecords(0, [record]));
  writePackSetting(database, UNSETTLED, [...readUnsettled(database), forgetId].join(" "));
  return record;
}

function removeRows(database: Database, table: string, keys: string, column = "key"): void {
  database
    .query(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`)
    .run(keys);
}

/** Removes nodes as if they had been retired first: what is indexed for the turns around them is written again. */
function eraseNodes(database: Database, keys: string): void {
  database
    .query(
      "UPDATE nodes SET lifecycle_state = 'archived' WHERE key IN (SELECT value FROM json_each(?))",
    )
    .run(keys);
  // SAFETY: the list was made of keys.
  evict(database, JSON.parse(keys) as number[]);
  removeRows(database, "vector_staging", keys, "node_key");
  database
    .query(
      `UPDATE erased_keys SET newest = max(newest, coalesce((SELECT max(value) FROM json_each(?)), 0))`,
    )
    .run(keys);
  // Edges go with them.
  removeRows(database, "nodes", keys);
}
