import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import {
  bytesOf,
  type RecordKind,
  TransferPage,
  type TransferRecord,
} from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Manifest, TransferSource, TransferTarget } from "../../../ports/store/store.ts";
import { SQLITE } from "../../sql/dialect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { readManifest, writeNamespace } from "../../sql/settings.ts";
import { get } from "../../sql/statement.ts";
import { type PutVectors, readOf, toRecords, writeRecords } from "../../sql/transfer.ts";
import { ask } from "../connection/ask.ts";
import { openExclusively, type WholePack } from "../connection/exclusive.ts";
import { toSvcError } from "../connection/failures.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { openDatabase, turnToLog } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { native, run } from "../connection/run.ts";
import { migrate } from "../schema/migrate.ts";
import { hashOf, mixing, ownVector } from "../vectors/exact.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { ACTIVE } from "../write/turns.ts";
import { rowsOf } from "./export-lines.ts";
import { writeTexts } from "./import.ts";

/** Owner by owner: data derived from an owner's vectors is written at once. */
const VECTORS = [
  `o.user_id, n.id AS node_id, n.content, v.embedding,
    iif(v.revision IS NULL, '', lower(hex(v.content_hash))) AS content_hash`,
  `temp.transfer_vectors x CROSS JOIN nodes n ON n.key = x.node_key CROSS JOIN owners o ON o.owner = n.owner
    CROSS JOIN vectors v ON v.node_key = x.node_key`,
  "x.place",
] as const;

/**
 * Opens a pack exclusively as a source that does not change until `close`.
 * @throws SvcError what `openExclusively` throws; invalid_argument while a rebuild has begun
 */
export function openRecordSource(pack: WholePack): TransferSource & { close(): void } {
  const path = mainPath(pack.layout);
  const database = openExclusively(pack);
  try {
    const manifest = run(database, readManifest());
    if (manifest === undefined) throw new SvcError("internal", `${path}: has no manifest`);
    if (run(database, begunModel()) !== undefined) throw rebuilding(path);
    database.run("PRAGMA query_only = ON");
    return {
      manifest,
      state: stateOf(database),
      count: async (kind) =>
        run(database, get<{ count: number }>(sqlOf(database, kind).count))?.count ?? 0,
      read: (kind, skip) => readPages(database, kind, skip, path),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw toSvcError(error, path);
  }
}

function rebuilding(path: string): SvcError {
  const message = `${path}: a rebuild has begun; finish it first with: svc rebuild. Nothing was changed`;
  return new SvcError("invalid_argument", message, { param: "pack" });
}

function sqlOf(database: Database, kind: RecordKind): ReturnType<typeof readOf> {
  if (kind === "vector") placeVectors(database);
  return readOf(SQLITE, kind, VECTORS);
}

/** Numbers the vectors of searched and retired nodes, owner by owner. */
function placeVectors(database: Database): void {
  database.run("PRAGMA query_only = OFF");
  database.run(
    `CREATE TEMP TABLE IF NOT EXISTS transfer_vectors AS
     SELECT row_number() OVER (ORDER BY n.owner, n.key) AS place, n.key AS node_key
     FROM vectors v CROSS JOIN nodes n ON n.key = v.node_key
     WHERE (v.revision IS NOT NULL) = (n.lifecycle_state IN ${ACTIVE})`,
  );
  database.run("PRAGMA query_only = ON");
}

/** Any change of copied data shows in one of these. */
const STATE = `SELECT json_array(created_at, embedding_model, embedding_version,
    (SELECT max(key) FROM events), (SELECT max(key) FROM nodes), (SELECT max(key) FROM operations),
    (SELECT max(key) FROM erasures), (SELECT max(key) FROM edges), (SELECT max(key) FROM receipts), (SELECT count(*) FROM receipts),
    (SELECT max(updated_at) FROM nodes), (SELECT max(updated_at) FROM work), (SELECT sum(generation) FROM work),
    (SELECT value FROM vector_revision)) FROM pack_manifest`;

function stateOf(database: Database): string {
  return ask<string>(database, STATE) ?? "";
}

async function* readPages(
  database: Database,
  kind: RecordKind,
  skip: number,
  path: string,
): AsyncGenerator<readonly TransferRecord[]> {
  let page = new TransferPage();
  let place = 0;
  const { dimension } = mixing(database);
  // The vector of the text itself, not the mixed one.
  const own = ({ embedding }: TransferRecord) => ownVector(bytesOf(embedding), dimension);
  const whole = (row: TransferRecord): TransferRecord => {
    const { content, content_hash: hash } = row;
    return hash ? { ...row, content_hash: hashOf(String(content), String(hash)) } : row;
  };
  const records = (): readonly TransferRecord[] =>
    run(database, toRecords(kind, kind === "vector" ? page.records.map(whole) : page.records, own));
  try {
    for (const row of rowsOf<TransferRecord>(database, sqlOf(database, kind).rows)) {
      place += 1;
      if (place <= skip) continue;
      page.add(row);
      if (!page.isFull) continue;
      yield records();
      page = new TransferPage();
    }
    if (page.records.length > 0) yield records();
  } catch (error) {
    throw toSvcError(error, path);
  }
}

type RecordTargetOptions = {
  /** Where the pack is created; only its key may exist there yet. */
  readonly layout: PackLayout;
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly now: Instant;
};

/**
 * Makes a pack that receives records; call `close` when it has all. If anything fails, the files at `layout` are worthless.
 * @throws SvcError, SQLiteError
 */
export function createRecordTarget(
  options: RecordTargetOptions,
): TransferTarget & { close(): void } {
  const { layout, connection, manifest, now } = options;
  const database = openDatabase({
    ...connection,
    layout,
    mode: "create",
    // Durability is not needed until the pack gets its name; it is synced before that.
    synchronous: "normal",
  });
  try {
    turnToLog(database, layout);
    database.transaction(() => {
      migrate(database, layout, manifest, now);
      database
        .query("UPDATE pack_manifest SET created_at = ?, updated_at = ?")
        .run(manifest.createdAt, manifest.updatedAt);
      if (connection.namespace !== undefined) run(database, writeNamespace(connection.namespace));
    })();
  } catch (error) {
    database.close();
    throw error;
  }
  const put: PutVectors = (_owner, entries) => native((pack) => putVectors(pack, entries));
  return {
    taken: () => 0,
    take: async (kind, records) => {
      database.transaction(() => run(database, writeRecords(kind, records, put)))();
    },
    index: async (onProgress, signal) => {
      for (const done of writeTexts(database)) {
        onProgress(done);
        await Bun.sleep(0);
        signal.throwIfAborted();
      }
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    // No other process knows its name yet.
    open: async () => {},
    close: () => database.close(),
  };
}
