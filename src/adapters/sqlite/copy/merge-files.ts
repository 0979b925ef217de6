import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { type AttachedFile, columnsOf, kindOf, quoted } from "./compare.ts";

type Definition = { readonly type: string; readonly name: string; readonly sql: string };

/**
 * Copies the content of one attached file into another: tables, indexes and triggers, and the rows of virtual tables through the
 * virtual tables themselves, because SQLite does not allow writing to the tables behind them. Keys stay the same. Runs inside a
 * transaction, with foreign keys off, so that the order of the tables does not matter.
 * @returns the tables whose rows were copied
 */
export function mergeFile(database: Database, from: string, into: string): readonly string[] {
  const source: AttachedFile = { database, schema: from };
  const definitions = readDefinitions(source);
  const make = ({ sql }: Definition): void => void database.run(inFile(sql, into));
  const isVirtual = ({ name }: Definition): boolean => kindOf(source, name) === "virtual";
  const tables = definitions.filter(({ type }) => type === "table");
  const virtual = tables.filter(isVirtual);
  virtual.forEach(make);
  // Creating a virtual table creates those behind it. SQLite does not recognise all of them by name.
  const made = new Set(readDefinitions({ database, schema: into }).map(({ name }) => name));
  const ordinary = tables.filter(({ name }) => !made.has(name));
  ordinary.forEach(make);
  // Before the rows: filling an index is cheaper than sorting all keys in memory.
  definitions.filter(({ type }) => type === "index").forEach(make);
  const copied = [...ordinary, ...virtual].map(({ name }) => name);
  for (const name of copied) copyRows(source, into, name);
  // After the rows, since some triggers forbid writing.
  definitions.filter(({ type }) => type !== "table" && type !== "index").forEach(make);
  return copied;
}

function readDefinitions({ database, schema }: AttachedFile): readonly Definition[] {
  return database
    .query<Definition, []>(
      `SELECT type, name, sql FROM ${schema}.sqlite_schema
       WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid`,
    )
    .all();
}

/** By the names of the columns: some tables have hidden ones, which are not data. */
function copyRows(source: AttachedFile, into: string, table: string): void {
  const name = quoted(table);
  const columns = columnsOf(source, table).map(quoted).join(", ");
  source.database.run(
    `INSERT INTO ${into}.${name} (${columns}) SELECT ${columns} FROM ${source.schema}.${name}`,
  );
}

/** The same statement for another file. SQLite stores statements without the name of their file. */
function inFile(sql: string, schema: string): string {
  const made = sql.replace(
    /^(CREATE\s+(?:VIRTUAL\s+TABLE|TABLE|UNIQUE\s+INDEX|INDEX|TRIGGER|VIEW)\s+)/i,
    `$1${schema}.`,
  );
  if (made === sql) throw new SvcError("internal", "a pack holds something of an unknown kind");
  return made;
}
