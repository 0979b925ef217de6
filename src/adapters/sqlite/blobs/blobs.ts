import type { Database } from "bun:sqlite";
import type { KeptBlob } from "../../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../../domain/owner.ts";
import type { BlobInspection, BlobTotals, EventBlob } from "../../../ports/store/records.ts";
import { countRows } from "../connection/ask.ts";
import { ownerKey, userIdOf } from "../write/owners.ts";

/** Keeps what events of the same transaction name. */
export function writeBlobs(database: Database, blobs: readonly EventBlob[]): void {
  const insert = database.query(
    `INSERT INTO blobs (owner, key, media_type, size, data, created_at)
     SELECT owner, ?2, ?3, length(?4), ?4, timestamp FROM events WHERE id = ?1 ON CONFLICT DO NOTHING`,
  );
  const use = database.query(
    "INSERT INTO blob_uses (event, blob) SELECT key, ?2 FROM events WHERE id = ?1 ON CONFLICT DO NOTHING",
  );
  for (const { event, key, mediaType, bytes } of blobs) {
    insert.run(event, key, mediaType, bytes);
    use.run(event, key);
  }
}

type BlobRow = { readonly media_type: string; readonly data: Uint8Array };

export function readBlob(database: Database, key: string, owner: Owner): KeptBlob | undefined {
  const row = database
    .query<BlobRow, [string, string | null]>(
      `SELECT b.media_type, b.data FROM blob_uses u CROSS JOIN events e ON e.key = u.event
         CROSS JOIN blobs b ON b.owner = e.owner AND b.key = u.blob CROSS JOIN owners o ON o.owner = b.owner
       WHERE u.blob = ?1 AND (?2 IS NULL OR o.user_id = ?2) ORDER BY u.event LIMIT 1`,
    )
    .get(key, userIdOf(owner));
  return row === null ? undefined : { key, mediaType: row.media_type, bytes: row.data };
}

export function readBlobTotals(database: Database, owner: Owner): BlobTotals {
  const of = isEverybody(owner) ? null : (ownerKey(database, owner) ?? 0);
  const row = database
    .query<BlobTotals, [number | null]>(
      "SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM blobs WHERE ?1 IS NULL OR owner = ?1",
    )
    .get(of);
  return row ?? { count: 0, bytes: 0 };
}

/** Those of all owners. */
export function inspectBlobs(database: Database): BlobInspection {
  const unnamed = countRows(
    database,
    `blobs b WHERE NOT EXISTS (SELECT 1 FROM blob_uses u CROSS JOIN events e ON e.key = u.event
      WHERE u.blob = b.key AND e.owner = b.owner)`,
  );
  const missing = countRows(
    database,
    `blob_uses u CROSS JOIN events e ON e.key = u.event
     WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.owner = e.owner AND b.key = u.blob)`,
  );
  return { ...readBlobTotals(database, ALL_OWNERS), stray: unnamed + missing };
}

/** What a table says of pictures: see `seenIn` of the domain. */
const namedIn = (table: string): string =>
  `SELECT owner, metadata ->> '$.thumbnail' AS blob FROM ${table}
   WHERE metadata ->> '$.modality' IN ('photo', 'video_frame') AND json_type(metadata, '$.thumbnail') = 'text'`;

/** The keys of pictures that events or memories name and that are not there, in order, each once. */
export function missingBlobs(database: Database): readonly string[] {
  const rows = database
    .query<{ blob: string }, []>(
      `SELECT DISTINCT n.blob FROM (${namedIn("events")} UNION ${namedIn("nodes")}) n
       WHERE n.blob <> '' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.owner = n.owner AND b.key = n.blob) ORDER BY 1`,
    )
    .all();
  return rows.map(({ blob }) => blob);
}

/** The blobs of some events that no other event names. `?1` is the keys of the events as a JSON list. */
const UNUSED = `blobs AS b WHERE (b.owner, b.key) IN (
    SELECT e.owner, u.blob FROM json_each(?1) i CROSS JOIN blob_uses u ON u.event = i.value CROSS JOIN events e ON e.key = u.event)
  AND NOT EXISTS (SELECT 1 FROM blob_uses u CROSS JOIN events e ON e.key = u.event
    WHERE u.blob = b.key AND e.owner = b.owner AND u.event NOT IN (SELECT value FROM json_each(?1)))`;

/** What goes with some events. @param events their keys as a JSON list */
export function countBlobsOf(database: Database, events: string): number {
  const row = database
    .query<{ count: number }, [string]>(`SELECT count(*) AS count FROM ${UNUSED}`)
    .get(events);
  return row?.count ?? 0;
}

/** Removes what some events name and no other event does. @param events their keys as a JSON list */
export function removeBlobsOf(database: Database, events: string): void {
  database.query(`DELETE FROM ${UNUSED}`).run(events);
  database
    .query("DELETE FROM blob_uses WHERE event IN (SELECT value FROM json_each(?))")
    .run(events);
}

/** Gives the blobs of one owner to another; of what both have, that of the other stays. */
export function moveBlobs(database: Database, from: number, into: number): void {
  database.query("UPDATE OR IGNORE blobs SET owner = ? WHERE owner = ?").run(into, from);
  database.query("DELETE FROM blobs WHERE owner = ?").run(from);
}
