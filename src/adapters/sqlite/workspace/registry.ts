import { constants, type Database } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import {
  type Namespace,
  type RegisteredNamespace,
  workspaceDamaged,
} from "../../../domain/owner.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";
import { plainUri, readPackBytes } from "../../crypt/cipher.ts";
import { openSqlite } from "../../native/load-library.ts";
import { ask } from "../connection/ask.ts";
import { codeOf, isBusy, toSvcError } from "../connection/failures.ts";
import { objectionTo } from "../connection/sidecars.ts";

type Row = { readonly name: string; readonly id: string; readonly initialized: number };

const REGISTRY = "workspace.sqlite3";
const VERSION = 1;
/** The library's limit for one read. */
const READ_BYTES = 65_536;

/** The names of a folder's namespaces, in an unencrypted file held by one workspace at a time. */
export type NamespaceRegistry = {
  find(name: string): RegisteredNamespace | undefined;
  /** Durable when it returns. */
  register(namespace: Namespace): void;
  markInitialized(id: Uuid): void;
  /** By name, in the order of code points. */
  list(): readonly Namespace[];
  close(): void;
};

/**
 * Opens the registry of a workspace, creating it if missing, and holds it until `close`, or until the process ends.
 * @param root the folder of the workspace
 * @throws SvcError workspace_in_use, workspace_damaged, disk_full, storage_failed
 */
export function openRegistry(root: string): NamespaceRegistry {
  const path = join(root, REGISTRY);
  for (const file of [path, `${path}-journal`]) requireOwn(file, root);
  for (const suffix of ["-wal", "-shm"]) refuseLog(`${path}${suffix}`);
  requireOwn(packsOf(root), root, "folder");
  const known = packFolders(root);
  if (isEmpty(path) && known.length > 0) throw damaged(path, "is missing, and there are packs");
  let database: Database | undefined;
  try {
    rehearse(path, known);
    fs.closeSync(fs.openSync(path, "a", 0o600));
    database = connect(path, path, known);
    // Again: files added since the first check are open now.
    requireOwn(path, root);
    return registryOn(database, path);
  } catch (error) {
    database?.close();
    throw toFailure(error, path);
  }
}

/** The folder with the packs of a workspace. */
export function packsOf(root: string): string {
  return join(root, "packs");
}

/**
 * Checks a file or a folder of a workspace, if it exists: a link could redirect writes, and another user's file could be exchanged at any
 * time.
 * @param root the folder of the workspace, whose owner may have made it, besides this user
 * @throws SvcError workspace_damaged
 */
export function requireOwn(path: string, root: string, kind: "file" | "folder" = "file"): void {
  const objection = objectionTo(path, root, kind);
  if (objection !== undefined) throw foreign(path, objection);
}

/** @param reason what is wrong with the path, as the rest of a sentence */
export function damaged(path: string, reason: string, cause?: unknown): SvcError {
  const advice = "restore the folder of the workspace from a backup";
  return workspaceDamaged(path, reason, { advice, cause });
}

function foreign(path: string, reason: string): SvcError {
  return workspaceDamaged(path, reason, { advice: "find out who made it, then move it away" });
}

/** The registry never has a log; SQLite would apply one regardless. */
function refuseLog(path: string): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  throw foreign(path, "is no file of a workspace, and could change its registry");
}

/** The folders of packs, by their ids. */
function packFolders(root: string): readonly string[] {
  if (!fs.existsSync(packsOf(root))) return [];
  return fs.readdirSync(packsOf(root)).filter((name) => parseUuid(name) === name);
}

/**
 * SQLite applies a journal without proof of its author. Its effect on the registry is tested on a copy first, so that the registry stays
 * intact if the result is invalid.
 * @param known ids that the registry must contain
 */
