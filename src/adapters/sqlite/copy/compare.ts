import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { SvcError } from "../../../domain/errors.ts";
import { ask, countRows } from "../connection/ask.ts";

/** A part of a connection: the name of an attached file, `main` for the first. */
export type AttachedFile = { readonly database: Database; readonly schema: string };

/**
 * Compares a copy of one file with its original: the same tables, indexes and triggers, and the same number of rows in each
 * table, including those of the search indexes; and every page of the copy is intact.
 * @throws SvcError storage_failed naming the difference
 */
export function requireSameShape(original: AttachedFile, copy: AttachedFile, path: string): void {
  if (definitions(original) !== definitions(copy)) throw differs(path, "its tables differ");
  for (const table of tablesOf(original)) {
    const [wanted, found] = [original, copy].map(({ database, schema }) =>
      countRows(database, `${schema}.${quoted(table)}`),
    );
    if (wanted !== found) throw differs(path, `${table} has ${found} of ${wanted} rows`);
  }
  for (const pragma of ["application_id", "user_version", "page_size"]) {
    if (readPragma(original, pragma) !== readPragma(copy, pragma)) {
      throw differs(path, `its ${pragma} differs`);
    }
  }
  requireSound(copy, path);
}

/** @throws SvcError storage_failed if a page or an index of the copy is damaged */
export function requireSound({ database, schema }: AttachedFile, path: string): void {
  const first = ask(database, `PRAGMA ${schema}.integrity_check(1)`);
  if (first !== "ok") throw differs(path, "it is not sound");
}

/**
 * Compares all rows of a table with those of its copy, in key order.
 * @throws SvcError storage_failed naming the table
 */
export function requireSameRows(
  original: AttachedFile,
  copy: AttachedFile,
  table: string,
  path: string,
): void {
  const [wanted, found] = [original, copy].map((part) => hashRows(part, table));
  if (wanted?.rows !== found?.rows) {
    throw differs(path, `${table} has ${found?.rows} of ${wanted?.rows} rows`);
  }
  if (wanted?.sha256 !== found?.sha256) throw differs(path, `the content of ${table} differs`);
}

/**
 * The number of rows of a table and a SHA-256 over all of them: in key order, or, for a virtual table, which has no keys, the XOR over its
 * rows.
 * @param key what to order by, as SQL
 */
export function hashRows(
  part: AttachedFile,
  table: string,
  key = keyOf(part, table),
): { readonly rows: number; readonly sha256: string } {
  const isVirtual = kindOf(part, table) === "virtual";
  const columns = columnsOf(part, table).map(quoted).join(", ");
  const order = isVirtual ? "" : `ORDER BY ${key}`;
  const statement = part.database.query<Record<string, unknown>, []>(
    `SELECT ${columns} FROM ${part.schema}.${quoted(table)} ${order}`,
  );
  const whole = createHash("sha256");
  const mixed = Buffer.alloc(32);
  let rows = 0;
  for (const row of statement.iterate()) {
    rows += 1;
    const hash = isVirtual ? createHash("sha256") : whole;
    for (const value of Object.values(row)) addValue(hash, value);
    if (isVirtual)
      hash.digest().forEach((byte, i) => void mixed.writeUInt8((mixed[i] ?? 0) ^ byte, i));
  }
  return { rows, sha256: isVirtual ? mixed.toString("hex") : whole.digest("hex") };
}

function addValue(hash: ReturnType<typeof createHash>, value: unknown): void {
  if (value instanceof Uint8Array) hash.update(`b${value.byteLength}:`).update(value);
  else {
    const text = String(value);
    // Length and type first, so that characters cannot move between adjacent values.
    hash.update(`${value === null ? "n" : typeof value}${Buffer.byteLength(text)}:`).update(text);
  }
}

/** Names of the tables that have their own pages, including those behind virtual tables. */
export function tablesOf({ database, schema }: AttachedFile): readonly string[] {
  return database
    .query<{ name: string }, []>(
      `SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name`,
    )
    .all()
    .map(({ name }) => name);
}

/** The kind of a table in the schema: `shadow` for a table behind a virtual one. */
export function kindOf({ database, schema }: AttachedFile, table: string): string | undefined {
  const sql = "SELECT type FROM pragma_table_list WHERE schema = ? AND name = ?";
  return ask<string>(database, sql, schema, table);
}

/** The names of a table's columns in order, without hidden ones. */
export function columnsOf({ database, schema }: AttachedFile, table: string): readonly string[] {
  return database
    .query<{ name: string }, [string, string]>("SELECT name FROM pragma_table_info(?, ?)")
    .all(table, schema)
    .map(({ name }) => name);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function keyOf({ database, schema }: AttachedFile, table: string): string {
  const columns = database
    .query<{ name: string }, [string, string]>(
      "SELECT name FROM pragma_table_info(?, ?) WHERE pk > 0 ORDER BY pk",
    )
    .all(table, schema);
  return columns.length === 0 ? "_rowid_" : columns.map(({ name }) => quoted(name)).join(", ");
}

function definitions({ database, schema }: AttachedFile): string {
  return JSON.stringify(
    database
      .query(
        `SELECT type, name, tbl_name, sql FROM ${schema}.sqlite_schema ORDER BY type, name, tbl_name`,
      )
      .values(),
  );
}

function readPragma({ database, schema }: AttachedFile, name: string): unknown {
  return ask(database, `PRAGMA ${schema}.${name}`);
}

function differs(path: string, what: string): SvcError {
  return new SvcError(
    "storage_failed",
    `${path}: the copy differs from the original (${what}); the original stays as it is. Run: svc doctor ${path}`,
    { path },
  );
}
