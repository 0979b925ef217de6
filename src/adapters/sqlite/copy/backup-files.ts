import type { Database } from "bun:sqlite";
import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { syncToDisk } from "../../native/system-files.ts";
import { checkpoint, countRows } from "../connection/ask.ts";
import { openAlone, type WholePack } from "../connection/exclusive.ts";
import { isBusy, requirePack, toSvcError } from "../connection/failures.ts";
import { filesOf, mainPath, type PackLayout, schemasOf } from "../connection/layout.ts";
import { openDatabase } from "../connection/open-database.ts";
import { isWritable, readingMode } from "../connection/open-reading.ts";
import { readMark, writeMark } from "../connection/own-log.ts";
import type { OpenMode } from "../connection/pack-files.ts";
import { requireReadable } from "../schema/migrate.ts";
import { waitForTurn } from "../write/log-keeper.ts";
import { requireSameShape } from "./compare.ts";
import { interruptible, requireFree } from "./rewrite-pack.ts";
import { createHidden } from "./swap-files.ts";

export type BackupInput = WholePack & {
  /** Where the copy is made: the same kind of pack, not existing yet. */
  readonly target: PackLayout;
  readonly signal: AbortSignal;
  /** Called periodically with the bytes copied so far. */
  readonly onProgress: (done: number, total: number) => void;
};

/** What was copied; counts are of the copy and cover all owners. */
export type BackedUp = {
  readonly events: number;
  readonly nodes: number;
  /** Of all files of the copy. */
  readonly bytes: number;
};

const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Copies a consistent snapshot of a pack's files, even while it is in use, and compares the copy with them: every byte, every page, and the
 * rows of each table. The copy has the same encryption and the same key.
 * @throws SvcError pack_in_use, disk_full and what opening a pack throws; the signal's reason. The caller then removes the copy
 */
export async function backUpFiles(input: BackupInput): Promise<BackedUp> {
  try {
    const pinned = await pinPack(input);
    // Closed only at the end: closing one would drop SQLite's locks on the file.
    const descriptors: number[] = [];
    try {
      const bytes = await copyFiles(input, descriptors);
      return { ...compareAndFinish(pinned, input), bytes };
    } finally {
      await pinned.release();
      for (const descriptor of descriptors) closeSync(descriptor);
    }
  } catch (error) {
    throw toSvcError(error, mainPath(input.layout));
  }
}

async function copyFiles(input: BackupInput, descriptors: number[]): Promise<number> {
  const { layout, target, signal, onProgress } = input;
  const targets = filesOf(target);
  const pairs = filesOf(layout).map((path, i) => {
    const from = openSync(path, "r");
    descriptors.push(from);
    return { from, to: targets[i] ?? "", bytes: fstatSync(from).size };
  });
  const total = pairs.reduce((sum, { bytes }) => sum + bytes, 0);
  requireFree(dirname(mainPath(target)), total);
  let before = 0;
  for (const { from, to, bytes } of pairs) {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    createHidden(to);
    const step = async (done: number): Promise<void> => {
      onProgress(before + done, total);
      await interruptible();
      signal.throwIfAborted();
    };
    await copyBytes(from, to, step);
    before += bytes;
  }
  return total;
}

/** Copies a file that is already open, and reads the copy back. */
async function copyBytes(
  from: number,
  path: string,
  step: (done: number) => Promise<void>,
): Promise<void> {
  const to = openSync(path, "r+");
  try {
    const written = createHash("sha256");
    await readThrough(from, written, async (chunk, done) => {
      for (let at = 0; at < chunk.length; ) at += writeSync(to, chunk, at);
      await step(done);
    });
    fsyncSync(to);
    const found = createHash("sha256");
    await readThrough(to, found, async () => await interruptible());
    if (!written.digest().equals(found.digest())) throw notAsWritten(path);
  } finally {
    closeSync(to);
  }
}

async function readThrough(
  file: number,
  hash: Hash,
  use: (chunk: Uint8Array, done: number) => Promise<void>,
): Promise<void> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let done = 0; ; ) {
    const length = readSync(file, buffer, 0, CHUNK_BYTES, done);
    if (length === 0) return;
    const chunk = buffer.subarray(0, length);
    hash.update(chunk);
    done += length;
    await use(chunk, done);
  }
}

