import type { Database } from "bun:sqlite";
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { IS_WINDOWS, syncToDisk } from "../../native/system-files.ts";
import { ask, hasRow } from "../connection/ask.ts";
import { inUse, openAlone, openExclusively, type WholePack } from "../connection/exclusive.ts";
import { toSvcError } from "../connection/failures.ts";
import { filesOf, mainPath, schemasOf } from "../connection/layout.ts";
import { turnToLog } from "../connection/open-database.ts";
import { requireSameShape } from "./compare.ts";
import { type CopyKey, copyFile } from "./copy-pack.ts";
import {
  copyPermissions,
  createHidden,
  discard,
  hiddenBeside,
  isSwapPending,
  type Move,
  removeCompanions,
  removeLeftovers,
  swapFiles,
} from "./swap-files.ts";

/** Total sizes of all files of a pack. */
export type Rewritten = { readonly bytesBefore: number; readonly bytesAfter: number };

export type RewriteInput = WholePack & {
  readonly purpose: "compact" | "rekey";
  /** The key of the copy of a file; undefined: unencrypted. */
  keyFor(file: string): CopyKey | undefined;
  /** Called once the new files are in place, before other processes can open the pack. */
  readonly onSwapped?: (() => void) | undefined;
};

type Copy = { readonly schema: string; readonly file: string; readonly path: string };

/**
 * Replaces each file of a pack with a compact copy of itself. The pack is unchanged until the last step, even after a crash; that step is
 * one rename (for a directory pack, one record of several).
 * @throws SvcError pack_in_use, disk_full and what opening a pack throws; the pack is then unchanged, and the copy is removed
 */
export async function rewritePack(input: RewriteInput): Promise<Rewritten> {
  const database = openExclusively(input);
  try {
    return await rewriteOn(database, input);
  } catch (error) {
    throw toSvcError(error, mainPath(input.layout));
  } finally {
    database.close();
  }
}

async function rewriteOn(database: Database, input: RewriteInput): Promise<Rewritten> {
  const schemas = schemasOf(input.layout);
  const copies = filesOf(input.layout).map((file, i) => ({
    schema: schemas[i] ?? "main",
    file,
    path: hiddenBeside(file, input.purpose),
  }));
  for (const { file } of copies) removeLeftovers(file);
  requireRoom(database, copies);
  const discardCopies = (): void => {
    // Once the swap is decided, the copies are the pack.
    if (isSwapPending(filesOf(input.layout))) return;
    for (const { path } of copies) discard(path);
  };
  return await withCleanup(discardCopies, async () => {
    for (const copy of copies) {
      await interruptible();
      dropRemovedWords(database, copy.schema);
      makeCopy(database, input, copy);
    }
    await interruptible();
    const bytesBefore = sizeOf(copies.map(({ file }) => file));
    if (IS_WINDOWS) letGo(database, copies, input);
    return swap(copies, input, bytesBefore);
  });
}

/**
 * Merges the segments of the text index into one. A removed document is only marked in the segment with its words, and a copy would keep
 * both. Search results stay the same.
 */
function dropRemovedWords(database: Database, schema: string): void {
  const index = "lexical_documents";
  const isThere = hasRow(database, `${schema}.sqlite_schema WHERE name = ?`, index);
  if (isThere) database.run(`INSERT INTO ${schema}.${index} (${index}) VALUES ('optimize')`);
}

function makeCopy(database: Database, input: RewriteInput, { schema, file, path }: Copy): void {
  const key = input.keyFor(file);
  createHidden(path);
  copyFile(database, schema, path, key);
  const layout = { kind: "file", path } as const;
  const copy = openAlone({ layout, cipher: key?.cipher });
  try {
    turnToLog(copy, layout);
    requireSameShape({ database, schema }, { database: copy, schema: "main" }, file);
  } finally {
    copy.close();
  }
  copyPermissions(file, path);
  syncToDisk(path);
  syncToDisk(dirname(path));
}

/**
 * Closes the pack: Windows replaces no open file. If another process opens it in between, it cannot be replaced, and writes show in the
 * file's time.
 * @throws SvcError pack_in_use; nothing was changed
 */
function letGo(database: Database, copies: readonly Copy[], { layout }: RewriteInput): void {
  const times = (): string =>
    copies.map(({ file }) => String(statSync(file, { bigint: true }).mtimeNs)).join();
  // Our part of the log would be checkpointed on closing, and look like another process's work.
  for (const { schema } of copies) database.run(`PRAGMA ${schema}.wal_checkpoint(TRUNCATE)`);
  const before = times();
  database.close();
  if (times() !== before) throw inUse(mainPath(layout));
}

function swap(copies: readonly Copy[], input: RewriteInput, bytesBefore: number): Rewritten {
  const bytesAfter = sizeOf(copies.map(({ path }) => path));
  // The logs are empty and not open elsewhere. After the swap they would belong to the wrong files.
  for (const { file } of copies) removeCompanions(file);
  swapFiles(copies.map(({ path, file }): Move => ({ from: path, to: file })));
  input.onSwapped?.();
  return { bytesBefore, bytesAfter };
}

/** The total size of several files in bytes; a missing one counts as empty. */
export function sizeOf(files: readonly string[]): number {
  return files.reduce(
    (total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Rejects, before writing, a copy that would fill the disk. Copies have no free pages, so they need no more space. */
function requireRoom(database: Database, copies: readonly Copy[]): void {
  const needed = new Map<number, { bytes: number; readonly folder: string }>();
  for (const { schema, path } of copies) {
    const folder = dirname(path);
    const { dev } = statSync(folder);
    const entry = needed.get(dev) ?? { bytes: 0, folder };
    entry.bytes += usedBytes(database, schema);
    needed.set(dev, entry);
  }
  for (const { bytes, folder } of needed.values()) requireFree(folder, bytes);
}

/** @throws SvcError disk_full if the disk of a folder has less room than this */
export function requireFree(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  const megabytes = (value: number): string => `${Math.ceil(value / 1e5) / 10} MB`;
  throw new SvcError(
    "disk_full",
    `${folder}: the copy needs ${megabytes(bytes)} and only ${megabytes(free)} are free; nothing was changed. Free some space and try again.`,
    { path: folder },
  );
}

/** Bytes of the used pages of a file. */
export function usedBytes(database: Database, schema: string): number {
  const read = (pragma: string): number => ask<number>(database, `PRAGMA ${schema}.${pragma}`) ?? 0;
  return (read("page_count") - read("freelist_count")) * read("page_size");
}

/** Runs `work`, then `clean`, even if the process is asked to end meanwhile. */
export async function withCleanup<T>(clean: () => void, work: () => Promise<T>): Promise<T> {
  process.once("exit", clean);
  try {
    return await work();
  } finally {
    process.off("exit", clean);
    clean();
  }
}

/** Lets the process notice a Ctrl-C; SQLite's own work cannot be interrupted. */
export async function interruptible(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
