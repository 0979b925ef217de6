import type { Database } from "bun:sqlite";
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EmbeddingIdentity } from "../../ports/embedder.ts";
import type { Store } from "../../ports/store.ts";
import { isBusy, toSvcError } from "./failures.ts";
import { lexicalFile, mainPath, type PackLayout } from "./layout.ts";
import { migrate, requireReadable } from "./migrate.ts";
import { type DatabaseOptions, openDatabase, turnToLog } from "./open-database.ts";
import { reconcileIndexes } from "./reconcile.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { WriteQueue } from "./write-queue.ts";

export type SqliteStoreOptions = {
  readonly layout: PackLayout;
  /** False: a missing pack is an error and nothing is created. */
  readonly createIfMissing: boolean;
  /** Identity of the configured model; written to the manifest of a new pack. */
  readonly embedding: EmbeddingIdentity;
  readonly softwareVersion: string;
  readonly scoringVersion: string;
  readonly clock: Clock;
  readonly synchronous: "full" | "normal";
  /** Calls that may wait for the writer, >= 1. */
  readonly writeQueueSize: number;
  /** Milliseconds to wait for writers of other processes. */
  readonly busyTimeoutMs: number;
  /** Absolute path of the sqlite-vec library. */
  readonly vecExtensionPath: string;
};

/**
 * Milliseconds that a single statement of the writer blocks. The queue waits the rest of `busyTimeoutMs` without
 * blocking the event loop.
 */
const WRITER_BLOCK_MS = 20;

/**
 * Opens a pack, creating it where that is wanted, and brings its schema and indexes up to date.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, storage_failed; the files are then unchanged
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = mainPath(options.layout);
  try {
    const writer = await patiently(options, () => openWriter(options, path));
    try {
      return await openOn(writer, options, path);
    } catch (error) {
      writer.close();
      throw error;
    }
  } catch (error) {
    throw toSvcError(error, path);
  }
}

/** Tries again while another process that makes the pack locks its files; SQLite itself does not always wait then. */
async function patiently<T>({ busyTimeoutMs }: SqliteStoreOptions, open: () => T): Promise<T> {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await Bun.sleep(5 + Math.random() * 20);
    }
  }
}

function openWriter(options: SqliteStoreOptions, path: string): Database {
  const created = prepareFolder(options, path);
  const writer = openDatabase(databaseOptions(options, "writer", created));
  try {
    requireReadable(writer, options.layout);
    turnToLog(writer, options.layout);
    return writer;
  } catch (error) {
    writer.close();
    throw error;
  }
}

async function openOn(writer: Database, options: SqliteStoreOptions, path: string): Promise<Store> {
  const queue = new WriteQueue(writer, {
    capacity: options.writeQueueSize,
    busyTimeoutMs: options.busyTimeoutMs,
    path,
  });
  await queue.run(() => {
    // Another process may have brought a newer schema since the first look.
    requireReadable(writer, options.layout);
    migrate(writer, options.layout, options, options.clock.now());
    if (options.layout.kind === "directory") reconcileIndexes(writer, options.clock.now());
  });
  const reader = await patiently(options, () =>
    openDatabase(databaseOptions(options, "reader", false)),
  );
  reader.run("PRAGMA query_only = ON");
  const { clock, embedding, layout } = options;
  return new SqliteStore({ writer, reader, queue, path, layout, embedding, clock });
}

function databaseOptions(
  options: SqliteStoreOptions,
  role: "writer" | "reader",
  created: boolean,
): DatabaseOptions {
  return {
    layout: options.layout,
    mode: created ? "create" : "read-write",
    synchronous: options.synchronous,
    busyTimeoutMs: role === "writer" ? WRITER_BLOCK_MS : options.busyTimeoutMs,
    vecExtensionPath: options.vecExtensionPath,
  };
}

/** Makes the folders of a new pack. @returns whether the pack has to be created */
function prepareFolder(options: SqliteStoreOptions, path: string): boolean {
  const { layout } = options;
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && existing.size > 0) {
    if (layout.kind === "file" || !hasLostIndex(layout)) return false;
    makeFolders(layout);
    return true;
  }
  if (!options.createIfMissing) {
    throw new SvcError("not_found", `${path}: no such pack; create it with: svc init ${path}`, {
      kind: "pack",
      id: path,
    });
  }
  makeFolders(layout);
  return true;
}

function makeFolders(layout: PackLayout): void {
  mkdirSync(dirname(mainPath(layout)), { recursive: true });
  if (layout.kind === "file") return;
  mkdirSync(dirname(layout.vectorPath), { recursive: true });
  mkdirSync(layout.lexicalPath, { recursive: true });
}

/** An index file that was deleted, or just begun by another process, is made anew; its content comes from the graph. */
function hasLostIndex({ vectorPath, lexicalPath }: Extract<PackLayout, { kind: "directory" }>) {
  return [vectorPath, lexicalFile(lexicalPath)].some(
    (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0,
  );
}
