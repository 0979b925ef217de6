import type { Database } from "bun:sqlite";
import { hasTable } from "./migrate.ts";

/** The names under which a pack stores facts about itself. */
export type PackSetting = string;

// Checked in every write: an existing table stays.
const withTable = new WeakSet<Database>();

/** A value of the pack; undefined if there is none, and in a pack of an earlier version that is only read. */
export function readPackSetting(database: Database, name: PackSetting): string | undefined {
  if (!withTable.has(database)) {
    if (!hasTable(database, "pack_settings")) return undefined;
    if (!database.inTransaction) withTable.add(database);
  }
  const row = database
    .query<{ value: string }, [string]>("SELECT value FROM pack_settings WHERE name = ?")
    .get(name);
  return row?.value;
}

/** Stores a value of the pack; undefined removes it. Runs inside a write transaction. */
export function writePackSetting(
  database: Database,
  name: PackSetting,
  value: string | undefined,
): void {
  if (value === undefined) {
    database.query("DELETE FROM pack_settings WHERE name = ?").run(name);
  } else {
    database
      .query("INSERT OR REPLACE INTO pack_settings (name, value) VALUES (?, ?)")
      .run(name, value);
  }
}
