import type { Database } from "bun:sqlite";
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { requireReadable } from "../schema/migrate.ts";
import { codeOf, isBusy, notAPack, readOnly, toSvcError } from "./failures.ts";
import { filesOf, mainPath, type PackLayout, schemasOf } from "./layout.ts";
import { type DatabaseOptions, hasManifest, hasMoved, openDatabase } from "./open-database.ts";
import type { Cipher } from "./pack-files.ts";

export type WholePack = Pick<DatabaseOptions, "namespace"> & {
  readonly layout: PackLayout;
  /** Of an encrypted pack. */
  readonly cipher?: Cipher | undefined;
};

/** Long enough for `info` to finish reading, short enough for a person who forgot a running server. */
const BUSY_TIMEOUT_MS = 500;
/** KiB of page cache per file; limits the memory for a pack of any size. */
const CACHE_KIB = 8192;

/**
 * Opens a pack exclusively until the connection is closed. Its log is checkpointed first, so that the files are the whole pack.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, pack_in_use, encryption_failed, pack_damaged
 */
export function openExclusively(pack: WholePack): Database {
  const { layout } = pack;
  const path = mainPath(layout);
  for (const file of filesOf(layout)) requireWritable(file);
  try {
    const database = openAlone(pack);
    try {
      takeAll(database, pack);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    if (isBusy(error)) throw inUse(path, error);
    throw toSvcError(error, path);
  }
}

/** A connection with a small cache that exclusively locks what it reads; the caller closes it. */
export function openAlone(pack: WholePack): Database {
  const database = openDatabase({
    ...pack,
    mode: "read-write",
    synchronous: "full",
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    isExclusive: true,
  });
  for (const schema of schemasOf(pack.layout)) {
    database.run(`PRAGMA ${schema}.cache_size = -${CACHE_KIB}`);
  }
  // Mapped pages count as memory of the process.
  database.run("PRAGMA mmap_size = 0");
  return database;
}

function takeAll(database: Database, { layout }: WholePack): void {
  const path = mainPath(layout);
  for (const schema of schemasOf(layout)) {
    database.query(`SELECT count(*) FROM ${schema}.sqlite_schema`).get();
  }
  // The locked file may have been replaced while waiting for the lock; its log must then not be touched.
  if (schemasOf(layout).some((schema) => hasMoved(database, schema))) throw inUse(path);
  requireReadable(database, layout);
  if (!hasManifest(database)) throw notAPack(path, "it has no manifest");
  for (const schema of schemasOf(layout)) {
    const row = database
      .query<{ busy: number }, []>(`PRAGMA ${schema}.wal_checkpoint(TRUNCATE)`)
      .get();
    if (row?.busy === 1) throw inUse(path);
  }
}

/** @throws SvcError not_found, pack_read_only; nothing was changed */
function requireWritable(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw new SvcError("not_found", `${file}: no such file; nothing was changed`, {
      kind: "pack",
      id: file,
    });
  }
  if (!stat.isFile()) throw notAPack(file, stat.isDirectory() ? "it is a folder" : "it is no file");
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) === "EACCES" || codeOf(error) === "EROFS") throw readOnly(file, error);
    throw toSvcError(error, file);
  }
}

/** The error for a pack that another process has open. */
export function inUse(path: string, cause?: unknown): SvcError {
  return new SvcError(
    "pack_in_use",
    `${path}: is in use by another process or engine; nothing was changed. Stop what uses it (a server, an assistant) and try again.`,
    { path },
    cause === undefined ? undefined : { cause },
  );
}
