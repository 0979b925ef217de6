import { invalid, SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import {
  bytesOf,
  PAGE_RECORDS,
  type RecordKind,
  TransferPage,
  type TransferRecord,
} from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Manifest, TransferSource, TransferTarget } from "../../../ports/store/store.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { requireManifest } from "../../sql/settings.ts";
import { type PutVectors, readOf, toRecords, writeRecords } from "../../sql/transfer.ts";
import { readVector } from "../connection/insert-many.ts";
import { hasWall, setWall } from "../connection/row-security.ts";
import { native, run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { migrate } from "../schema/migrate.ts";
import { readPartitions } from "../schema/partitions.ts";
import { rewriteDocuments } from "../search/rewrite-documents.ts";
import { putVectors } from "../search/write-vectors.ts";
import { DATABASE_TABLES } from "./record-tables.ts";
import {
  beginTransfer,
  emptyDatabase,
  noteTaken,
  type TransferState,
  unfence,
} from "./transfer-state.ts";

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

type RecordTargetOptions = {
  readonly database: Database;
  /** Names the database in errors. */
  readonly place: string;
  readonly manifest: Manifest;
  /** `TransferSource.state`. */
  readonly state: string;
  /** For new tables; see `SetUp`. */
  readonly partitions?: number | undefined;
  /** An id of this attempt. */
  readonly run: string;
  readonly now: Instant;
};

/** Records that refer to events or nodes: without statistics the server would plan lookups as for empty tables. */
const NAMING: ReadonlySet<RecordKind> = new Set(["operation", "work", "vector"]);

/** Documents indexed per transaction. */
const DOCUMENTS_A_STEP = 1024;
/** The next owner with texts to index. */
const NEXT = `SELECT user_id AS "userId" FROM owners
  WHERE $1::bigint IS NULL OR owner > $1::bigint OR (owner = $1::bigint AND $2) ORDER BY owner LIMIT 1`;

/**
 * Claims a database for incoming records: an empty one, or one partly filled by a transfer from the same source, which continues. If the
 * source has changed since, it starts over. Until `index` has ended, no store opens the database.
 * @throws SvcError invalid_argument for a database that holds something else; storage_busy; and what `migrate` throws
 */
export async function openRecordTarget(options: RecordTargetOptions): Promise<TransferTarget> {
  const { database, place, manifest, now } = options;
  let state = await claim(options);
  let isPlanned = false;
  const change = async (next: TransferState, work: Parameters<Database["writeAny"]>[0]) => {
    await database.writeAny(async (sql) => {
      await noteTaken(sql, next);
      await work(sql);
    });
    state = next;
  };
  const put: PutVectors = (owner, entries) =>
    native((sql) => putVectors(sql, String(owner), entries, manifest.embedding));
  return {
    taken: (kind) => (state.isDone ? Number.POSITIVE_INFINITY : (state.taken[kind] ?? 0)),
    take: async (kind, records) => {
      const taken = { ...state.taken, [kind]: (state.taken[kind] ?? 0) + records.length };
      await change({ ...state, taken }, async (sql) => {
        if (!isPlanned && NAMING.has(kind)) await sql.run("ANALYZE events, nodes");
        isPlanned ||= NAMING.has(kind);
        await run(sql, writeRecords(kind, records, put));
      });
    },
    index: async (onProgress, signal) => {
      if (state.isDone) return;
      for (let done = 0; ; ) {
        const written = await indexNext(signal);
        if (written === undefined) break;
        done += written;
        onProgress(done);
        signal.throwIfAborted();
      }
      const { indexes = [], ...rest } = state;
      await change(rest, async (sql) => {
        for (const make of indexes) await sql.run(make);
        await sql.run(`ANALYZE ${Object.keys(DATABASE_TABLES).join(", ")}`);
      });
    },
    open: async () => {
      if (!state.isDone) await change({ ...state, isDone: true }, unfence);
    },
  };

  /** Indexes the next texts. @returns how many; undefined when done */
  async function indexNext(signal: AbortSignal): Promise<number | undefined> {
    const { owner: last = null, key } = state.indexed ?? {};
    const found = await database.read(ALL_OWNERS, (sql) =>
      sql.get<{ userId: string }>(NEXT, last, key !== undefined),
    );
    if (found === undefined) return undefined;
    const owner = ownerKey(found.userId);
    const after = owner === last ? (key ?? 0) : 0;
    const step = { after, limit: DOCUMENTS_A_STEP, signal };
    return await database.write(found.userId, async (sql) => {
      const { written, cursor, hasMore } = await rewriteDocuments(sql, owner, step);
      const next = { ...state, indexed: { owner, ...(hasMore && { key: cursor }) } };
      await noteTaken(sql, next);
      state = next;
      return written;
    });
  }

  async function claim({ state: source, run }: RecordTargetOptions): Promise<TransferState> {
    const { softwareVersion, embedding, scoringVersion } = manifest;
    let isWalled = false;
    // Recreated tables keep their properties.
    const partitions = options.partitions ?? (await database.read(ALL_OWNERS, readPartitions));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const tables = {
        softwareVersion,
        embedding,
        scoringVersion,
        createIfMissing: true,
        partitions,
        now,
      };
      await migrate(database, place, tables);
      if (isWalled) await setWall(database, true, place);
      isWalled = await hasWall(database);
      const begun = await database.writeAny(async (sql) => {
        const known = await beginTransfer(sql, place, { manifest, state: source, run });
        if (known === undefined) await emptyDatabase(sql);
        return known;
      });
      if (begun !== undefined) return begun;
    }
    throw new SvcError("internal", `${place}: was emptied and is not empty`);
  }
}
