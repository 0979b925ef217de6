import type { Database } from "bun:sqlite";
import { hasRow } from "../connection/ask.ts";

/** Whether a file of a pack has a table: the pack may be incomplete, or the file another program's. */
export function hasTable(database: Database, name: string, schema = "main"): boolean {
  return hasRow(database, `${schema}.sqlite_schema WHERE type = 'table' AND name = ?`, name);
}
