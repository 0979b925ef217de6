import type { Database } from "bun:sqlite";
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { invalid, SvcError } from "../../../domain/errors.ts";
import type { Instant } from "../../../lib/instant.ts";
import { syncToDisk } from "../../native/system-files.ts";
import { readManifest } from "../../sql/settings.ts";
import { countRows } from "../connection/ask.ts";
import { openAlone, openExclusively, type WholePack } from "../connection/exclusive.ts";
import { toSvcError } from "../connection/failures.ts";
import { filesOf, type PackLayout, schemasOf } from "../connection/layout.ts";
import { turnToLog } from "../connection/open-database.ts";
import { readMark, writeMark } from "../connection/own-log.ts";
import { run } from "../connection/run.ts";
import { requireReadable } from "../schema/migrate.ts";
import { reconcileIndexes } from "../write/reconcile.ts";
import {
  type AttachedFile,
  columnsOf,
  kindOf,
  quoted,
  requireSameRows,
  requireSound,
  tablesOf,
} from "./compare.ts";
import { type CopyKey, copyFile, withCopyName } from "./copy-pack.ts";
import { interruptible, requireFree, sizeOf, usedBytes, withCleanup } from "./rewrite-pack.ts";
import { createHidden, discard, hiddenBeside, publishFile, removeLeftovers } from "./swap-files.ts";

export type MigrateInput = WholePack & {
  readonly layout: Extract<PackLayout, { kind: "directory" }>;
  /** Absolute path of the new pack, ending in `.pack`. */
  readonly destination: string;
  /** The key of the new pack; undefined: unencrypted. */
  readonly destinationKey: CopyKey | undefined;
  readonly now: Instant;
};

/** What was copied; counts are of the new pack. */
export type Migrated = {
  readonly nodes: number;
  readonly edges: number;
  readonly events: number;
  readonly vectors: number;
  /** Of all files of the directory pack. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
};

/** The word index keeps no text to reindex, so the new pack starts as a copy of its file. */
const BASE = "lexical_file";
const MERGED = ["main", "vector_file"] as const;

/** A table of the directory pack whose rows are in the copy under the same name. */
type Copied = { readonly schema: string; readonly table: string };

/**
 * Copies a directory pack into a new single file, which appears under its name once it is complete and compared with the original
 * row by row. The directory stays as it is.
 * @throws SvcError invalid_argument if the name is taken or unfit; pack_in_use, disk_full and what opening a pack throws
 */
export async function migrateDirectory(input: MigrateInput): Promise<Migrated> {
  const { destination } = input;
  try {
    prepareDestination(destination);
    const database = openExclusively(input);
    try {
      requireFree(dirname(destination), neededBytes(database, input));
      const hidden = hiddenBeside(destination, "migrate");
      return await withCleanup(
        () => discard(hidden),
        () => migrateOn(database, input, hidden),
      );
    } finally {
      database.close();
    }
  } catch (error) {
    throw toSvcError(error, destination);
  }
}

function prepareDestination(destination: string): void {
  if (!destination.endsWith(".pack")) {
    throw invalid("destination", `${destination} does not end in .pack; nothing was changed`);
  }
  mkdirSync(dirname(destination), { recursive: true });
  removeLeftovers(destination);
  requireNameFree(destination);
}

function requireNameFree(destination: string): void {
  const taken = [destination, `${destination}-wal`].find(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
  if (taken !== undefined) throw nameTaken(taken);
}

function nameTaken(path: string): SvcError {
  return invalid(
    "destination",
    `${path} already exists and is never overwritten; nothing was changed. Give another name`,
  );
}

function neededBytes(database: Database, { layout }: MigrateInput): number {
  return schemasOf(layout).reduce((total, schema) => total + usedBytes(database, schema), 0);
}

async function migrateOn(
  database: Database,
  input: MigrateInput,
  hidden: string,
): Promise<Migrated> {
  const key = input.destinationKey;
  createHidden(hidden);
  await interruptible();
  copyFile(database, BASE, hidden, key);
  await interruptible();
  database.run("PRAGMA foreign_keys = OFF");
  const copied = withCopyName(hidden, key, (name) => {
    database.query("ATTACH ? AS target").run(name);
    try {
      return mergeAll(database);
    } finally {
      database.run("DETACH target");
    }
  });
  const counts = await finishCopy(database, input, { hidden, copied });
  syncToDisk(hidden);
  const bytesAfter = sizeOf([hidden]);
  const { destination } = input;
  // A log left by a deleted pack would be taken for this one's.
  if (existsSync(`${destination}-wal`)) throw nameTaken(`${destination}-wal`);
  if (!publishFile(hidden, destination)) throw nameTaken(destination);
  return { ...counts, bytesBefore: sizeOf(filesOf(input.layout)), bytesAfter };
}

/** The file is not in use until complete, so it needs neither a journal nor syncs. */
function mergeAll(database: Database): readonly Copied[] {
  database.run("PRAGMA target.journal_mode = OFF");
  database.run("PRAGMA target.synchronous = OFF");
  database.run("PRAGMA target.cache_size = -8192");
  const base = tablesOf({ database, schema: BASE }).map((table) => ({ schema: BASE, table }));
  const merge = database.transaction(() =>
    MERGED.flatMap((schema) =>
      mergeFile(database, schema, "target").map((table) => ({ schema, table })),
    ),
  );
  return [...base, ...merge()];
}

/** Compares the copy with the original, then reconciles its indexes with its graph, as every opening does. */
async function finishCopy(
  database: Database,
  { destination, destinationKey }: MigrateInput,
  { hidden, copied }: { readonly hidden: string; readonly copied: readonly Copied[] },
): Promise<Counts> {
  const layout: PackLayout = { kind: "file", path: hidden };
  const copy = openAlone({ layout, cipher: destinationKey?.cipher });
  try {
    turnToLog(copy, layout);
    requireReadable(copy, layout);
    const target: AttachedFile = { database: copy, schema: "main" };
    for (const { schema, table } of copied) {
      await interruptible();
      requireSameRows({ database, schema }, target, table, destination);
    }
    copy
      .transaction(() => {
        reconcileIndexes(copy);
        // It belongs to the folder's log; the new file has none.
        writeMark(copy, readMark(copy));
      })
      .immediate();
    requireSound(target, destination);
    return countAll(copy, destination);
  } finally {
    copy.close();
  }
}

type Counts = Pick<Migrated, "nodes" | "edges" | "events" | "vectors">;

function countAll(copy: Database, destination: string): Counts {
  if (run(copy, readManifest()) === undefined) {
    throw new SvcError("internal", `${destination}: the copy has no manifest`);
  }
  return {
    nodes: countRows(copy, "nodes"),
    edges: countRows(copy, "edges"),
    events: countRows(copy, "events"),
    vectors: countRows(copy, "vectors WHERE revision IS NOT NULL"),
  };
}

type Definition = { readonly type: string; readonly name: string; readonly sql: string };

/**
 * Copies the content of one attached file into another: tables, indexes and triggers, and the rows of virtual tables through the
 * virtual tables themselves, because SQLite does not allow writing to the tables behind them. Keys stay the same. Runs inside a
 * transaction, with foreign keys off, so that the order of the tables does not matter.
 * @returns the tables whose rows were copied
 */
function mergeFile(database: Database, from: string, into: string): readonly string[] {
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