function rehearse(path: string, known: readonly string[]): void {
  const journal = readIfThere(`${path}-journal`);
  // SQLite leaves zeros where it ended the transaction.
  if (journal?.[0] === undefined || journal[0] === 0) return;
  const folder = fs.mkdtempSync(join(tmpdir(), "svc-registry-"));
  try {
    const copy = join(folder, REGISTRY);
    copyRegistry(path, copy);
    fs.writeFileSync(`${copy}-journal`, journal);
    const played = connect(copy, path, known);
    const check = ask<string>(played, "PRAGMA integrity_check");
    played.close();
    if (check !== "ok") throw damaged(`${path}-journal`, "would damage the registry");
  } catch (error) {
    const isAtWork = !readIfThere(`${path}-journal`)?.equals(journal);
    // The next access to the file reports that another workspace has it.
    if (!isAtWork) throw error;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Through SQLite, so that a registry open in this process keeps its locks. */
function copyRegistry(path: string, copy: string): void {
  fs.writeFileSync(copy, "");
  for (let offset = 0; ; offset += READ_BYTES) {
    const bytes = readPackBytes(path, offset, READ_BYTES) ?? new Uint8Array();
    fs.appendFileSync(copy, bytes);
    if (bytes.length < READ_BYTES) return;
  }
}

function readIfThere(path: string): Buffer | undefined {
  return fs.existsSync(path) ? fs.readFileSync(path) : undefined;
}

function isEmpty(path: string): boolean {
  return (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** @param path names the registry in errors. @param known as for `rehearse` */
function connect(file: string, path: string, known: readonly string[]): Database {
  const flags = constants.SQLITE_OPEN_URI | constants.SQLITE_OPEN_READWRITE;
  const database = openSqlite(plainUri(file), flags);
  try {
    holdAlone(database);
    prepare(database, path);
    requireNamed(database, path, known);
    database.run("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A folder is created for a registered namespace: one without a name means that names were lost. */
function requireNamed(database: Database, path: string, known: readonly string[]): void {
  const rows = database.query<{ id: string }, []>("SELECT id FROM namespaces").all();
  const named = new Set(rows.map(({ id }) => id));
  const lost = known.find((id) => !named.has(id));
  if (lost === undefined) return;
  throw damaged(join(packsOf(dirname(path)), lost), "is a pack that the registry does not name");
}

/** The lock lasts as long as the connection: a killed process leaves nothing behind. */
function holdAlone(database: Database): void {
  database.run("PRAGMA locking_mode = EXCLUSIVE");
  database.run("PRAGMA synchronous = FULL");
  database.run("BEGIN EXCLUSIVE");
}

/** Makes the tables of a new registry, in the transaction of `holdAlone`. */
function prepare(database: Database, path: string): void {
  database.run("CREATE TABLE IF NOT EXISTS metadata (version INTEGER NOT NULL) STRICT");
  database.run(
    `CREATE TABLE IF NOT EXISTS namespaces (
       name TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, initialized INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  );
  database.run(`INSERT INTO metadata SELECT ${VERSION} WHERE NOT EXISTS (SELECT 1 FROM metadata)`);
  const versions = database.query<{ version: number }, []>("SELECT version FROM metadata").all();
  if (versions.length !== 1 || versions[0]?.version !== VERSION) {
    throw damaged(path, "is the registry of another version of svc");
  }
}

function registryOn(database: Database, path: string): NamespaceRegistry {
  // An id is a folder name: one that is not a UUID could lead anywhere.
  const toNamespace = (row: Row): Namespace => {
    const id = parseUuid(row.id);
    if (id === undefined || id !== row.id) {
      throw damaged(path, "names a namespace by something else than an id");
    }
    return { name: row.name, id };
  };
  const all = (sql: string, ...parameters: string[]): Row[] => {
    try {
      return database.query<Row, string[]>(sql).all(...parameters);
    } catch (error) {
      throw toFailure(error, path);
    }
  };
  return {
    find: (name) => {
      const [row] = all("SELECT name, id, initialized FROM namespaces WHERE name = ?", name);
      return row && { ...toNamespace(row), isInitialized: row.initialized === 1 };
    },
    register: ({ name, id }) => {
      all("INSERT INTO namespaces (name, id, initialized) VALUES (?, ?, 0)", name, id);
    },
    markInitialized: (id) => {
      all("UPDATE namespaces SET initialized = 1 WHERE id = ?", id);
    },
    list: () => all("SELECT name, id, initialized FROM namespaces ORDER BY name").map(toNamespace),
    close: () => database.close(),
  };
}

function toFailure(error: unknown, path: string): unknown {
  if (isBusy(error)) {
    const message = `${path}: the workspace is open elsewhere; close it there first`;
    return new SvcError("workspace_in_use", message, { path }, { cause: error });
  }
  const code = codeOf(error);
  if (
    code?.startsWith("SQLITE_NOTADB") ||
    code?.startsWith("SQLITE_CORRUPT") ||
    code === "SQLITE_ERROR"
  ) {
    return damaged(path, "is not the registry of a workspace", error);
  }
  return toSvcError(error, path);
}
