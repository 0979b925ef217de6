import type { StoreInspection } from "../../../ports/store/store.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { inspectContents, PENDING } from "../../sql/inspect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { requireManifest } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { readTablesVersion } from "../schema/migrate.ts";
import { readPartitions } from "../schema/partitions.ts";
import { HAS_DOCUMENT, HAS_VECTOR } from "../search/index-writes.ts";
import { HAS_TEXT, HAS_WORDS } from "../search/word-changes.ts";

/** The properties of a database, like those of a pack. */
export type DatabaseInspection = StoreInspection & {
  /** Size of the whole database. */
  readonly bytes: number;
  /** The version of TLS of this connection, such as `TLSv1.3`; undefined without TLS. */
  readonly tls: string | undefined;
};

/** Whether a job will write a node `n`, as SQL. */
const IS_COMING = `EXISTS (SELECT 1 FROM work w WHERE w.owner = n.owner AND w.${PENDING}
  AND w.event_id::text = n.evidence_refs::json ->> 0)`;

const COUNTS = `SELECT
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition)::float8 AS "tableCount",
  (SELECT count(*) FROM vectors)::float8 AS "vectorCount",
  (SELECT coalesce(sum(lexical_documents), 0) FROM owners)::float8 AS "lexicalCount",
  (SELECT count(*) FROM nodes n WHERE n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT} AND NOT ${IS_COMING}
     AND NOT ${HAS_VECTOR})::float8 AS "withoutVector",
  (SELECT count(*) FROM nodes n WHERE ${HAS_WORDS} AND NOT ${IS_COMING}
     AND NOT ${HAS_DOCUMENT})::float8 AS "withoutLexical",
  pg_database_size(current_database())::float8 AS bytes`;

type Counts = Pick<
  DatabaseInspection,
  "tableCount" | "vectorCount" | "lexicalCount" | "withoutVector" | "withoutLexical" | "bytes"
>;

/** The version of TLS of this connection, as the server sees it. */
async function tlsOf(sql: Sql): Promise<string | undefined> {
  const row = await sql.get<{ version: string | null }>(
    "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl",
  );
  return row?.version ?? undefined;
}

/** Examines a database without changing it. @param sql a snapshot */
export async function inspectDatabase(sql: Sql): Promise<DatabaseInspection> {
  const [counts] = await sql.all<Counts>(COUNTS);
  if (counts === undefined) throw new TypeError("a statement without FROM has a row");
  return {
    ...counts,
    ...(await run(sql, inspectContents())),
    manifest: await run(sql, requireManifest()),
    begunModel: await run(sql, begunModel()),
    tablesVersion: await readTablesVersion(sql),
    tls: await tlsOf(sql),
    partitions: await readPartitions(sql),
  };
}
