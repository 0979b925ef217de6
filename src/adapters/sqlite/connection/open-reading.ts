import type { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, rmSync, statSync } from "node:fs";
import { requireReadable } from "../schema/migrate.ts";
import type { PackLayout } from "./layout.ts";
import { type DatabaseOptions, filesOf, openDatabase } from "./open-database.ts";

/** How to connect to a pack, whatever it is for. */
export type Connection = Omit<DatabaseOptions, "layout" | "mode">;

/** A connection that changes nothing. */
export type Reading = { readonly database: Database; close(): void };

/**
 * Opens a pack for reading, also while other processes use it and when nobody may write it. The pack and a log that lies
 * beside it keep their bytes; the index of such a log may stay behind, else nothing does.
 * @throws SvcError not_a_pack, pack_too_new; SQLiteError from SQLite itself
 */
export function openForReading(layout: PackLayout, connection: Connection): Reading {
  const files = filesOf(layout);
  const hasLog = files.some((file) => sizeOf(`${file}-wal`) > 0);
  // Another process may begin to use what is made beside a log, so it is left to that one.
  const sidecars = files
    .flatMap((file) => (hasLog ? [] : [`${file}-wal`, `${file}-shm`]))
    .filter((file) => !existsSync(file));
  // Closing a connection that may write tidies up the files that SQLite had to make beside the pack. Where a log is, that
  // would move the log into the pack.
  const mode = !hasLog && files.every(isWritable) ? "read-write" : "read-only";
  let database: Database | undefined;
  const close = (): void => {
    database?.close();
    removeEmpty(sidecars);
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

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    // The superuser may write everything; a file that nobody may write was meant to stay as it is.
    return (statSync(file).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}

/** A reader that may not write leaves its empty log and its shared memory behind. */
function removeEmpty(files: readonly string[]): void {
  if (files.some((file) => file.endsWith("-wal") && sizeOf(file) > 0)) return;
  for (const file of files) rmSync(file, { force: true });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
