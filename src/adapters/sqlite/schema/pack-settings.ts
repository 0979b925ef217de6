import type { Database } from "bun:sqlite";
import { ask, hasTable } from "../connection/ask.ts";

// Checked in every write: an existing table stays.
const withTable = new WeakSet<Database>();

/** A value of the pack; undefined if there is none, and in incomplete packs. */
export function readPackSetting(database: Database, name: string): string | undefined {
  if (!withTable.has(database)) {
    if (!hasTable(database, "pack_settings")) return undefined;
    if (!database.inTransaction) withTable.add(database);
  }
  return ask<string>(database, "SELECT value FROM pack_settings WHERE name = ?", name);
}

/** Stores a value of the pack; undefined removes it. Runs inside a write transaction. */
export function writePackSetting(
  database: Database,
  name: string,
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
