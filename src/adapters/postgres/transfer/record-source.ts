import { invalid, SvcError } from "../../../domain/errors.ts";
import { eventForm, nodeForm } from "../../../domain/node.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import {
  bytesOf,
  type Cell,
  COPIED_SETTINGS,
  named,
  PAGE_RECORDS,
  RECORDS,
  type RecordKind,
  storedColumns,
  TransferPage,
  type TransferRecord,
  type Value,
  vectorCell,
  withPlaces,
} from "../../../domain/records/rows.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import type { TransferSource } from "../../../ports/store/store.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { sqlList } from "../../sql/dialect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { requireManifest } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText, readVector } from "../connection/values.ts";

const OWNER = "JOIN owners o ON o.owner =";

/** The columns of each record in its order, and what they are read from; those of one owner in the order of writing. */
const READS: Readonly<Record<RecordKind, { readonly columns: string; readonly from: string }>> = {
  owner: { columns: "user_id", from: "owners ORDER BY user_id" },
  event: {
    columns: `o.user_id, e.id, ${named("e", storedColumns(eventForm))}`,
    from: `events e ${OWNER} e.owner ORDER BY e.owner, e.key`,
  },
  blob: {
    columns: "o.user_id, b.key, b.media_type, b.size, b.data, b.created_at",
    from: `blobs b ${OWNER} b.owner ORDER BY b.owner, b.key`,
  },
  blob_use: {
    columns: "o.user_id, u.event_id, u.blob",
    from: `blob_uses u ${OWNER} u.owner ORDER BY u.owner, u.event_id, u.blob`,
  },
  node: {
    columns: `o.user_id, n.id, ${named("n", storedColumns(nodeForm))}`,
    from: `nodes n ${OWNER} n.owner ORDER BY n.owner, n.key`,
  },
  operation: { columns: RECORDS.operation.join(", "), from: "operations ORDER BY key" },
  erasure: { columns: RECORDS.erasure.join(", "), from: "erasures ORDER BY event_id" },
  edge: {
    columns: `e.id, e.source AS source_id, e.target AS target_id, e.edge_type, o.user_id, e.confidence, e.valid_from,
      e.valid_to, e.provenance_event_id, e.metadata, e.created_at`,
    from: `edges e ${OWNER} e.owner ORDER BY e.created_at, e.id`,
  },
  work: {
    columns: `(SELECT o.user_id FROM owners o WHERE o.owner = w.owner) AS user_id, w.kind, w.event_id, w.lane, w.status,
      w.due, w.attempts, w.generation, w.payload, w.last_error, w.updated_at, w.owner`,
    from: "work w ORDER BY w.owner, w.subject, w.kind",
  },
  receipt: {
    columns: "user_id, request_id, created_at, body",
    from: "receipts ORDER BY created_at, request_id",
  },
  receipt_node: {
    columns: "r.user_id, c.request_id, c.node_id, c.rank, c.representation",
    from: `receipt_nodes c JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id
      JOIN nodes n ON n.owner = c.owner AND n.id = c.node_id ORDER BY c.owner, c.request_id, c.node_id`,
  },
  vector: {
    columns: "o.user_id, n.id AS node_id, v.content_hash, vector_send(n.embedding) AS embedding",
    from: `vectors v JOIN nodes n ON n.owner = v.owner AND n.key = v.key ${OWNER} v.owner
      WHERE n.embedding IS NOT NULL AND n.lifecycle_state IN ${ACTIVE} ORDER BY v.owner, v.key`,
  },
  setting: {
    columns: "name, value",
    from: `settings WHERE name IN ${sqlList(COPIED_SETTINGS)} ORDER BY name`,
  },
};

/**
 * Calls `use` once with all that a database holds at one moment; others may go on writing.
 * @throws SvcError invalid_argument while a rebuild has begun; storage_unavailable; and what `use` throws
 */
export async function withRecordSource<T>(
  database: Database,
  place: string,
  use: (source: TransferSource) => Promise<T>,
): Promise<T> {
  let isUsed = false;
  return await database.snapshot(ALL_OWNERS, async (sql) => {
    // A snapshot that was lost is gone: what was taken of it does not go with another one.
    if (isUsed) throw lost(place);
    isUsed = true;
    // While the other store indexes what it has taken, nothing is asked here.
    await sql.run("SET LOCAL idle_in_transaction_session_timeout = 0");
    if ((await run(sql, begunModel())) !== undefined) {
      throw invalid("database", "has a rebuild that has begun; finish it first with: svc rebuild");
    }
    return await use(await sourceOn(sql));
  });
}

