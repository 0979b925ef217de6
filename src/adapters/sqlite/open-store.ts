import type { Database } from "bun:sqlite";
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { NamespaceIdentity } from "../../domain/owner.ts";
import { shellWord } from "../../lib/text.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Clock } from "../../ports/system.ts";
import { claimName, releaseName } from "../crypt/cipher.ts";
import { packInUse, wipe } from "../crypt/keys.ts";
import { atExit } from "../native/process-identity.ts";
import { begunModel } from "../sql/rebuild.ts";
import { readManifest, writeNamespace } from "../sql/settings.ts";
import { isBusy, noSuchPack, packMoved, toSvcError } from "./connection/failures.ts";
import { filesOf, lexicalFile, mainPath, type PackLayout } from "./connection/layout.ts";
import { MainFile } from "./connection/main-file.ts";
import {
  type DatabaseOptions,
  hasMoved,
  openDatabase,
  requireExpected,
  turnToLog,
} from "./connection/open-database.ts";
import { beginPackWith, type Cipher, isFilled, packKey } from "./connection/pack-files.ts";
import { run } from "./connection/run.ts";
import { writeEncryptionManifest } from "./copy/encryption-manifest.ts";
import { removeLeftovers } from "./copy/swap-files.ts";
import { accessTo, lockable, type PackAccess } from "./pack-access.ts";
import { createRewriter } from "./rewrite/rewrite-pages.ts";
import { migrate, requireFormat, requireReadable } from "./schema/migrate.ts";
import { createSqliteStore, type OpenPack } from "./sqlite-store.ts";
import type { VectorLimits } from "./vectors/resident.ts";
import { LogKeeper } from "./write/log-keeper.ts";
import { reconcileIndexes } from "./write/reconcile.ts";
import { WriteQueue } from "./write/write-queue.ts";

export type SqliteStoreOptions = {
  readonly layout: PackLayout;
  /** False: a missing pack is an error and nothing is created. */
  readonly createIfMissing: boolean;
  /** Identity of the configured model; written to the manifest of a new pack. */
  readonly embedding: EmbeddingIdentity;
  /** The model to use, given those of the pack and of an unfinished rebuild. Default: `embedding`. */
  readonly modelFor?:
    | ((stored: EmbeddingIdentity, begun: EmbeddingIdentity | undefined) => EmbeddingIdentity)
    | undefined;
  /** The identity of a new pack, and required of an existing one. Absent: any. */
  readonly namespace?: NamespaceIdentity | undefined;
  readonly softwareVersion: string;
  readonly scoringVersion: string;
  readonly clock: Clock;
  readonly synchronous: "full" | "normal";
  /** Calls that may wait for the writer, >= 1. */
  readonly writeQueueSize: number;
  /** Memory for vectors. Absent: 256 MiB, and 20,000 of an owner compared exactly. */
  readonly vectorLimits?: VectorLimits | undefined;
  /** Milliseconds to wait for writers of other processes. */
  readonly busyTimeoutMs: number;
  /**
   * Key text of an encrypted pack, in the forms of `parseKey`. A pack that is created with it is encrypted; an existing one is
   * opened with it or not at all.
   */
  readonly encryptionKey?: string | undefined;
  /** Lets this process open an encrypted pack more than once. Default false: `pack_in_use`. */
  readonly shareEncrypted?: boolean | undefined;
  /** Bytes of a pack above which another thread rewrites its pages after an erasure. Default 8 MiB. */
  readonly threadFrom?: number | undefined;
};

/**
 * Milliseconds for which a single statement of the writer blocks. The queue waits for the rest of `busyTimeoutMs` without
 * blocking the event loop.
 */
const WRITER_BLOCK_MS = 20;
/** The same in the thread that rewrites pages, where nothing else waits. */
const THREAD_BLOCK_MS = 500;

/**
 * Opens a pack, creating it if requested, and recreates missing indexes.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_too_old, pack_read_only, invalid_config, encryption_failed, pack_in_use,
 * pack_damaged, storage_failed; the files are then unchanged
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenPack> {
  const { layout, clock } = options;
  const access = await openFiles(options);
  try {
    const embedding = await access.read((database) => modelOf(database, options));
    const isEncrypted = options.encryptionKey !== undefined;
    return createSqliteStore({ access, layout, embedding, isEncrypted, clock });
  } catch (error) {
    await access.close();
    throw toSvcError(error, mainPath(layout));
  }
}

/** The model that a store uses for a pack. */
export function modelOf(
  database: Database,
  { embedding, modelFor }: SqliteStoreOptions,
): EmbeddingIdentity {
  const stored = run(database, readManifest())?.embedding;
  return stored === undefined || modelFor === undefined
    ? embedding
    : modelFor(stored, run(database, begunModel()));
}

async function openFiles(options: SqliteStoreOptions): Promise<PackAccess> {
  const path = mainPath(options.layout);
  if (options.encryptionKey === undefined) return await openWith(options, path, undefined);
  // The function that reopens the pack after `lock()` must not keep the key.
  const keyless = { ...options, encryptionKey: undefined };
  const open = (key: string): Promise<PackAccess> => openEncrypted(keyless, path, key);
  const access = await open(options.encryptionKey);
  if (options.layout.kind === "file") return access;
  try {
    writeEncryptionManifest(options.layout, options.clock.now());
  } catch (error) {
    await access.close();
    throw toSvcError(error, path);
  }
  return lockable(path, access, open);
}

