import { type Database, SQLiteError } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { shellWord } from "../../../lib/text.ts";
import { requireReadable } from "../schema/migrate.ts";
import { codeOf } from "./failures.ts";
import { filesOf, type PackLayout } from "./layout.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { hasSecondName, type OpenMode } from "./pack-files.ts";

/** How to connect to a pack, for any purpose. */
export type Connection = Omit<DatabaseOptions, "layout" | "mode">;

/** A read-only connection. */
export type Reading = { readonly database: Database; close(): void };

/**
 * Opens a pack for reading, even while other processes use it, or on read-only media. The pack and its log do not change by a byte; at most
 * the index of the log is left behind.
 * @param isDamaged it opens although its manifest cannot be read
 * @throws SvcError not_a_pack, pack_too_new, pack_read_only, storage_failed without an index; SQLiteError from SQLite itself
 */
export function openForReading(
  layout: PackLayout,
  connection: Connection,
  isDamaged = false,
): Reading {
  const database = opened(layout, connection);
  try {
    database.run("PRAGMA query_only = ON");
    try {
      requireReadable(database, layout);
    } catch (error) {
      if (!isDamaged || !isDamage(error)) throw error;
    }
    return { database, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether a part of a file is not what was written, or cannot be read. */
export function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|IOERR|NOTADB)/.test(error.code ?? "");
}

/** The index files of a directory pack are derived: opening it for writing recreates a missing one. */
function opened(layout: PackLayout, connection: Connection): Database {
  try {
    return openDatabase({ ...connection, layout, mode: readingMode(layout) });
  } catch (error) {
    const [main = "", ...indexes] = filesOf(layout);
    const missing = indexes.find((file) => !existsSync(file));
    if (missing === undefined || codeOf(error) !== "SQLITE_CANTOPEN") throw error;
    throw new SvcError(
      "storage_failed",
      `${missing} is missing, an index of this pack. Nothing was changed, and no memory is lost; it is made again by: svc rebuild ${shellWord(main)}`,
      { path: main },
      { cause: error },
    );
  }
}

/**
 * How to open a pack that must not change: as one that others may write concurrently, or, if this user can create no file next to it or it
 * has a second name, as an immutable one.
 * @throws SvcError pack_read_only if its log cannot be read
 */
export function readingMode(layout: PackLayout): OpenMode {
  const files = filesOf(layout);
  // Only SQLite knows whether the empty files that it created next to the pack are in use: a writing connection removes them when it
  // closes. An existing log would be applied to the pack.
  if (files.every(isWritable)) {
    if (files.some(hasLog)) return "read-only";
    if (!files.some(hasSecondName)) return "read-write";
  }
  // Others have it open: their shared memory of the log can be used.
  if (files.every((file) => existsSync(`${file}-wal`) && existsSync(`${file}-shm`))) {
    return "read-only";
  }
  for (const file of files) if (hasLog(file)) throw logUnreadable(file);
  return "immutable";
}

/** Whether this user may write a file of a pack, and create its log beside it. */
export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
    // The superuser may write everything; but a file without write permission is meant to stay unchanged.
    return (statSync(file).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function logUnreadable(file: string): SvcError {
  return new SvcError(
    "pack_read_only",
    `${file}: the newest changes are in ${file}-wal, which cannot be read where writing is not possible. Copy both files to a folder of your own, and use the copy.`,
    { path: file },
  );
}
