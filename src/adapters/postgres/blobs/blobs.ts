import type { KeptBlob } from "../../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { BlobInspection, Blobs, BlobTotals, EventBlob } from "../../../ports/store/records.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { type OwnerKey, ownerKeyOrNull } from "../owner-key.ts";

export function bindBlobs({ read }: Database) {
  return {
    blob: (key, owner) => read(owner, (sql) => readBlob(sql, key, owner)),
    blobTotals: (owner) => read(owner, (sql) => readBlobTotals(sql, owner)),
  } satisfies Blobs;
}

/** Keeps what events of the same transaction name. All are of one owner. */
export async function writeBlobs(
  sql: Sql,
  owner: OwnerKey,
  blobs: readonly EventBlob[],
): Promise<void> {
  for (const { event, key, mediaType, bytes } of blobs) {
    await sql.run(
      `WITH named AS (SELECT id, timestamp FROM events WHERE owner = $1::bigint AND id = $2::uuid),
       kept AS (INSERT INTO blobs (owner, key, media_type, size, data, created_at)
         SELECT $1::bigint, $3, $4, octet_length($5::bytea), $5::bytea, timestamp FROM named ON CONFLICT DO NOTHING)
       INSERT INTO blob_uses (owner, event_id, blob) SELECT $1::bigint, id, $3 FROM named ON CONFLICT DO NOTHING`,
      ...[owner, event, key, mediaType, bytes],
    );
  }
}

type BlobRow = { readonly media_type: string; readonly data: Uint8Array };

async function readBlob(sql: Sql, key: string, owner: Owner): Promise<KeptBlob | undefined> {
  const row = await sql.get<BlobRow>(
    `SELECT media_type, data FROM blobs WHERE key = $1 AND ($2::bigint IS NULL OR owner = $2::bigint)
     ORDER BY created_at, owner LIMIT 1`,
    key,
    ownerKeyOrNull(owner),
  );
  return row && { key, mediaType: row.media_type, bytes: new Uint8Array(row.data) };
}

async function readBlobTotals(sql: Sql, owner: Owner): Promise<BlobTotals> {
  const row = await sql.get<BlobTotals>(
    `SELECT count(*)::float8 AS count, coalesce(sum(size), 0)::float8 AS bytes FROM blobs
     WHERE $1::bigint IS NULL OR owner = $1::bigint`,
    ownerKeyOrNull(owner),
  );
  return row ?? { count: 0, bytes: 0 };
}

/** Those of all owners. */
export async function inspectBlobs(sql: Sql): Promise<BlobInspection> {
  const row = await sql.get<{ stray: number }>(
    `SELECT (SELECT count(*) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM blob_uses u
         JOIN events e ON e.owner = u.owner AND e.id = u.event_id WHERE u.owner = b.owner AND u.blob = b.key))::float8
       + (SELECT count(*) FROM blob_uses u WHERE NOT EXISTS
         (SELECT 1 FROM blobs b WHERE b.owner = u.owner AND b.key = u.blob))::float8 AS stray`,
  );
  return { ...(await readBlobTotals(sql, ALL_OWNERS)), stray: row?.stray ?? 0 };
}

/** The blobs of an owner (`$1`) that some events (`$2`) name and no other does. */
const UNUSED = `blobs b WHERE b.owner = $1::bigint
  AND b.key IN (SELECT u.blob FROM blob_uses u WHERE u.owner = $1::bigint AND u.event_id = ANY ($2::uuid[]))
  AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.owner = $1::bigint AND u.blob = b.key AND u.event_id <> ALL ($2::uuid[]))`;

/** What goes with some events of an owner. */
export async function countBlobsOf(
  sql: Sql,
  owner: OwnerKey,
  events: readonly Uuid[],
): Promise<number> {
  const row = await sql.get<{ n: number }>(
    `SELECT count(*)::int AS n FROM ${UNUSED}`,
    owner,
    listText(events),
  );
  return row?.n ?? 0;
}

/** Removes what some events of an owner name and no other event does. */
export async function removeBlobsOf(
  sql: Sql,
  owner: OwnerKey,
  events: readonly Uuid[],
): Promise<void> {
  await sql.run(`DELETE FROM ${UNUSED}`, owner, listText(events));
  await sql.run(
    "DELETE FROM blob_uses WHERE owner = $1::bigint AND event_id = ANY ($2::uuid[])",
    owner,
    listText(events),
  );
}

/** Gives the blobs of one owner to another; of what both have, that of the other stays. */
export async function moveBlobs(sql: Sql, from: OwnerKey, into: OwnerKey): Promise<void> {
  await sql.run(
    `UPDATE blobs b SET owner = $2::bigint WHERE b.owner = $1::bigint
       AND NOT EXISTS (SELECT 1 FROM blobs t WHERE t.owner = $2::bigint AND t.key = b.key)`,
    from,
    into,
  );
  await sql.run("DELETE FROM blobs WHERE owner = $1::bigint", from);
  await sql.run("UPDATE blob_uses SET owner = $2::bigint WHERE owner = $1::bigint", from, into);
}
