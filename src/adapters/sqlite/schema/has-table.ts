import type { Database } from "bun:sqlite";
import { hasRow } from "../connection/ask.ts";

/** Whether a file of a pack has a table: a pack opened for reading may be of an earlier version. */
export function hasTable(database: Database, name: string, schema = "main"): boolean {
  return hasRow(database, `${schema}.sqlite_schema WHERE type = 'table' AND name = ?`, name);
}
