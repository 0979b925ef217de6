import { joinChanges } from "../../sql/audit.ts";
import { moveBlobs } from "../../sql/blobs.ts";
import { forgetWalkPlaces } from "../../sql/organizing.ts";
import type { HandOver } from "../../sql/owners.ts";
import { requireManifest } from "../../sql/settings.ts";
import { readVector } from "../connection/insert-many.ts";
import { native, run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { rewriteDocuments } from "../search/rewrite-documents.ts";
import { putVectors } from "../search/write-vectors.ts";

/**
 * Memory keys are unique within an owner, so those of two merged owners are renumbered by time of writing; renaming an owner keeps all
 * keys.
 */
export const handOver: HandOver = ({ from, into, isJoin }) =>
  native(async (sql) => {
    const [source, target] = [ownerKey(from), ownerKey(into)];
    // Edges and the memories at their ends change owners one after the other.
    await sql.run("SET CONSTRAINTS ALL DEFERRED");
    await sql.run("SELECT set_config('svc.owner_moves', 'on', true)");
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
  });

async function nextEvent(sql: Sql, owner: OwnerKey): Promise<number> {
  const row = await sql.get<{ next: number }>(
    "SELECT next_event AS next FROM owners WHERE owner = $1::bigint",
    owner,
  );
  return row?.next ?? 1;
}

/** Tables whose rows keep their keys when an owner is renamed. */
const RENAMED = [
  ...["changes", "nodes", "edges", "vectors", "vector_staging"],
  ...["lexical_documents", "lexical_postings"],
];

/** Moves memories with all their index data to an owner who has none. */
async function renameMemories(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  // Leftovers of earlier memories under this name.
  for (const table of ["lexical_documents", "lexical_postings"])
    await sql.run(`DELETE FROM ${table} WHERE owner = $1::bigint`, target);
  for (const table of RENAMED) await giveRows(sql, table, source, target);
  await sql.run(
    `UPDATE owners t SET next_key = s.next_key, lexical_documents = s.lexical_documents, lexical_words = s.lexical_words,
       version = greatest(t.version, s.version)
     FROM owners s WHERE t.owner = $2::bigint AND s.owner = $1::bigint`,
    ...[source, target],
  );
  await sql.run(`${FORGET_COUNTS} = $1::bigint`, source);
}

const FORGET_COUNTS = "UPDATE owners SET lexical_documents = 0, lexical_words = 0 WHERE owner";

async function giveRows(sql: Sql, table: string, source: OwnerKey, target: OwnerKey) {
  await sql.run(`UPDATE ${table} SET owner = $2::bigint WHERE owner = $1::bigint`, source, target);
}

/** @param moved source, target, and what is added to their keys, to follow those of the target */
async function moveEvents(
  sql: Sql,
  ...moved: readonly [source: OwnerKey, target: OwnerKey, offset: number]
): Promise<void> {
  await sql.run(
    "UPDATE events SET owner = $2::bigint, key = key + $3::integer WHERE owner = $1::bigint",
    ...moved,
  );
  await sql.run(
    `UPDATE owners t SET next_event = s.next_event + $3::integer
     FROM owners s WHERE t.owner = $2::bigint AND s.owner = $1::bigint`,
    ...moved,
  );
}

async function moveWork(
  sql: Sql,
  ...moved: readonly [source: OwnerKey, target: OwnerKey, offset: number]
): Promise<void> {
  // A recurring job of both becomes one.
  await sql.run(
    `DELETE FROM work WHERE owner = $2::bigint AND subject = 0
       AND kind IN (SELECT kind FROM work WHERE owner = $1::bigint AND subject = 0)`,
    ...moved.slice(0, 2),
  );
  await sql.run(
    `UPDATE work SET owner = $2::bigint, subject = CASE subject WHEN 0 THEN 0 ELSE subject + $3::integer END
     WHERE owner = $1::bigint`,
    ...moved,
  );
}

/** Memories whose index entries are written at a time. */
const STEP = 500;

/** The new key of each memory of the owners $1 and $2. */
const RANKED = `(SELECT owner, id, key, row_number() OVER (ORDER BY created_at, id)::integer AS rank FROM nodes
  WHERE owner IN ($1::bigint, $2::bigint)) r`;

/**
 * Moves the memories of one owner to another who has some, with their entries in both indexes as if they had always been there. Runs inside
 * a write transaction of both.
 */
async function joinMemories(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  const indexed = await sql.all<{ id: string; content_hash: string }>(
    `SELECT n.id, v.content_hash FROM vectors v JOIN nodes n ON n.owner = v.owner AND n.key = v.key
     WHERE v.owner = $1::bigint`,
    source,
  );
  await forgetEntries(sql, source, target);
  await run(sql, joinChanges(source, target));
  // In two steps, so that no two have the same key in between.
  await sql.run(
    `UPDATE vectors v SET key = -r.rank FROM ${RANKED} WHERE v.owner = $2::bigint AND r.owner = v.owner AND r.key = v.key`,
    source,
    target,
  );
  await sql.run(
    `UPDATE vectors v SET key = -v.key, revision = o.version FROM owners o
     WHERE v.owner = $1::bigint AND o.owner = v.owner`,
    target,
  );
  await sql.run(
    `UPDATE nodes n SET owner = $2::bigint, key = -r.rank FROM ${RANKED} WHERE n.owner = r.owner AND n.id = r.id`,
    source,
    target,
  );
  await sql.run("UPDATE nodes SET key = -key WHERE owner = $1::bigint", target);
  await giveRows(sql, "edges", source, target);
  await sql.run(
    `UPDATE owners SET next_key = 1 + (SELECT count(*)::integer FROM nodes WHERE owner = $1::bigint)
     WHERE owner = $1::bigint`,
    target,
  );
  await run(sql, forgetWalkPlaces(source));
  await run(sql, forgetWalkPlaces(target));
  await writeEntries(sql, target, new Map(indexed.map((row) => [row.id, row.content_hash])));
}

/** Removes everything that holds keys and is rewritten. */
async function forgetEntries(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  await sql.run("DELETE FROM vectors WHERE owner = $1::bigint", source);
  for (const table of ["vector_staging", "vector_parts", "lexical_documents", "lexical_postings"]) {
    await sql.run(`DELETE FROM ${table} WHERE owner IN ($1::bigint, $2::bigint)`, source, target);
  }
  await sql.run(`${FORGET_COUNTS} IN ($1::bigint, $2::bigint)`, source, target);
}

/** @param hashes of the contents of memories from the other owner that have a vector, by id */
async function writeEntries(
  sql: Sql,
  owner: OwnerKey,
  hashes: ReadonlyMap<string, string>,
): Promise<void> {
  const { embedding } = await run(sql, requireManifest());
  const ids = [...hashes.keys()];
  for (let from = 0; from < ids.length; from += STEP) {
    const rows = await sql.all<{ id: string; key: number; own: Uint8Array }>(
      `SELECT id, key, vector_send(embedding) AS own FROM nodes
       WHERE owner = $1::bigint AND id = ANY ($2::uuid[]) AND embedding IS NOT NULL`,
      owner,
      ids.slice(from, from + STEP),
    );
    const entries = rows.map(({ id, key, own }) => {
      return { key, vector: readVector(own), contentHash: hashes.get(id) ?? "" };
    });
    await putVectors(sql, owner, entries, embedding);
  }
  for (let after = 0, hasMore = true; hasMore; ) {
    ({ cursor: after, hasMore } = await rewriteDocuments(sql, owner, { after, limit: STEP }));
  }
}