/** Compares the copy with the original as SQLite reads them, and removes original-specific data from the copy. */
function compareAndFinish(
  { database }: Pinned,
  input: BackupInput,
): Pick<BackedUp, "events" | "nodes"> {
  const { layout, target, cipher } = input;
  const copy = openAlone({ layout: target, cipher });
  try {
    for (const schema of schemasOf(layout)) {
      requireSameShape({ database, schema }, { database: copy, schema }, mainPath(target));
    }
    // Its own mark: no log of the original may be read with it.
    copy.transaction(() => writeMark(copy, readMark(copy))).immediate();
    return { events: countRows(copy, "main.events"), nodes: countRows(copy, "main.nodes") };
  } finally {
    copy.close();
    for (const file of filesOf(target)) syncToDisk(file);
  }
}

function notAsWritten(path: string): SvcError {
  const message = `${path}: the disk does not return what was written to it; the copy was removed, the original is unchanged. Use another disk.`;
  return new SvcError("storage_failed", message, { path });
}

/** A pack whose files are complete and do not change. Others continue to read and write; their writes stay in its log. */
type Pinned = {
  /** Reads the pack as it is in the files. */
  readonly database: Database;
  /** Lets the files change again. Never throws. */
  release(): Promise<void>;
};

/** Milliseconds that one statement waits for a writer; writers wait equally long for the checkpoint. */
const BUSY_TIMEOUT_MS = 2000;
/** Milliseconds to wait for others that block the checkpoint: a long read, another copy. */
const PATIENCE_MS = 60_000;

/**
 * Checkpoints a pack and starts reading: as long as this read lasts, SQLite does not change the files. A read-only pack must already be
 * checkpointed.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, pack_in_use; SQLiteError from SQLite itself
 */
export async function pinPack(options: WholePack): Promise<Pinned> {
  const { layout } = options;
  requirePack(mainPath(layout), "nothing was changed");
  const mode = filesOf(layout).every(isWritable) ? "read-write" : readingMode(layout);
  const reader = open(options, mode);
  try {
    if (mode === "immutable") {
      begin(reader, options);
      return { database: reader, release: async () => reader.close() };
    }
    const helper = open(options, mode);
    try {
      await pin(reader, helper, mode, options);
      const release = async (): Promise<void> => {
        reader.close();
        if (mode === "read-write") await waitForTurn(helper);
        helper.close();
      };
      return { database: reader, release };
    } catch (error) {
      helper.close();
      throw error;
    }
  } catch (error) {
    reader.close();
    throw error;
  }
}

function open({ layout, cipher, namespace }: WholePack, mode: OpenMode): Database {
  const database = openDatabase({
    layout,
    mode,
    synchronous: "full",
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    cipher,
    namespace,
  });
  try {
    requireReadable(database, layout);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function pin(
  reader: Database,
  helper: Database,
  mode: OpenMode,
  options: WholePack,
): Promise<void> {
  const tryPin = mode === "read-write" ? pinBetweenWrites : pinWhereWhole;
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    if (tryPin(reader, helper, options)) return;
    if (performance.now() > end) throw neverWhole(mainPath(options.layout), mode);
    await Bun.sleep(50);
  }
}

/** Keeps others from writing during the checkpoint and until the read begins. */
function pinBetweenWrites(reader: Database, helper: Database, options: WholePack): boolean {
  try {
    helper.run("BEGIN IMMEDIATE");
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
  try {
    if (!isLogMoved(reader, "PASSIVE", options)) return false;
    begin(reader, options);
    return true;
  } finally {
    helper.run("ROLLBACK");
  }
}

/** While `reader` reads, nothing newer is checkpointed: a fully checkpointed log contains nothing newer. */
function pinWhereWhole(reader: Database, helper: Database, options: WholePack): boolean {
  begin(reader, options);
  if (isLogMoved(helper, "NOOP", options)) return true;
  reader.run("ROLLBACK");
  return false;
}

function isLogMoved(database: Database, how: "PASSIVE" | "NOOP", { layout }: WholePack): boolean {
  return schemasOf(layout).every((schema) => checkpoint(database, schema, how));
}

/** Starts a read of all files of a pack at once. */
function begin(database: Database, { layout }: WholePack): void {
  database.run("BEGIN");
  for (const schema of schemasOf(layout)) {
    database.query(`SELECT count(*) FROM ${schema}.sqlite_schema`).get();
  }
}

function neverWhole(path: string, mode: OpenMode): SvcError {
  const message =
    mode === "read-write"
      ? `${path}: another process is reading or copying it and does not finish; no copy was made. Try again once it has finished.`
      : `${path}: others write to it, and this user cannot move their log into it; no copy was made. Run this as the user who owns the pack.`;
  return new SvcError("pack_in_use", message, { path });
}
