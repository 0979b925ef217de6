import type { Database } from "bun:sqlite";

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
