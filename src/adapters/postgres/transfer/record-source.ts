import { invalid, SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import {
  bytesOf,
  PAGE_RECORDS,
  type RecordKind,
  TransferPage,
  type TransferRecord,
} from "../../../domain/records/rows.ts";
import type { TransferSource } from "../../../ports/store/store.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { requireManifest } from "../../sql/settings.ts";
import { readOf, toRecords } from "../../sql/transfer.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { readVector } from "../connection/values.ts";

const VECTORS = [
  "o.user_id, n.id AS node_id, coalesce(v.content_hash, '') AS content_hash, vector_send(n.embedding) AS embedding",
  `nodes n LEFT JOIN vectors v ON n.owner = v.owner AND n.key = v.key JOIN owners o ON o.owner = n.owner
    WHERE n.embedding IS NOT NULL AND (v.key IS NOT NULL OR n.lifecycle_state NOT IN ${ACTIVE})`,
  "n.owner, n.key",
] as const;
const sqlOf = (kind: RecordKind): ReturnType<typeof readOf> => readOf(POSTGRES, kind, VECTORS);
const ownVector = ({ embedding }: TransferRecord): Float32Array => readVector(bytesOf(embedding));

/**
 * Calls `use` once with a snapshot of a database; others may go on writing.
 * @throws SvcError invalid_argument while a rebuild has begun; storage_unavailable; and what `use` throws
 */
export async function withRecordSource<T>(
  database: Database,
  place: string,
  use: (source: TransferSource) => Promise<T>,
): Promise<T> {
  let isUsed = false;
  return await database.snapshot(ALL_OWNERS, async (sql) => {
    // A lost snapshot cannot be continued by another one.
    if (isUsed) throw lost(place);
    isUsed = true;
    // While the other store indexes, nothing is requested here.
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
  return (await sql.get<{ count: number }>(sqlOf(kind).count))?.count ?? 0;
}

/** Rows fetched at once initially; texts may be long. */
const FIRST_ROWS = 20;

async function* readPages(
  sql: Sql,
  kind: RecordKind,
  skip: number,
): AsyncGenerator<readonly TransferRecord[]> {
  await sql.run(`DECLARE transfer NO SCROLL CURSOR FOR ${sqlOf(kind).rows} OFFSET ${skip}`);
  try {
    for (let rows = FIRST_ROWS; ; ) {
      const fetched = await sql.all<TransferRecord>(`FETCH ${rows} FROM transfer`);
      if (fetched.length === 0) return;
      const page = new TransferPage();
      for (const record of await run(sql, toRecords(kind, fetched, ownVector))) page.add(record);
      yield page.records;
      if (page.records.length < PAGE_RECORDS) rows = page.isFull ? FIRST_ROWS : rows * 2;
      rows = Math.min(rows, PAGE_RECORDS);
    }
  } finally {
    // A transaction that has failed has no cursor any more.
    await sql.run("CLOSE transfer").catch(() => {});
  }
}
