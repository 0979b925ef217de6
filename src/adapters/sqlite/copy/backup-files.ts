import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { syncToDisk } from "../../native/system-files.ts";
import { countRows } from "../connection/ask.ts";
import { openAlone, type WholePack } from "../connection/exclusive.ts";
import { toSvcError } from "../connection/failures.ts";
import { filesOf, mainPath, type PackLayout, schemasOf } from "../connection/layout.ts";
import { readMark, writeMark } from "../connection/own-log.ts";
import { requireSameShape } from "./compare.ts";
import { createHidden } from "./hidden-file.ts";
import { type Pinned, pinPack } from "./pinned.ts";
import { interruptible, requireFree } from "./rewrite-pack.ts";

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
  const { layout, target, cipher, vecExtensionPath } = input;
  const copy = openAlone({ layout: target, cipher, vecExtensionPath });
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
