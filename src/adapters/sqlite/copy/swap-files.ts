import * as fs from "node:fs";
import { existsSync, linkSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { SvcError } from "../../../domain/errors.ts";
import { isTagGone, processTag } from "../../native/process-identity.ts";
import { removeFile, removeFolder, renameFile, syncToDisk } from "../../native/system-files.ts";
import { codeOf } from "../connection/failures.ts";
import { requireSafe } from "../connection/sidecars.ts";

/** A finished file and its target name. */
export type Move = { readonly from: string; readonly to: string };

/**
 * Replaces the files of a pack with finished ones: all or none, even after a crash. One file takes one rename. Several need a record next
 * to the first one, which the next process to open the pack completes. The caller has exclusive access to the pack and has written the
 * files to disk.
 */
export function swapFiles(moves: readonly Move[]): void {
  const [first] = moves;
  if (first === undefined) return;
  if (moves.length === 1) {
    renameFile(first.from, first.to);
    syncToDisk(dirname(first.to));
    return;
  }
  const record = recordPath(first.to);
  const folder = dirname(record);
  const named = moves.map(({ from, to }) => ({
    from: relative(folder, from),
    to: relative(folder, to),
  }));
  const text = `${JSON.stringify({ moves: named })}\n`;
  const draft = `${record}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  syncToDisk(draft);
  renameFile(draft, record);
  syncToDisk(folder);
  carryOut(moves, record, text);
}

/** Whether the files of a pack are in the middle of a swap. @param files the main file first */
export function isSwapPending([main, ...others]: readonly string[]): boolean {
  return main !== undefined && others.length > 0 && existsSync(recordPath(main));
}

/**
 * Completes a swap that a process left unfinished. Harmless if another process does the same at the same time.
 * @param files those of the pack; the record must not name others.
 * @throws SvcError storage_failed for a record that this program did not write, or files of another user; nothing was
 *   changed
 */
export function finishSwap(files: readonly string[]): void {
  const record = recordPath(files[0] ?? "");
  if (!isSwapPending(files)) return;
  requireSafe(record, files[0] ?? "");
  let text: string;
  try {
    text = readFileSync(record, "utf8");
  } catch (error) {
    // Another process has just finished it.
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  const moves = parseRecord(text, record, files);
  for (const { from, to } of moves) requireSafe(from, to);
  carryOut(moves, record, text);
}

function carryOut(moves: readonly Move[], record: string, text: string): void {
  for (const { from, to } of moves) {
    try {
      renameFile(from, to);
    } catch (error) {
      // Done already.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
  for (const folder of new Set(moves.map(({ to }) => dirname(to)))) syncToDisk(folder);
  // A record of a later swap must not be removed.
  if (existsSync(record) && readFileSync(record, "utf8") === text) removeFile(record);
  syncToDisk(dirname(record));
}

function parseRecord(text: string, record: string, files: readonly string[]): readonly Move[] {
  const folder = dirname(record);
  const found: unknown[] = readMoves(text);
  const moves = found.flatMap((move) => {
    if (typeof move !== "object" || move === null || !("from" in move) || !("to" in move))
      return [];
    if (typeof move.from !== "string" || typeof move.to !== "string") return [];
    return [{ from: resolve(folder, move.from), to: resolve(folder, move.to) }];
  });
  const known = files.map((file) => resolve(file));
  const isOurs = moves.every(({ from, to }) => known.includes(to) && isHiddenFor(from, to));
  if (moves.length === 0 || moves.length !== found.length || !isOurs) {
    throw new SvcError(
      "storage_failed",
      `${record}: does not name files of this pack; nothing was changed. Restore the pack from a copy, or remove that file if you made it.`,
      { path: record },
    );
  }
  return moves;
}

function readMoves(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && "moves" in value;
    return isRecord && Array.isArray(value.moves) ? value.moves : [];
  } catch {
    return [];
  }
}

function recordPath(main: string): string {
  return join(dirname(main), `.${basename(main)}.swap`);
}

/**
 * Gives a finished file its name, unless the name is taken.
 * @returns false if the name is taken; nothing was changed
 */
export function publishFile(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    removeFile(from);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    // File systems without hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    if (existsSync(to)) return false;
    renameFile(from, to);
  }
  syncToDisk(dirname(to));
  return true;
}

/** The purpose of a file under construction; part of its name. */
export type Purpose = "compact" | "rekey" | "migrate" | "backup" | "import" | "restore" | "new";

const HIDDEN =
  /^\.(?<name>.+)\.(?<tag>[0-9a-f]{32})\.(?:compact|rekey|migrate|backup|import|restore|new)(?:-wal|-shm|-journal)?$/;
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** A fresh name `.<name>.<32 hex digits>.<purpose>` in the folder of `path`, for a file that will become `path`. */
export function hiddenBeside(path: string, purpose: Purpose): string {
  return join(dirname(path), `.${basename(path)}.${processTag()}.${purpose}`);
}

/** Whether `hidden` is a name that `hiddenBeside` makes for `path`. */
export function isHiddenFor(hidden: string, path: string): boolean {
  const name = HIDDEN.exec(basename(hidden))?.groups?.["name"];
  return name === basename(path) && dirname(hidden) === dirname(path);
}

/** Removes leftovers of ended processes next to `path`. */
export function removeLeftovers(path: string): void {
  for (const hidden of hiddenFilesOf(path)) {
    if (!isTagGone(HIDDEN.exec(basename(hidden))?.groups?.["tag"] ?? "")) continue;
    (fs.lstatSync(hidden).isDirectory() ? removeFolder : removeFile)(hidden);
  }
}

/** The files and folders under construction for `path`, or left over from it. */
export function hiddenFilesOf(path: string): readonly string[] {
  const folder = dirname(path);
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => HIDDEN.exec(name)?.groups?.["name"] === basename(path))
      .map((name) => join(folder, name));
  } catch {
    // Missing, or not readable by this user.
    return [];
  }
}

/** Creates an empty file that only its owner may read. @throws if the name is taken */
export function createHidden(path: string): void {
  fs.closeSync(fs.openSync(path, "wx", 0o600));
}

/** Removes a file and its SQLite side files. */
export function discard(path: string): void {
  for (const suffix of ["", ...COMPANIONS]) removeFile(`${path}${suffix}`);
}

/** Removes the empty log and the shared memory of a file after a checkpoint. */
export function removeCompanions(path: string): void {
  for (const suffix of COMPANIONS) removeFile(`${path}${suffix}`);
}

/** Gives `copy` the permissions of `original` and, as far as this user may, its owner. */
export function copyPermissions(original: string, copy: string): void {
  const { mode, uid, gid } = fs.statSync(original);
  if (process.getuid?.() === 0) fs.chownSync(copy, uid, gid);
  // After the owner: changing that clears special bits.
  fs.chmodSync(copy, mode & 0o7777);
}
