import { sqlList } from "../../sql/dialect.ts";
import type { Sql } from "../connection/sql.ts";
import { DATABASE_TABLES } from "../transfer/record-tables.ts";

/** The health of a database and its server. */
export type DatabaseHealth = {
  /** As reported by the server, such as `18.6`. */
  readonly version: string;
  /** 180006 of 18.6. */
  readonly versionNumber: number;
  readonly vectorVersion: string | undefined;
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  readonly isStandby: boolean;
  /** Tables that this user may not read, or not write. */
  readonly lackingRights: readonly string[];
  /** Tables with row-level security in force for this user. */
  readonly securedTables: readonly string[];
  /** Unusable indexes: unfinished or broken. */
  readonly invalidIndexes: readonly string[];
  /** Owners whose counters differ from their rows. */
  readonly miscounted: readonly string[];
};

/** The privileges that `svc` needs on its tables. */
const RIGHTS = "SELECT, INSERT";

/** @param sql reads @param nowMs this machine's time in milliseconds, read before and after */
export async function readHealth(sql: Sql, nowMs: () => number): Promise<DatabaseHealth> {
  const before = nowMs();
  const server = await sql.get<{
    version: string;
    number: number;
    vector: string | null;
    now: number;
    standby: boolean;
  }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, pg_is_in_recovery() AS standby`,
  );
  const middle = (before + nowMs()) / 2;
  return {
    version: server?.version ?? "",
    versionNumber: server?.number ?? 0,
    vectorVersion: server?.vector ?? undefined,
    clockAheadMs: (server?.now ?? middle) - middle,
    isStandby: server?.standby ?? false,
    lackingRights: await tablesWhere(sql, `NOT (${rightsOn("c.oid")})`),
    securedTables: await tablesWhere(sql, "row_security_active(c.oid)"),
    invalidIndexes: await invalidIndexes(sql),
    miscounted: await miscounted(sql),
  };
}

function rightsOn(table: string): string {
  return RIGHTS.split(", ")
    .map((right) => `has_table_privilege(${table}, '${right}')`)
    .join(" AND ");
}

/** Those of our tables that satisfy a condition on `c`. */
async function tablesWhere(sql: Sql, condition: string): Promise<readonly string[]> {
  const rows = await sql.all<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
       AND c.relname IN ${sqlList(Object.keys(DATABASE_TABLES))} AND c.relkind IN ('r', 'p') AND ${condition} ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function invalidIndexes(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.all<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND NOT (i.indisvalid AND i.indisready) ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Owners named at most. */
const NAMED = 5;

/** Keys are unique, and the word index has as many documents as its owner's row says. */
async function miscounted(sql: Sql): Promise<readonly string[]> {
  const table = await sql.get<{ found: boolean }>(
    "SELECT to_regclass('owners') IS NOT NULL AS found",
  );
  if (table?.found !== true) return [];
  const rows = await sql.all<{ user_id: string }>(
    `SELECT o.user_id FROM owners o
     WHERE o.next_key <= coalesce((SELECT max(key) FROM nodes n WHERE n.owner = o.owner), 0)
       OR o.next_event <= coalesce((SELECT max(key) FROM events e WHERE e.owner = o.owner), 0)
       OR o.lexical_documents > (SELECT count(*) FROM nodes n WHERE n.owner = o.owner)
     ORDER BY o.user_id LIMIT ${NAMED}`,
  );
  return rows.map(({ user_id: userId }) => userId);
}
