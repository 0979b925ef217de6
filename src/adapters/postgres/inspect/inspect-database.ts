import { asInstant } from "../../../lib/instant.ts";
import type { StoreInspection } from "../../../ports/store/store.ts";
import { inspectBlobs } from "../../sql/blobs.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { readPackOwner } from "../../sql/owners.ts";
import { requireManifest } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { begunModel } from "../rebuild/rebuild-state.ts";
import { readTablesVersion } from "../schema/migrate.ts";
import { readPartitions } from "../schema/partitions.ts";
import { HAS_TEXT, HAS_WORDS } from "../search/turns.ts";
import { HAS_DOCUMENT } from "../work/indexed.ts";
import { inspectExtraction } from "./inspect-extraction.ts";

/** What a database says about itself, as a pack does. */
export type DatabaseInspection = StoreInspection & {
  /** Of the database with everything in it. */
  readonly bytes: number;
  /** The version of TLS of this connection, such as `TLSv1.3`; undefined without TLS. */
  readonly tls: string | undefined;
};

const PENDING = "kind = 'materialization' AND status = 'pending'";
/** Whether a job will write a node `n`, as SQL. */
const IS_COMING = `EXISTS (SELECT 1 FROM work w WHERE w.owner = n.owner AND w.${PENDING}
  AND w.event_id::text = n.evidence_refs::json ->> 0)`;

const COUNTS = `SELECT
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition)::float8 AS "tableCount",
  (SELECT count(*) FROM nodes)::float8 AS "nodeCount",
  (SELECT count(*) FROM nodes WHERE lifecycle_state IN ${ACTIVE})::float8 AS "activeCount",
  (SELECT count(*) FROM edges)::float8 AS "edgeCount",
  (SELECT count(*) FROM events)::float8 AS "eventCount",
  (SELECT count(*) FROM owners)::float8 AS "ownerCount",
  (SELECT count(*) FROM vectors)::float8 AS "vectorCount",
  (SELECT coalesce(sum(lexical_documents), 0) FROM owners)::float8 AS "lexicalCount",
  (SELECT count(*) FROM work WHERE ${PENDING})::float8 AS "pendingJobs",
  (SELECT count(*) FROM work WHERE ${PENDING} AND last_error IS NOT NULL)::float8 AS "failedJobs",
  (SELECT count(*) FROM nodes n WHERE n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT} AND NOT ${IS_COMING}
     AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.owner = n.owner AND v.key = n.key))::float8 AS "withoutVector",
  (SELECT count(*) FROM nodes n WHERE ${HAS_WORDS} AND NOT ${IS_COMING}
     AND NOT ${HAS_DOCUMENT})::float8 AS "withoutLexical",
  greatest((SELECT max(updated_at) FROM nodes), (SELECT max(timestamp) FROM events)) AS "lastModified",
  pg_database_size(current_database())::float8 AS bytes`;

const RECEIPTS = `SELECT count(*)::float8 AS count, coalesce(sum(octet_length(body)), 0)::float8 AS bytes
  FROM receipts`;

type Counts = Omit<
  DatabaseInspection,
  | "manifest"
  | "begunModel"
  | "tablesVersion"
  | "partitions"
  | "owner"
  | "blobs"
  | "receipts"
  | "extraction"
  | "failingWork"
  | "lastModified"
  | "tls"
> & { readonly lastModified: string | null };

/** The version of TLS of this connection, as the server sees it. */
async function tlsOf(sql: Sql): Promise<string | undefined> {
  const row = await sql.get<{ version: string | null }>(
    "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl",
  );
  return row?.version ?? undefined;
}

/** Looks into a database without changing it. @param sql a snapshot */
export async function inspectDatabase(sql: Sql): Promise<DatabaseInspection> {
  const [counts] = await sql.all<Counts>(COUNTS);
  if (counts === undefined) throw new TypeError("a statement without FROM has a row");
  const { lastModified } = counts;
  return {
    ...counts,
    lastModified: lastModified === null ? undefined : asInstant(lastModified),
    manifest: await run(sql, requireManifest()),
    begunModel: await begunModel(sql),
    tablesVersion: await readTablesVersion(sql),
    tls: await tlsOf(sql),
    partitions: await readPartitions(sql),
    owner: await run(sql, readPackOwner()),
    blobs: await run(sql, inspectBlobs()),
    receipts: (await sql.get<DatabaseInspection["receipts"]>(RECEIPTS)) ?? { count: 0, bytes: 0 },
    extraction: await inspectExtraction(sql),
    failingWork: await sql.all(
      `SELECT kind, max(attempts) AS attempts, max(last_error) AS "lastError" FROM work
       WHERE subject = 0 AND last_error IS NOT NULL GROUP BY kind ORDER BY kind`,
    ),
  };
}
