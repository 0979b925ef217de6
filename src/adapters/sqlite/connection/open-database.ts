import { constants, Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { type NamespaceIdentity, requireIdentity } from "../../../domain/owner.ts";
import { loadCryptLibrary } from "../../crypt/cipher.ts";
import { openSqlite } from "../../native/load-library.ts";
import { readManifest, readNamespace } from "../../sql/settings.ts";
import { finishSwap, isSwapPending } from "../copy/swap-files.ts";
import { APPLICATION_ID, PAGE_SIZE } from "../schema/schema.ts";
import { ask, hasTable } from "./ask.ts";
import { kernelOn } from "./kernel-on.ts";
import { filesOf, mainPath, type PackLayout, schemasOf } from "./layout.ts";
import { requireOwnLog } from "./own-log.ts";
import {
  type Cipher,
  holdName,
  type NamedFile,
  type OpenMode,
  withPackFiles,
} from "./pack-files.ts";
import { run } from "./run.ts";
import { requireSafeSidecars } from "./sidecars.ts";

/** Pages of the log at which it is checkpointed: 32 MB. */
const LOG_PAGES = 4096;

export type DatabaseOptions = {
  readonly layout: PackLayout;
  readonly mode: OpenMode;
  /** `full`: every commit reaches the disk. `normal`: a power cut may lose the last commits, never the pack. */
  readonly synchronous: "full" | "normal";
  /** Milliseconds that one statement waits for another writer. */
  readonly busyTimeoutMs: number;
  /** If given, the pack is encrypted, or will be when it is created. Absent: it is unencrypted. */
  readonly cipher?: Cipher | undefined;
  /** The expected identity; a new pack has none yet. Absent: any. */
  readonly namespace?: NamespaceIdentity | undefined;
  /** Locks each file exclusively at its first read; SQLITE_BUSY if another connection has it open. Default false. */
  readonly isExclusive?: boolean | undefined;
};

// By default the runtime keeps 20 statements of a connection prepared, fewer than one question needs.
Database.MAX_QUERY_CACHE_SIZE = 500;

/** How often to reopen a pack that is replaced while it is being opened. */
const REPLACEMENTS_MAX = 5;

/**
 * Opens a connection to a pack. All connections are made here, so that one place decides how pages reach the disk.
 * @throws SvcError not_a_pack, encryption_failed, namespace_mismatch before anything is written; SQLiteError from SQLite itself
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { layout, mode, cipher } = options;
  const paths = filesOf(layout);
  for (let replacements = 0; ; replacements += 1) {
    finishSwap(paths);
    const isLast = replacements === REPLACEMENTS_MAX;
    const database = withPackFiles(paths, mode, cipher, (files) =>
      openFiles(files, options, isLast),
    );
    if (database !== undefined) return database;
  }
}

/** How another thread connects to files open here; it gets their names and no key. */
export type Connecting = Omit<DatabaseOptions, "cipher"> & { readonly isEncrypted: boolean };

/** The names under which another thread can open the files of a pack until released. */
export function holdNames({ cipher, ...options }: DatabaseOptions) {
  const held = filesOf(options.layout).map((path) => ({ path, held: holdName(path, cipher) }));
  const connecting: Connecting = { ...options, isEncrypted: cipher !== undefined };
  const release = (): void => {
    for (const file of held) file.held.release();
  };
  return {
    files: held.map(({ path, held: { name } }): NamedFile => ({ path, name })),
    connecting,
    release,
  };
}

/** Opens files that another thread has open, by the names it holds. @throws SQLiteError */
export function openNamed(files: readonly NamedFile[], connecting: Connecting): Database {
  loadCryptLibrary();
  const database = openFiles(files, connecting, true);
  if (database === undefined) throw new SvcError("internal", "the pack was replaced");
  return database;
}

/**
 * Whether the pack was replaced as a whole (compact, rekey) between opening its file and the first lock. The log at that name then belongs
 * to the new file and must not be written for the old one; the two together may look like damage.
 */
function isReplaced(database: Database, layout: PackLayout): boolean {
  const attached = database.query<{ name: string }, []>("PRAGMA database_list").all();
  return (
    isSwapPending(filesOf(layout)) ||
    schemasOf(layout).some(
      (schema) => attached.some(({ name }) => name === schema) && hasMoved(database, schema),
    )
  );
}

/** Whether the name of a connection's open file now belongs to another file. */
export function hasMoved(database: Database, schema: string): boolean {
  // The answer is a C int; the runtime wants room for eight bytes.
  const answer = new Int32Array(2);
  database.fileControl(schema, constants.SQLITE_FCNTL_HAS_MOVED, answer);
  return answer[0] !== 0;
}

/** @returns undefined if the files were replaced meanwhile; then nothing is open */
function openFiles(
  files: readonly NamedFile[],
  options: DatabaseOptions | Connecting,
  isLast: boolean,
): Database | undefined {
  const [main] = files;
  if (main !== undefined && options.mode !== "immutable") requireOwnLog(main);
  const database = connect(main?.name ?? "", options.mode);
  try {
    setUp(database, files, options);
    requireExpected(database, options);
    if (isLast || !isReplaced(database, options.layout)) {
      // Again: a file created since the first check is open now.
      for (const { path } of files) requireSafeSidecars(path);
      return database;
    }
  } catch (error) {
    const isRace = !isLast && isReplaced(database, options.layout);
    database.close();
    if (isRace) return undefined;
    for (const { path } of files) requireSafeSidecars(path);
    throw error;
  }
  database.close();
  return undefined;
}

/** @throws SvcError namespace_mismatch */
export function requireExpected(
  database: Database,
  { layout, namespace }: Pick<DatabaseOptions, "layout" | "namespace">,
): void {
  if (namespace === undefined || !hasManifest(database)) return;
  const advice = "check namespace_id (SVC_NAMESPACE_ID) and that packs were not exchanged";
  requireIdentity(run(database, readNamespace()), namespace, { place: mainPath(layout), advice });
}

/** Whether the files have been made into a pack. */
export function hasManifest(database: Database): boolean {
  return hasTable(database, "pack_manifest") && run(database, readManifest()) !== undefined;
}

function setUp(
  database: Database,
  [, ...attached]: readonly NamedFile[],
  options: DatabaseOptions | Connecting,
): void {
  const { layout, mode } = options;
  database.run(`PRAGMA busy_timeout = ${Math.trunc(options.busyTimeoutMs)}`);
  // Takes effect only if set before the first read of a file.
  if (options.isExclusive === true) database.run("PRAGMA locking_mode = EXCLUSIVE");
  if (mode === "create") prepareFile(database, "main");
  for (const [i, file] of attached.entries()) {
    const schema = schemasOf(layout)[i + 1] ?? "";
    database.query(`ATTACH ? AS ${schema}`).run(file.name);
    if (mode === "create") prepareFile(database, schema);
  }
  for (const schema of schemasOf(layout)) applyPragmas(database, schema, options);
  // Last, because it reads a file.
  kernelOn(database);
}

function connect(name: string, mode: OpenMode): Database {
  const flags = {
    create: constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE,
    "read-write": constants.SQLITE_OPEN_READWRITE,
    "read-only": constants.SQLITE_OPEN_READONLY,
    immutable: constants.SQLITE_OPEN_READONLY,
  };
  return openSqlite(name, flags[mode] | constants.SQLITE_OPEN_URI);
}

/** Marks a new file as a pack. Page size and mark must be in the file before it is switched to WAL. */
function prepareFile(database: Database, schema: string): void {
  if ((ask<number>(database, `PRAGMA ${schema}.page_count`) ?? 0) > 0) return;
  database.run(`PRAGMA ${schema}.page_size = ${PAGE_SIZE}`);
  database.run(`PRAGMA ${schema}.application_id = ${APPLICATION_ID}`);
}

/** Switches the files of a pack to WAL, which changes their headers: only once the pack is known to be ours to change. */
export function turnToLog(database: Database, layout: PackLayout): void {
  for (const schema of schemasOf(layout)) database.run(`PRAGMA ${schema}.journal_mode = WAL`);
}

function applyPragmas(
  database: Database,
  schema: string,
  options: DatabaseOptions | Connecting,
): void {
  database.run(`PRAGMA ${schema}.synchronous = ${options.synchronous.toUpperCase()}`);
  database.run(`PRAGMA ${schema}.cache_size = -65536`);
  // Checkpointing delays the commit that triggers it: done rarely, a page that changed often is written once.
  database.run(`PRAGMA ${schema}.journal_size_limit = ${LOG_PAGES * PAGE_SIZE}`);
  if (schema !== "main") return;
  database.run(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA temp_store = MEMORY");
  // A mapping would expose the ciphertext.
  const isPlain = "isEncrypted" in options ? !options.isEncrypted : options.cipher === undefined;
  if (isPlain) database.run(`PRAGMA mmap_size = ${1 << 30}`);
}
