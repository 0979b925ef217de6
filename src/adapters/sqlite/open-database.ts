import { constants, Database } from "bun:sqlite";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { notAPack, readOnly } from "./failures.ts";
import { lexicalFile, mainPath, type PackLayout } from "./layout.ts";
import { APPLICATION_ID, PAGE_SIZE } from "./schema.ts";

export type OpenMode = "create" | "read-write" | "read-only";

export type DatabaseOptions = {
  readonly layout: PackLayout;
  readonly mode: OpenMode;
  /** `full`: every commit reaches the disk. `normal`: a power cut may lose the last commits, never the pack. */
  readonly synchronous: "full" | "normal";
  /** Milliseconds that one statement waits for another writer. */
  readonly busyTimeoutMs: number;
  /** Absolute path of the sqlite-vec library. */
  readonly vecExtensionPath: string;
};

/**
 * Opens a connection to a pack. Every connection of the program is made here, so that this is the one place
 * that decides how pages reach the disk.
 * @throws SvcError not_a_pack before anything is written; SQLiteError from SQLite itself
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { layout } = options;
  for (const file of filesOf(layout)) requirePackFile(file, options.mode);
  if (options.mode === "create") for (const file of filesOf(layout)) createPrivate(file);
  const database = connect(mainPath(layout), options.mode);
  try {
    database.run(`PRAGMA busy_timeout = ${Math.trunc(options.busyTimeoutMs)}`);
    database.loadExtension(options.vecExtensionPath, "sqlite3_vec_init");
    if (options.mode === "create") prepareFile(database, "main");
    if (layout.kind === "directory") attach(database, layout, options.mode);
    for (const schema of schemasOf(layout)) applyPragmas(database, schema, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The files of a pack, main file first. */
export function filesOf(layout: PackLayout): readonly string[] {
  return layout.kind === "file"
    ? [layout.path]
    : [layout.databasePath, layout.vectorPath, lexicalFile(layout.lexicalPath)];
}

/** SQLite's names of the files of a pack on a connection. */
export function schemasOf(layout: PackLayout): readonly string[] {
  return layout.kind === "file" ? ["main"] : ["main", "vector_file", "lexical_file"];
}

/** Memories are their owner's alone; SQLite gives log and index files the permissions of the file they belong to. */
function createPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}

function connect(path: string, mode: OpenMode): Database {
  const flags = {
    create: constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE,
    "read-write": constants.SQLITE_OPEN_READWRITE,
    "read-only": constants.SQLITE_OPEN_READONLY,
  };
  return new Database(path, flags[mode]);
}

function attach(
  database: Database,
  layout: Extract<PackLayout, { kind: "directory" }>,
  mode: OpenMode,
): void {
  database.query("ATTACH ? AS vector_file").run(layout.vectorPath);
  database.query("ATTACH ? AS lexical_file").run(lexicalFile(layout.lexicalPath));
  if (mode !== "create") return;
  prepareFile(database, "vector_file");
  prepareFile(database, "lexical_file");
}

/** Marks a fresh file as ours. Page size and mark must be in the file before it turns to WAL. */
function prepareFile(database: Database, schema: string): void {
  const { page_count: pages } = database
    .query<{ page_count: number }, []>(`PRAGMA ${schema}.page_count`)
    .get() ?? { page_count: 0 };
  if (pages > 0) return;
  database.run(`PRAGMA ${schema}.page_size = ${PAGE_SIZE}`);
  database.run(`PRAGMA ${schema}.application_id = ${APPLICATION_ID}`);
}

/** Turns the files of a pack to WAL, which is written to their headers: only once the pack is known to be ours to change. */
export function turnToLog(database: Database, layout: PackLayout): void {
  for (const schema of schemasOf(layout)) database.run(`PRAGMA ${schema}.journal_mode = WAL`);
}

function applyPragmas(database: Database, schema: string, options: DatabaseOptions): void {
  database.run(`PRAGMA ${schema}.synchronous = ${options.synchronous.toUpperCase()}`);
  database.run(`PRAGMA ${schema}.cache_size = -65536`);
  if (schema !== "main") return;
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA temp_store = MEMORY");
  database.run(`PRAGMA mmap_size = ${1 << 30}`);
}

const HEADER_BYTES = 100;

/**
 * Looks at an existing file without opening it as a database.
 * @throws SvcError not_a_pack, pack_read_only
 */
function requirePackFile(path: string, mode: OpenMode): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) throw notAPack(path, "it is a folder");
  // The superuser could write it all the same; whoever took the permission away did not mean that.
  if (mode !== "read-only" && (stat.mode & 0o222) === 0) throw readOnly(path);
  if (stat.size === 0) return;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw notAPack(path, "its first bytes are not those of a pack");
  }
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw notAPack(path, "it is a database of another program");
  }
}
