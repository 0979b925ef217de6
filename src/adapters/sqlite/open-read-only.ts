import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import type { SvcError } from "../../domain/errors.ts";
import { wipe } from "../crypt/keys.ts";
import {
  keptUnchanged,
  readOnly,
  requirePack,
  secondName,
  toSvcError,
} from "./connection/failures.ts";
import { filesOf, mainPath, type PackLayout } from "./connection/layout.ts";
import { isWritable, openForReading } from "./connection/open-reading.ts";
import { type Cipher, hasSecondName, packKey } from "./connection/pack-files.ts";
import { modelOf, type SqliteStoreOptions } from "./open-store.ts";
import { accessTo } from "./pack-access.ts";
import { createSqliteStore, type OpenPack } from "./sqlite-store.ts";
import { LogKeeper } from "./write/log-keeper.ts";
import { WriteQueue } from "./write/write-queue.ts";

/** Whether there is a pack that this user cannot write, or must not, since it has a second name. */
export function isReadOnlyPack(layout: PackLayout): boolean {
  const files = filesOf(layout);
  return (
    files.every((file) => existsSync(file)) &&
    (!files.every(isWritable) || files.some(hasSecondName))
  );
}

function refusalFor(layout: PackLayout, path: string): SvcError {
  if (!isReadOnlyPack(layout)) return keptUnchanged(path);
  return filesOf(layout).every(isWritable) ? secondName(path) : readOnly(path);
}

/**
 * Opens a pack read-only. Nothing is written in or next to it; writes fail with `pack_read_only`.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_too_old, pack_read_only if its log cannot be read, invalid_config,
 * encryption_failed, pack_damaged, storage_failed
 */
export async function openReadOnlyStore(options: SqliteStoreOptions): Promise<OpenPack> {
  const path = mainPath(options.layout);
  requirePack(path);
  if (options.encryptionKey === undefined) return openWith(options, path, undefined);
  const masterKey = await packKey(path, options.encryptionKey);
  try {
    return openWith(options, path, { masterKey });
  } finally {
    wipe(masterKey);
  }
}

function openWith(options: SqliteStoreOptions, path: string, cipher: Cipher | undefined): OpenPack {
  const { layout } = options;
  try {
    const { database, close } = openForReading(layout, { ...options, cipher });
    try {
      return storeOn(database, options, path, close);
    } catch (error) {
      close();
      throw error;
    }
  } catch (error) {
    throw toSvcError(error, path);
  }
}

function storeOn(
  database: Database,
  options: SqliteStoreOptions,
  path: string,
  close: () => void,
): OpenPack {
  const { layout, clock } = options;
  const embedding = modelOf(database, options);
  const queue = new WriteQueue(database, {
    capacity: options.writeQueueSize,
    busyTimeoutMs: options.busyTimeoutMs,
    path,
    refusal: refusalFor(layout, path),
  });
  const log = new LogKeeper(database, { ...options, isIdle: () => true });
  const files = {
    writer: database,
    reader: database,
    queue,
    log,
    path,
    layout,
    reading: { close },
  };
  const isEncrypted = options.encryptionKey !== undefined;
  return createSqliteStore({
    access: accessTo(files, options.vectorLimits),
    layout,
    embedding,
    isEncrypted,
    clock,
  });
}
