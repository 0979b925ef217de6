import type { Database } from "bun:sqlite";
import { eventForm, nodeForm } from "../../../domain/node.ts";
import {
  bytesOf,
  type Cell,
  RECORDS,
  type RecordKind,
  storedColumns,
  type TransferRecord,
  type Value,
  vectorOf,
  withPlaces,
} from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import type { Manifest, TransferTarget } from "../../../ports/store/store.ts";
import { toIdBytes } from "../../sql/receipts.ts";
import { writeNamespace } from "../../sql/settings.ts";
import { ask } from "../connection/ask.ts";
import type { PackLayout } from "../connection/layout.ts";
import { openDatabase, turnToLog } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { run } from "../connection/run.ts";
import { migrate } from "../schema/migrate.ts";
import { writePackSetting } from "../schema/pack-settings.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { writeTexts } from "./import.ts";

export type RecordTargetOptions = {
  /** Where the pack is made; nothing may exist there yet but its key. */
  readonly layout: PackLayout;
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly now: Instant;
};

const OWNER = "(SELECT owner FROM owners WHERE user_id = ?)";
const values = (count: number): string => Array.from({ length: count }, () => "?").join(", ");

/** How a record of each kind becomes a row, its cells in their order. */
const WRITES: Partial<Readonly<Record<RecordKind, string>>> = {
  owner: "INSERT INTO owners (user_id) VALUES (?)",
  event: ownRow("events", storedColumns(eventForm)),
  blob: `INSERT INTO blobs (owner, key, media_type, size, data, created_at) VALUES (${OWNER}, ${values(5)})`,
  blob_use: `INSERT INTO blob_uses (event, blob)
    SELECT key, ?3 FROM events WHERE id = ?2 AND owner = (SELECT owner FROM owners WHERE user_id = ?1)`,
  node: ownRow("nodes", storedColumns(nodeForm)),
  operation: `INSERT INTO operations (${RECORDS.operation.join(", ")}) VALUES (${values(RECORDS.operation.length)})`,
  erasure: `INSERT INTO erasures (${RECORDS.erasure.join(", ")}) VALUES (${values(RECORDS.erasure.length)})`,
  edge: `INSERT INTO edges (id, source, target, edge_type, owner, confidence, valid_from, valid_to, provenance_event_id,
      metadata, created_at)
    VALUES (?, (SELECT key FROM nodes WHERE id = ?), (SELECT key FROM nodes WHERE id = ?), ?, ${OWNER}, ${values(6)})`,
  work: `INSERT INTO work (owner, kind, subject, lane, status, due, attempts, generation, payload, last_error, updated_at)
    VALUES (coalesce(${OWNER}, 0), ?, coalesce((SELECT key FROM events WHERE id = ?), 0), ${values(8)})`,
};

function ownRow(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (owner, id, ${columns.join(", ")}) VALUES (${OWNER}, ?, ${values(columns.length)})`;
}

/**
 * Makes a pack that takes records; `close` when it has all. If anything fails, the files at `layout` are worthless.
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
    // Until the pack gets its name it may be lost; it is written to disk before that.
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
  return {
    taken: () => 0,
    take: async (kind, records) => {
      database.transaction(() => takeAll(database, kind, records, options))();
    },
    index: async (onProgress, signal) => {
      for (const done of writeTexts(database)) {
        onProgress(done);
        await Bun.sleep(0);
        signal.throwIfAborted();
      }
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    // Nobody else knows its name yet.
    open: async () => {},
    close: () => database.close(),
  };
}

function takeAll(
  database: Database,
  kind: RecordKind,
  records: readonly TransferRecord[],
  { manifest, now }: RecordTargetOptions,
): void {
  if (kind === "vector") {
    const entries = records.map(({ node_id, content_hash, embedding }) => ({
      key: keyOf(database, node_id ?? null),
      contentHash: String(content_hash),
      vector: vectorOf(embedding),
      at: now,
    }));
    putVectors(database, entries, manifest.embedding);
    return;
  }
  for (const record of records) takeOne(database, kind, record);
}

function takeOne(database: Database, kind: RecordKind, record: TransferRecord): void {
  if (kind === "setting") {
    writePackSetting(database, String(record["name"]), String(record["value"]));
  } else if (kind === "receipt") {
    database
      .query("INSERT INTO receipts (user_id, request_id, created_at, body) VALUES (?, ?, ?, ?)")
      .run(
        ...[String(record["user_id"]), requestOf(record)],
        ...[String(record["created_at"]), bytesOf(record["body"])],
      );
  } else if (kind === "receipt_node") {
    database
      .query(
        `INSERT INTO receipt_nodes (receipt, node, rank, representation)
         SELECT r.key, n.key, ?3, ?4 FROM receipts r CROSS JOIN nodes n WHERE r.request_id = ?1 AND n.id = ?2`,
      )
      .run(
        ...[requestOf(record), String(record["node_id"])],
        ...[Number(record["rank"]), String(record["representation"])],
      );
  } else {
    const row =
      kind === "work"
        ? withPlaces(record, (place) => (place === null ? 0 : keyOf(database, place)))
        : record;
    const given = RECORDS[kind].map((name) => row[name] ?? null);
    database.query<unknown, Cell[]>(WRITES[kind] ?? "").run(...given);
  }
}

/** The bytes of the id of a receipt. */
function requestOf(record: TransferRecord): Uint8Array | null {
  const id = parseUuid(String(record["request_id"]));
  return id === undefined ? null : toIdBytes(id);
}

/** The key of a node; 0 without it. */
function keyOf(database: Database, id: Cell): number {
  const value: Value = id instanceof Uint8Array ? null : id;
  return ask<number>(database, "SELECT key FROM nodes WHERE id = ?", value) ?? 0;
}