/** What is read by a transaction. */
export async function sourceOn(sql: Sql): Promise<TransferSource> {
  return {
    manifest: await run(sql, requireManifest()),
    state: "",
    count: (kind) => countOf(sql, kind),
    read: (kind, skip) => readPages(sql, kind, skip),
  };
}

function lost(place: string): SvcError {
  const message = `${place}: the connection was lost while the database was read. Run the command again`;
  return new SvcError("storage_unavailable", message, { path: place });
}

async function countOf(sql: Sql, kind: RecordKind): Promise<number> {
  const from = READS[kind].from.replace(/ORDER BY .*/s, "");
  const row = await sql.get<{ count: number }>(`SELECT count(*)::float8 AS count FROM ${from}`);
  return row?.count ?? 0;
}

/** Rows that are fetched at once at first; texts may be long. */
const FIRST_ROWS = 20;

async function* readPages(
  sql: Sql,
  kind: RecordKind,
  skip: number,
): AsyncGenerator<readonly TransferRecord[]> {
  const { columns, from } = READS[kind];
  await sql.run(
    `DECLARE transfer NO SCROLL CURSOR FOR SELECT ${columns} FROM ${from} OFFSET ${skip}`,
  );
  try {
    for (let rows = FIRST_ROWS; ; ) {
      const fetched = await sql.all<TransferRecord>(`FETCH ${rows} FROM transfer`);
      if (fetched.length === 0) return;
      const page = new TransferPage();
      for (const record of await toRecords(sql, kind, fetched)) page.add(record);
      yield page.records;
      if (page.records.length < PAGE_RECORDS) rows = page.isFull ? FIRST_ROWS : rows * 2;
      rows = Math.min(rows, PAGE_RECORDS);
    }
  } finally {
    // A transaction that has failed has no cursor any more.
    await sql.run("CLOSE transfer").catch(() => {});
  }
}

async function toRecords(
  sql: Sql,
  kind: RecordKind,
  rows: readonly TransferRecord[],
): Promise<readonly TransferRecord[]> {
  if (kind === "work") return await withIdsAsPlaces(sql, rows);
  if (kind === "receipt") {
    return rows.map(({ body, ...rest }) => ({ ...rest, body: new Uint8Array(bytesOf(body)) }));
  }
  if (kind === "blob") {
    return rows.map(({ data, ...rest }) => ({ ...rest, data: new Uint8Array(bytesOf(data)) }));
  }
  if (kind !== "vector") return rows;
  return rows.map(({ embedding, ...rest }) => {
    return { ...rest, embedding: vectorCell(readVector(bytesOf(embedding))) };
  });
}

async function withIdsAsPlaces(
  sql: Sql,
  rows: readonly TransferRecord[],
): Promise<readonly TransferRecord[]> {
  return await Promise.all(
    rows.map(async ({ owner = null, ...row }) => {
      const ids = new Map<Value, Value>();
      withPlaces(row, (place) => {
        ids.set(place, null);
        return place;
      });
      for (const place of ids.keys()) {
        const newest = await sql.get<{ id: string }>(
          "SELECT id FROM nodes WHERE owner = $1::bigint AND key <= $2 ORDER BY key DESC LIMIT 1",
          owner,
          place,
        );
        ids.set(place, newest?.id ?? null);
      }
      return withPlaces(row, (place) => ids.get(place) ?? null);
    }),
  );
}

/** The keys of nodes or events by their ids. */
export async function keysById(
  sql: Sql,
  table: "nodes" | "events",
  ids: Iterable<Cell | undefined>,
): Promise<ReadonlyMap<Cell, { readonly owner: string; readonly key: number }>> {
  const wanted = new Set<string>();
  for (const id of ids) if (typeof id === "string" && parseUuid(id) === id) wanted.add(id);
  if (wanted.size === 0) return new Map();
  const rows = await sql.all<{ id: string; owner: string; key: number }>(
    `SELECT id, owner, key FROM ${table} WHERE id = ANY ($1::uuid[])`,
    listText(wanted),
  );
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}