async function openEncrypted(
  options: SqliteStoreOptions,
  path: string,
  key: string,
): Promise<PackAccess> {
  try {
    if (prepareFolder(options, path)) await beginPackWith(path, key);
  } catch (error) {
    throw toSvcError(error, path);
  }
  const masterKey = await packKey(path, key);
  try {
    return await openWith(options, path, { masterKey });
  } finally {
    wipe(masterKey);
  }
}

async function openWith(
  options: SqliteStoreOptions,
  path: string,
  cipher: Cipher | undefined,
): Promise<PackAccess> {
  let release = (): void => {};
  try {
    // Its folder must exist before the name of a new pack can be resolved.
    prepareFolder(options, path);
    if (cipher !== undefined && options.shareEncrypted !== true) release = claimPack(path);
    const connections = { ...options, cipher };
    const writer = await patiently(options, () => openWriter(connections, path));
    try {
      return await openOn(writer, connections, path, release);
    } catch (error) {
      writer.close();
      throw error;
    }
  } catch (error) {
    release();
    throw toSvcError(error, path);
  }
}

/** Retries while another process that creates the pack has its files locked; SQLite itself does not always wait then. */
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

function openWriter(options: ConnectionOptions, path: string): Database {
  const created = prepareFolder(options, path);
  for (const file of filesOf(options.layout)) removeLeftovers(file);
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

/** Excludes a second engine of this process from an encrypted pack. @returns a function that releases it */
function claimPack(path: string): () => void {
  const real = existsSync(path)
    ? realpathSync(path)
    : join(realpathSync(dirname(path)), basename(path));
  if (!claimName(real)) throw packInUse(path);
  return () => releaseName(real);
}

type ConnectionOptions = SqliteStoreOptions & { readonly cipher: Cipher | undefined };

async function openOn(
  writer: Database,
  options: ConnectionOptions,
  path: string,
  onClosed: () => void,
): Promise<PackAccess> {
  const queue: WriteQueue = new WriteQueue(writer, {
    capacity: options.writeQueueSize,
    busyTimeoutMs: options.busyTimeoutMs,
    path,
    beforeBegin: () => {
      file?.requireOurs();
      log.beforeBegin();
    },
    beforeCommit: () => {
      requireOurs(writer, path);
      log.beforeCommit();
    },
    afterCommit: () => log.afterCommit(),
  });
  let file: MainFile | undefined;
  const log: LogKeeper = new LogKeeper(writer, {
    ...options,
    file: () => file,
    isIdle: () => queue.isIdle,
  });
  await queue.run(() => {
    // Another process may have made the pack since the first check.
    requireReadable(writer, options.layout);
    const { namespace } = options;
    requireExpected(writer, options);
    migrate(writer, options.layout, options, options.clock.now());
    if (namespace !== undefined) run(writer, writeNamespace(namespace));
    if (options.layout.kind === "directory") reconcileIndexes(writer);
  });
  log.begin();
  const reader = await patiently(options, () =>
    openDatabase(databaseOptions(options, "reader", false)),
  );
  reader.run("PRAGMA query_only = ON");
  file = new MainFile(writer, options.cipher);
  const { rewrite, close: forgetNames } = createRewriter(
    writer,
    { ...databaseOptions(options, "writer", false), busyTimeoutMs: THREAD_BLOCK_MS },
    options.threadFrom,
  );
  // The end of the process closes the connections, which checkpoints.
  const forget = atExit(() => {
    if (writer.inTransaction) writer.run("ROLLBACK");
    log.empty();
  });
  const closed = (): void => {
    forget();
    file?.close();
    forgetNames();
    onClosed();
  };
  const { layout } = options;
  const { vectorLimits } = options;
  return accessTo(
    { writer, reader, queue, log, path, layout, rewrite, onClosed: closed },
    vectorLimits,
  );
}

function databaseOptions(
  options: ConnectionOptions,
  role: "writer" | "reader",
  created: boolean,
): DatabaseOptions {
  return {
    layout: options.layout,
    mode: created ? "create" : "read-write",
    synchronous: options.synchronous,
    busyTimeoutMs: role === "writer" ? WRITER_BLOCK_MS : options.busyTimeoutMs,
    cipher: options.cipher,
  };
}

/** Creates the folders of a new pack. @returns whether the pack has to be created */
function prepareFolder(options: SqliteStoreOptions, path: string): boolean {
  const { layout } = options;
  if (isFilled(path)) {
    if (layout.kind === "file" || !hasLostIndex(layout)) return false;
    makeFolders(layout);
    return true;
  }
  if (!options.createIfMissing) {
    throw noSuchPack(path, `create it with: svc init ${shellWord(path)}`);
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

/** An index file that was deleted, or just started by another process, is rebuilt; its content comes from the graph. */
function hasLostIndex({ vectorPath, lexicalPath }: Extract<PackLayout, { kind: "directory" }>) {
  return [vectorPath, lexicalFile(lexicalPath)].some(
    (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0,
  );
}

/**
 * Whether a transaction may be committed. If the main file was moved or deleted, writes are lost with the last process that has it open; if
 * a newer program has changed the pack's format, they may be wrong.
 * @throws SvcError storage_failed with `data.reason` "pack_moved"; pack_too_new
 */
export function requireOurs(database: Database, path: string): void {
  if (hasMoved(database, "main")) throw packMoved(path);
  requireFormat(database, path);
}
