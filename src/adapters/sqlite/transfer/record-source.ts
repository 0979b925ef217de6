import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { eventForm, nodeForm } from "../../../domain/node.ts";
import {
  bytesOf,
  type Cell,
  COPIED_SETTINGS,
  named,
  RECORDS,
  type RecordKind,
  storedColumns,
  TransferPage,
  type TransferRecord,
  type Value,
  vectorCell,
  vectorOf,
  withPlaces,
} from "../../../domain/records/rows.ts";
import { fromPayload } from "../../../domain/search/turns.ts";
import type { TransferSource } from "../../../ports/store/store.ts";
import { sqlList } from "../../sql/dialect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { fromIdBytes } from "../../sql/receipts.ts";
import { readManifest } from "../../sql/settings.ts";
import { ask, countRows } from "../connection/ask.ts";
import { openExclusively, type WholePack } from "../connection/exclusive.ts";
import { toSvcError } from "../connection/failures.ts";
import { mainPath } from "../connection/layout.ts";
import { run } from "../connection/run.ts";
import { ACTIVE } from "../write/turns.ts";
import { rowsOf } from "./export-lines.ts";

const OWNER = "CROSS JOIN owners o ON o.owner =";

/** The columns of each record in its order, and what they are read from. */
const READS: Readonly<Record<RecordKind, { readonly columns: string; readonly from: string }>> = {
  owner: { columns: "user_id", from: "owners ORDER BY owner" },
  event: {
    columns: `o.user_id, e.id, ${named("e", storedColumns(eventForm))}`,
    from: `events e ${OWNER} e.owner ORDER BY e.key`,
  },
  blob: {
    columns: "o.user_id, b.key, b.media_type, b.size, b.data, b.created_at",
    from: `blobs b ${OWNER} b.owner ORDER BY b.owner, b.key`,
  },
  blob_use: {
    columns: "o.user_id, e.id AS event_id, u.blob",
    from: `blob_uses u CROSS JOIN events e ON e.key = u.event ${OWNER} e.owner ORDER BY u.event, u.blob`,
  },
  node: {
    columns: `o.user_id, n.id, ${named("n", storedColumns(nodeForm))}`,
    from: `nodes n ${OWNER} n.owner ORDER BY n.key`,
  },
  operation: { columns: RECORDS.operation.join(", "), from: "operations ORDER BY key" },
  erasure: { columns: RECORDS.erasure.join(", "), from: "erasures ORDER BY key" },
  edge: {
    columns: `e.id, s.id AS source_id, t.id AS target_id, e.edge_type, o.user_id, e.confidence, e.valid_from,
      e.valid_to, e.provenance_event_id, e.metadata, e.created_at`,
    from: `edges e ${OWNER} e.owner CROSS JOIN nodes s ON s.key = e.source CROSS JOIN nodes t ON t.key = e.target
      ORDER BY e.key`,
  },
  work: {
    columns: `(SELECT o.user_id FROM owners o WHERE o.owner = w.owner) AS user_id, w.kind,
      (SELECT e.id FROM events e WHERE e.key = w.subject) AS event_id, w.lane, w.status, w.due, w.attempts,
      w.generation, w.payload, w.last_error, w.updated_at`,
    from: "work w ORDER BY w.subject, w.kind, w.owner",
  },
  receipt: {
    columns: "user_id, request_id, created_at, body",
    from: "receipts ORDER BY key",
  },
  receipt_node: {
    columns: "r.user_id, r.request_id, n.id AS node_id, c.rank, c.representation",
    from: `receipt_nodes c CROSS JOIN receipts r ON r.key = c.receipt CROSS JOIN nodes n ON n.key = c.node
      ORDER BY c.node, c.receipt`,
  },
  // Owner by owner: what is derived from the vectors of one is written at once.
  vector: {
    columns: `o.user_id, n.id AS node_id, m.content_hash, v.embedding,
      (SELECT p.embedding FROM vector_payloads p WHERE p.node_key = m.node_key) AS payload`,
    from: `temp.transfer_vectors x CROSS JOIN vector_metadata m ON m.node_key = x.node_key
      CROSS JOIN nodes n ON n.key = x.node_key ${OWNER} n.owner CROSS JOIN vectors v ON v.node_key = x.node_key
      ORDER BY x.place`,
  },
  setting: {
    columns: "name, value",
    from: `pack_settings WHERE name IN ${sqlList(COPIED_SETTINGS)} ORDER BY name`,
  },
};

/**
 * Opens a pack as a source that does not change until `close`: nobody else may open it meanwhile.
 * @throws SvcError what `openExclusively` throws; invalid_argument while a rebuild
 *   has begun
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
      count: async (kind) => countRows(database, `(SELECT 1 FROM ${fromOf(database, kind)})`),
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

function fromOf(database: Database, kind: RecordKind): string {
  if (kind === "vector") placeVectors(database);
  return READS[kind].from;
}

/** Numbers the vectors of the pack's own model, of nodes that are searched, owner by owner. */
function placeVectors(database: Database): void {
  database.run("PRAGMA query_only = OFF");
  database.run(
    `CREATE TEMP TABLE IF NOT EXISTS transfer_vectors AS
     SELECT row_number() OVER (ORDER BY n.owner, n.key) AS place, n.key AS node_key
     FROM vector_metadata m CROSS JOIN nodes n ON n.key = m.node_key CROSS JOIN pack_manifest p
     WHERE m.embedding_model = p.embedding_model AND m.embedding_version = p.embedding_version
       AND n.lifecycle_state IN ${ACTIVE}`,
  );
  database.run("PRAGMA query_only = ON");
}

/** Any change of what is copied shows in one of these. */
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
  const sql = `SELECT ${READS[kind].columns} FROM ${fromOf(database, kind)}`;
  let page = new TransferPage();
  let place = 0;
  try {
    for (const row of rowsOf<TransferRecord>(database, sql)) {
      place += 1;
      if (place <= skip) continue;
      page.add(toRecord(database, kind, row));
      if (!page.isFull) continue;
      yield page.records;
      page = new TransferPage();
    }
  } catch (error) {
    throw toSvcError(error, path);
  }
  if (page.records.length > 0) yield page.records;
}

function toRecord(database: Database, kind: RecordKind, row: TransferRecord): TransferRecord {
  switch (kind) {
    case "receipt":
    case "receipt_node":
      return { ...row, request_id: idOf(row) };
    case "vector": {
      const { payload, embedding, ...rest } = row;
      const own = payload === null ? vectorOf(embedding) : fromPayload(bytesOf(payload));
      return { ...rest, embedding: vectorCell(own) };
    }
    case "work":
      return withPlaces(row, (place) => newestBefore(database, row["user_id"], place));
    default:
      return row;
  }
}

function idOf(row: TransferRecord) {
  return fromIdBytes(bytesOf(row["request_id"]));
}

/** The id of the newest memory of an owner up to a key; null without one. */
function newestBefore(database: Database, userId: Cell | undefined, key: Value): Value {
  const sql = `SELECT n.id FROM nodes n WHERE n.owner = (SELECT owner FROM owners WHERE user_id = ?) AND n.key <= ?
    ORDER BY n.key DESC LIMIT 1`;
  return ask<string>(database, sql, String(userId), key) ?? null;
}
