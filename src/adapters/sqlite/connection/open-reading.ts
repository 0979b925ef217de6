import type { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { requireReadable } from "../schema/migrate.ts";
import type { PackLayout } from "./layout.ts";
import { type DatabaseOptions, filesOf, openDatabase, schemasOf } from "./open-database.ts";
import type { OpenMode } from "./pack-files.ts";

/** How to connect to a pack, whatever it is for. */
export type Connection = Omit<DatabaseOptions, "layout" | "mode">;

/** A connection that changes nothing. */
export type Reading = { readonly database: Database; close(): void };

/**
 * Opens a pack for reading, also while other processes use it and when nobody may write it. Nothing stays behind, and the
 * log of a process that did not end in order stays what it is.
 * @throws SvcError not_a_pack, pack_too_new, pack_read_only; SQLiteError from SQLite itself
 */
export function openForReading(layout: PackLayout, connection: Connection): Reading {
  const isUnused = filesOf(layout).every((file) => !existsSync(`${file}-shm`) && !hasLog(file));
  const mode = readingMode(layout);
  let database: Database | undefined;
  const close = (): void => {
    database?.close();
    if (isUnused && mode === "read-only") tidy(layout, connection);
  };
  try {
    database = openDatabase({ ...connection, layout, mode });
    database.run("PRAGMA query_only = ON");
    requireReadable(database, layout);
    return { database, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * How a pack is opened that is not to be changed: as others may write it at the same time, or, where this user can make
 * no file beside it, as one that nobody writes.
 * @throws SvcError pack_read_only when its log cannot be read
 */
export function readingMode(layout: PackLayout): OpenMode {
  const files = filesOf(layout);
  if (files.every(isWritable)) return "read-only";
  // Others have it open: their memory of the log serves us, too.
  if (files.every((file) => existsSync(`${file}-wal`) && existsSync(`${file}-shm`))) {
    return "read-only";
  }
  for (const file of files) if (hasLog(file)) throw logUnreadable(file);
  return "immutable";
}

/** Whether this user may write a file of a pack, and make its log beside it. */
export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
    // The superuser may write everything; a file that nobody may write was meant to stay as it is.
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
    `${file}: the newest changes are in ${file}-wal, which cannot be read where nothing may be written. Copy both files to a folder of your own, and use the copy.`,
    { path: file },
  );
}

/**
 * A reader that may not write leaves an empty log and shared memory behind. One that may removes them when it closes, if it
 * is the last: only SQLite can tell.
 */
function tidy(layout: PackLayout, connection: Connection): void {
  if (filesOf(layout).every((file) => !existsSync(`${file}-shm`)) || filesOf(layout).some(hasLog))
    return;
  try {
    const database = openDatabase({ ...connection, layout, mode: "read-write" });
    try {
      for (const schema of schemasOf(layout)) {
        database.query(`SELECT count(*) FROM ${schema}.sqlite_schema`).get();
      }
    } finally {
      database.close();
    }
  } catch {
    // Empty files stay, which the next one to open the pack removes.
  }
}
