import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";

/** Windows: access is decided by the folder's permissions, without user numbers or mode bits. */
export const IS_WINDOWS: boolean = process.platform === "win32";

/** This machine, as in the names of executables, kept libraries and packages: `linux-x64`. */
export const PLATFORM = `${IS_WINDOWS ? "windows" : process.platform}-${process.arch}`;

/** The suffix of a native library's file name, without a dot. */
export const LIBRARY_SUFFIX: string = IS_WINDOWS
  ? "dll"
  : process.platform === "darwin"
    ? "dylib"
    : "so";

/** Windows: errors of a file that a virus scanner or indexer has just opened; they last only a moment. */
const PASSING = ["EBUSY", "EPERM", "EACCES"];
/** Milliseconds between two attempts, and their number: one and a half seconds in all. */
const PAUSE_MS = 50;
const TRIES = 30;

/**
 * Waits until the content of a file, or the names in a folder, are on disk. Never use it on a file that this process has open in
 * SQLite: closing a descriptor of it would drop SQLite's locks. Windows writes names to its own log and refuses to flush folders.
 */
export function syncToDisk(path: string): void {
  if (IS_WINDOWS && fs.statSync(path).isDirectory()) return;
  const descriptor = fs.openSync(path, IS_WINDOWS ? "r+" : "r");
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Renames a file, replacing an existing one. Waits if another program holds it open for a moment. */
export function renameFile(from: string, to: string): void {
  retryWhile(IS_WINDOWS ? PASSING : [], () => fs.renameSync(from, to));
}

/** Writes a new file and syncs it to disk. @param mode its permissions @throws if the file exists */
export function writeNewFile(path: string, text: string, mode = 0o600): void {
  const descriptor = fs.openSync(path, "wx", mode);
  try {
    fs.writeSync(descriptor, text);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Atomically and durably replaces a file's text, or creates the file.
 * @param mode permissions
 * @param ready called with the finished draft before it replaces the file; if it throws, nothing has changed
 */
export function replaceFile(
  path: string,
  text: string,
  mode?: number,
  ready: (draft: string) => void = () => undefined,
): void {
  const folder = dirname(path);
  const draft = join(folder, `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  try {
    writeNewFile(draft, text, mode);
    ready(draft);
    renameFile(draft, path);
    syncToDisk(folder);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Removes a file if it exists. Waits if another program holds it open for a moment. */
export function removeFile(path: string): void {
  retryWhile(IS_WINDOWS ? PASSING : [], () => fs.rmSync(path, { force: true }));
}

/**
 * Removes a folder recursively, if it exists. On Windows entry by entry: a file that a scanner holds open for a moment would make the
 * removal of the whole folder fail permanently.
 */
export function removeFolder(folder: string): void {
  if (IS_WINDOWS) removeByName(folder);
  else fs.rmSync(folder, { recursive: true, force: true });
}

/** As {@link removeFolder} does on Windows. */
export function removeByName(folder: string): void {
  if (fs.statSync(folder, { throwIfNoEntry: false }) === undefined) return;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeByName(path);
    else retryWhile(PASSING, () => fs.unlinkSync(path));
  }
  retryWhile([...PASSING, "ENOTEMPTY"], () => fs.rmdirSync(folder));
}

/** Retries a call for a while if it fails with one of these codes. @throws the last failure */
export function retryWhile(codes: readonly string[], change: () => void): void {
  for (let tries = 1; ; tries += 1) {
    try {
      change();
      return;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (!codes.includes(code) || tries === TRIES) throw error;
      Bun.sleepSync(PAUSE_MS);
    }
  }
}
