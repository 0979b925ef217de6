import type { Database } from "bun:sqlite";
import { lstatSync } from "node:fs";
import { SvcError } from "../../../domain/errors.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";
import { openSqlite } from "../../native/open-sqlite.ts";
import { codeOf, isBusy, toSvcError } from "../connection/failures.ts";

/** A part of a workspace with a pack of its own. */
export type Namespace = { readonly name: string; readonly id: Uuid };

/** A namespace, and whether its pack has been made. */
export type RegisteredNamespace = Namespace & { readonly isInitialized: boolean };

type Row = { readonly name: string; readonly id: string; readonly initialized: number };

const VERSION = 1;

/** The names of the namespaces of a folder, in a file that is unencrypted and that one workspace holds at a time. */
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
 * Opens the registry, making it if it is missing, and holds it until `close`, or until the process ends.
 * @throws SvcError workspace_in_use, workspace_damaged, disk_full, storage_failed
 */
export function openRegistry(path: string): NamespaceRegistry {
  for (const file of [path, `${path}-journal`]) refuseLink(file);
  let database: Database | undefined;
  try {
    database = openSqlite(path);
    holdAlone(database);
    prepare(database, path);
    return registryOn(database, path);
  } catch (error) {
    database?.close();
    throw toFailure(error, path);
  }
}

/** A link could lead the writes of a workspace anywhere. @throws SvcError workspace_damaged */
export function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw damaged(path, "is a symbolic link");
  }
}

/** @param reason what is wrong with the path, as the rest of a sentence */
export function damaged(path: string, reason: string, cause?: unknown): SvcError {
  const message = `${path}: ${reason}. Nothing was changed; restore the folder of the workspace from a backup.`;
  return new SvcError("workspace_damaged", message, { path }, cause === undefined ? {} : { cause });
}

/** The lock lasts as long as the connection: a killed process leaves nothing behind. */
function holdAlone(database: Database): void {
  database.run("PRAGMA locking_mode = EXCLUSIVE");
  database.run("PRAGMA synchronous = FULL");
  database.run("BEGIN EXCLUSIVE");
}

/** Makes the tables of a new registry, and ends the transaction of `holdAlone`. */
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
  database.run("COMMIT");
}

function registryOn(database: Database, path: string): NamespaceRegistry {
  // An id is the name of a folder: one that is no UUID could lead anywhere.
  const toNamespace = (row: Row): Namespace => {
    const id = parseUuid(row.id);
    if (id === undefined || id !== row.id) {
      throw damaged(path, "names a namespace by something else than an id");
    }
    return { name: row.name, id };
  };
  return {
    find: (name) => {
      const row = database
        .query<Row, [string]>("SELECT name, id, initialized FROM namespaces WHERE name = ?")
        .get(name);
      return row === null
        ? undefined
        : { ...toNamespace(row), isInitialized: row.initialized === 1 };
    },
    register: ({ name, id }) => {
      database
        .query("INSERT INTO namespaces (name, id, initialized) VALUES (?, ?, 0)")
        .run(name, id);
    },
    markInitialized: (id) => {
      database.query("UPDATE namespaces SET initialized = 1 WHERE id = ?").run(id);
    },
    list: () =>
      database
        .query<Row, []>("SELECT name, id, initialized FROM namespaces ORDER BY name")
        .all()
        .map(toNamespace),
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
