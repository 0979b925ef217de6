import {
  type NamespaceIdentity,
  requireIdentity,
  workspaceDamaged,
} from "../../../domain/owner.ts";
import { readNamespace } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { DATABASE_TABLES } from "../transfer/record-tables.ts";

/** Advice for a workspace whose tables or registry are missing. */
export const RESTORE = "restore the database from a backup";

/** Checks that a schema has all tables, and belongs to the expected namespace. @throws SvcError namespace_mismatch, workspace_damaged */
export async function requireNamespace(
  sql: Sql,
  place: string,
  expected: NamespaceIdentity,
): Promise<void> {
  const rows = await sql.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')`,
  );
  const there = new Set(rows.map(({ name }) => name));
  // Missing tables would be looked up in other schemas.
  const lost = Object.keys(DATABASE_TABLES).find((name) => !there.has(name));
  if (lost !== undefined)
    throw workspaceDamaged(place, `lacks the table ${lost}`, { advice: RESTORE });
  requireIdentity(await run(sql, readNamespace()), expected, {
    place,
    advice: "check that schemas or names were not exchanged",
  });
}
