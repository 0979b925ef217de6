import { sqlList } from "../../sql/dialect.ts";
import { quoted } from "../connection/open-connection.ts";
import type { Sql } from "../connection/sql.ts";

/** Indexes by which records that are taken find others. */
const NEEDED = ["nodes_by_id", "events_by_id", "nodes_in_session", "work_by_event"];

/**
 * Removes the indexes that nothing asks while a database is filled: made at once, when all rows are there, they take a part of the
 * time. Runs inside a transaction.
 * @returns the statements that make them again
 */
export async function dropIndexes(sql: Sql): Promise<readonly string[]> {
  const found = await sql.all<{ name: string; made: string }>(
    `SELECT c.relname::text AS name, pg_get_indexdef(c.oid) AS made
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r' AND NOT t.relispartition
       AND NOT i.indisunique AND c.relname NOT IN ${sqlList(NEEDED)} ORDER BY name`,
  );
  for (const { name } of found) await sql.run(`DROP INDEX ${quoted(name)}`);
  return found.map(({ made }) => made);
}
