import type { Database } from "bun:sqlite";
import { type AllOwners, isEverybody, type Owner } from "../../../domain/owner.ts";

export type Parameter = string | number | null | Float64Array;

/** The first value of the first row, by a statement prepared once; undefined without a row, and for null. */
export function ask<T = unknown>(
  database: Database,
  sql: string,
  ...parameters: readonly Parameter[]
): T | undefined {
  // SAFETY: the caller states the type of the column.
  return (database.query(sql).values(...parameters)[0]?.[0] ?? undefined) as T | undefined;
}

/** The number of rows. @param from what follows FROM */
export function countRows(database: Database, from: string, ...parameters: Parameter[]): number {
  return ask<number>(database, `SELECT count(*) FROM ${from}`, ...parameters) ?? 0;
}

/** Whether there is a row. @param from what follows FROM */
export function hasRow(database: Database, from: string, ...parameters: Parameter[]): boolean {
  return ask(database, `SELECT 1 FROM ${from} LIMIT 1`, ...parameters) !== undefined;
}

/** Checkpoints a log. `NOOP`: only checks. @returns whether all of it is in the file */
export function checkpoint(
  database: Database,
  schema: string,
  mode: "PASSIVE" | "TRUNCATE" | "NOOP",
): boolean {
  const row = database
    .query<{ busy: number; log: number; checkpointed: number }, []>(
      `PRAGMA ${schema}.wal_checkpoint(${mode})`,
    )
    .get();
  return row?.busy === 0 && row.log === row.checkpointed;
}

/** The main file of a connection, without links. */
export function mainFileOf(database: Database): string {
  return ask<string>(database, "SELECT file FROM pragma_database_list WHERE name = 'main'") ?? "";
}

/** Whether a file of a pack has a table: the pack may be incomplete, or the file another program's. */
export function hasTable(database: Database, name: string, schema = "main"): boolean {
  return hasRow(database, `${schema}.sqlite_schema WHERE type = 'table' AND name = ?`, name);
}

/** The integer key of a user id; undefined for an owner without data. */
export function ownerKey(database: Database, userId: string): number | undefined {
  return ask<number>(database, "SELECT owner FROM owners WHERE user_id = ?", userId);
}

/** Like `ownerKey`; "all owners" stays as it is. */
export function ownerKeyOrAll(database: Database, owner: Owner): number | AllOwners | undefined {
  return isEverybody(owner) ? owner : ownerKey(database, owner);
}

/** The user id for a comparison; null for all owners. */
export function userIdOf(owner: Owner): string | null {
  return isEverybody(owner) ? null : owner;
}

/**
 * Marks all files of a directory pack as part of the same change. A single file is always consistent with itself. Runs inside a write
 * transaction.
 */
export function advanceIndexSequence(database: Database): void {
  if (!hasRow(database, "pragma_database_list WHERE name = 'vector_file'")) return;
  database.query("UPDATE index_sequence SET value = value + 1").run();
  for (const table of ["vectors_sequence", "lexical_sequence"]) {
    database.query(`UPDATE ${table} SET value = (SELECT value FROM index_sequence)`).run();
  }
}
