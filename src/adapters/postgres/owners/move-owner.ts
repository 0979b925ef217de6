import { movable, type OwnerSummary, toMoveRecord } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";

import type { OwnerMove } from "../../../ports/store/store.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { moveBlobs } from "../../sql/blobs.ts";
import { listOwners, readPackOwner, writePackOwner } from "../../sql/owners.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { NO_OWNER, type OwnerKey, ownerKey } from "../owner-key.ts";
import { joinMemories } from "./join-memories.ts";

/**
 * Gives everything of one owner to another. A memory's key is a number among its owner's, so those of two owners who are joined are
 * numbered again, by the time of writing; an owner who is only renamed keeps all keys. Runs inside a write transaction of both.
 * @returns what was moved
 * @throws SvcError invalid_argument
 */
export async function moveOwner(sql: Sql, move: OwnerMove, at: Instant): Promise<OwnerSummary> {
  const { from, into, isJoin, settingId, actorId } = move;
  const moved = movable(await run(sql, listOwners()), move);
  const [source, target] = [ownerKey(from), ownerKey(into)];
  // First, since events may only change hands if the log says so.
  await run(sql, writeAuditRecords(NO_OWNER, [toMoveRecord(move, moved, at)]));
  // Edges and the memories at their ends change hands one after the other.
  await sql.run("SET CONSTRAINTS ALL DEFERRED");
  const firstEvent = isJoin ? await nextEvent(sql, target) : 1;
  if (isJoin) await joinMemories(sql, source, target);
  else await renameMemories(sql, source, target);
  await moveEvents(sql, source, target, firstEvent - 1);
  await run(sql, moveBlobs(source, target));
  await moveWork(sql, source, target, firstEvent - 1);
  await sql.run(
    "UPDATE receipts SET owner = $2::bigint, user_id = $3 WHERE owner = $1::bigint",
    ...[source, target, into],
  );
  const whose = await run(sql, readPackOwner());
  if (whose.from === "set" && whose.userId === from) {
    await run(sql, writePackOwner(into, { id: settingId, actorId, createdAt: at }));
  }
  return moved;
}

async function nextEvent(sql: Sql, owner: OwnerKey): Promise<number> {
  const row = await sql.get<{ next: number }>(
    "SELECT next_event AS next FROM owners WHERE owner = $1::bigint",
    owner,
  );
  return row?.next ?? 1;
}

/** Gives memories with all that is indexed of them to an owner who has none. */
async function renameMemories(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  for (const table of ["lexical_documents", "lexical_postings"]) {
    // What is left of earlier memories under this name.
    await sql.run(`DELETE FROM ${table} WHERE owner = $1::bigint`, target);
  }
  const tables = [
    "nodes",
    "edges",
    "vectors",
    "vector_staging",
    "lexical_documents",
    "lexical_postings",
  ];
  for (const table of tables) {
    await sql.run(
      `UPDATE ${table} SET owner = $2::bigint WHERE owner = $1::bigint`,
      source,
      target,
    );
  }
  await sql.run(
    `UPDATE owners t SET next_key = s.next_key, lexical_documents = s.lexical_documents, lexical_words = s.lexical_words,
       version = greatest(t.version, s.version)
     FROM owners s WHERE t.owner = $2::bigint AND s.owner = $1::bigint`,
    source,
    target,
  );
  await sql.run(
    "UPDATE owners SET lexical_documents = 0, lexical_words = 0 WHERE owner = $1::bigint",
    source,
  );
}

/** @param offset added to their keys, which follow those that the other one has */
async function moveEvents(
  sql: Sql,
  source: OwnerKey,
  target: OwnerKey,
  offset: number,
): Promise<void> {
  await sql.run(
    "UPDATE events SET owner = $2::bigint, key = key + $3::integer WHERE owner = $1::bigint",
    ...[source, target, offset],
  );
  await sql.run(
    `UPDATE owners t SET next_event = s.next_event + $3::integer
     FROM owners s WHERE t.owner = $2::bigint AND s.owner = $1::bigint`,
    ...[source, target, offset],
  );
}

async function moveWork(
  sql: Sql,
  source: OwnerKey,
  target: OwnerKey,
  offset: number,
): Promise<void> {
  // What both have to be done again and again is done for one.
  await sql.run(
    `DELETE FROM work WHERE owner = $2::bigint AND subject = 0
       AND kind IN (SELECT kind FROM work WHERE owner = $1::bigint AND subject = 0)`,
    source,
    target,
  );
  await sql.run(
    `UPDATE work SET owner = $2::bigint, subject = CASE subject WHEN 0 THEN 0 ELSE subject + $3::integer END
     WHERE owner = $1::bigint`,
    ...[source, target, offset],
  );
}
