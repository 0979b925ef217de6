import type { KeptBlob } from "../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { BlobInspection, Blobs, BlobTotals, EventBlob } from "../../ports/store/records.ts";
import { keyOrNull } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import * as sql from "./statement.ts";

/** Blobs of events, stored once per owner. */
export function bindBlobs({ read }: sql.Access): Blobs {
  return {
    blob: (key, owner) => read(owner, () => readBlob(key, owner)),
    blobTotals: (owner) => read(owner, () => readBlobTotals(owner)),
  };
}

const named = ({ free }: Dialect): string =>
  `FROM events WHERE ${free("owner")} = $1::bigint AND id = $2::uuid ON CONFLICT DO NOTHING`;
const KEEP = sql.statement(
  (d) => `INSERT INTO blobs (owner, key, media_type, size, data, created_at)
    SELECT owner, $3, $4, octet_length($5::bytea), $5::bytea, timestamp ${named(d)}`,
);
const USE = sql.statement((d) =>
  d.isOwnerInKeys
    ? `INSERT INTO blob_uses (owner, event_id, blob) SELECT owner, id, $3 ${named(d)}`
    : `INSERT INTO blob_uses (event, blob) SELECT key, $3 ${named(d)}`,
);

/** Stores blobs of an owner's events that are written in the same transaction. */
export function* writeBlobs(owner: sql.OwnerKey, blobs: readonly EventBlob[]): sql.Steps<void> {
  for (const { event, key, mediaType, bytes } of blobs) {
    yield* sql.together(
      sql.run(KEEP, owner, event, key, mediaType, bytes),
      sql.run(USE, owner, event, key),
    );
  }
}

const OF_KEY = sql.statement(
  ({
    join,
  }) => `SELECT b.media_type, b.data FROM owners o ${join} blobs b ON b.owner = o.owner AND b.key = $1
    WHERE $2::bigint IS NULL OR o.owner = $2::bigint ORDER BY b.created_at, b.owner LIMIT 1`,
);

function* readBlob(key: string, of: Owner): sql.Steps<KeptBlob | undefined> {
  const owner = yield* keyOrNull(of);
  if (owner === undefined) return undefined;
  const row = yield* sql.get<{ media_type: string; data: Uint8Array }>(OF_KEY, key, owner);
  return row && { key, mediaType: row.media_type, bytes: new Uint8Array(row.data) };
}

const TOTALS =
  sql.statement(`SELECT count(*)::float8 AS count, coalesce(sum(size), 0)::float8 AS bytes FROM blobs
  WHERE $1::bigint IS NULL OR owner = $1::bigint`);

function* readBlobTotals(of: Owner): sql.Steps<BlobTotals> {
  const owner = yield* keyOrNull(of);
  const found = owner === undefined ? undefined : yield* sql.get<BlobTotals>(TOTALS, owner);
  return found ?? { count: 0, bytes: 0 };
}

/** Joins uses `u` with their events `e`. */
const uses = ({ isOwnerInKeys, join }: Dialect): string =>
  `blob_uses u ${join} events e ON ${isOwnerInKeys ? "e.owner = u.owner AND e.id = u.event_id" : "e.key = u.event"}`;
const STRAY = sql.statement(
  (d) => `SELECT ((SELECT count(*) FROM blobs b WHERE NOT EXISTS
      (SELECT 1 FROM ${uses(d)} WHERE u.blob = b.key AND e.owner = b.owner))
    + (SELECT count(*) FROM ${uses(d)} WHERE NOT EXISTS
      (SELECT 1 FROM blobs b WHERE b.owner = e.owner AND b.key = u.blob)))::float8 AS stray`,
);

/** Those of all owners. */
export function* inspectBlobs(): sql.Steps<BlobInspection> {
  const found = yield* sql.get<{ stray: number }>(STRAY);
  return { ...(yield* readBlobTotals(ALL_OWNERS)), stray: found?.stray ?? 0 };
}

/** The picture references in a table: see `seenIn` of the domain. */
const namedIn = (table: string): string =>
  `SELECT owner, metadata ->> '$.thumbnail' AS blob FROM ${table}
   WHERE metadata ->> '$.modality' IN ('photo', 'video_frame') AND json_type(metadata, '$.thumbnail') = 'text'`;
const MISSING = `SELECT DISTINCT n.blob FROM (${namedIn("events")} UNION ${namedIn("nodes")}) n
  WHERE n.blob <> '' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.owner = n.owner AND b.key = n.blob) ORDER BY 1`;

/** The keys of missing pictures that events or memories of a pack refer to, in order, each once. */
export function* missingBlobs(): sql.Steps<readonly string[]> {
  return (yield* sql.all<{ blob: string }>(MISSING)).map(({ blob }) => blob);
}

/** The uses by some events ($2) of an owner ($1). */
const byThese = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys
    ? "u.owner = $1::bigint AND u.event_id = ANY ($2::uuid[])"
    : "u.event IN (SELECT key FROM events WHERE owner = $1 AND id = ANY ($2::uuid[]))";
/** The blobs used by some events only. */
const unused = (d: Dialect): string => `blobs AS b WHERE b.owner = $1::bigint
  AND b.key IN (SELECT u.blob FROM blob_uses u WHERE ${byThese(d)})
  AND NOT EXISTS (SELECT 1 FROM ${uses(d)} WHERE u.blob = b.key AND e.owner = b.owner AND NOT (${byThese(d)}))`;
const COUNT = sql.statement((d) => `SELECT count(*)::float8 AS count FROM ${unused(d)}`);
const REMOVE = sql.statement((d) => `DELETE FROM ${unused(d)}`);
const END_USES = sql.statement((d) => `DELETE FROM blob_uses AS u WHERE ${byThese(d)}`);

/** Blobs that go with some of an owner's events. */
export function* countBlobsOf(owner: sql.OwnerKey, events: readonly Uuid[]): sql.Steps<number> {
  return (yield* sql.get<{ count: number }>(COUNT, owner, events))?.count ?? 0;
}

/** Removes blobs of some of an owner's events that no other event uses. */
export function* removeBlobsOf(owner: sql.OwnerKey, events: readonly Uuid[]): sql.Steps<void> {
  yield* sql.run(REMOVE, owner, events);
  yield* sql.run(END_USES, owner, events);
}

const GIVE = sql.statement(`UPDATE blobs SET owner = $2::bigint WHERE owner = $1::bigint
  AND key NOT IN (SELECT t.key FROM blobs t WHERE t.owner = $2::bigint)`);
const LEAVE = sql.statement("DELETE FROM blobs WHERE owner = $1::bigint");
const GIVE_USES = "UPDATE blob_uses SET owner = $2::bigint WHERE owner = $1::bigint";

/** Moves the blobs of one owner to another; of common ones, the target's stays. */
export function* moveBlobs(from: sql.OwnerKey, into: sql.OwnerKey): sql.Steps<void> {
  yield* sql.run(GIVE, from, into);
  yield* sql.run(LEAVE, from);
  if ((yield* sql.dialect()).isOwnerInKeys) yield* sql.run(GIVE_USES, from, into);
}
