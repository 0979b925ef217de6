import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Whether the rights of a folder decide who may use a file in it: there are no users with numbers and no mode bits. */
export const IS_WINDOWS: boolean = process.platform === "win32";

/** This machine, as in the names of executables, kept libraries and packages: `linux-x64`. */
export const PLATFORM = `${IS_WINDOWS ? "windows" : process.platform}-${process.arch}`;

/** The ending of a native library's file name, without a point. */
export const LIBRARY_SUFFIX: string = IS_WINDOWS
  ? "dll"
  : process.platform === "darwin"
    ? "dylib"
    : "so";

/** Windows: what a file answers that a scanner or an index service has just opened; it lets go within a moment. */
const PASSING = ["EBUSY", "EPERM", "EACCES"];
/** Milliseconds between two tries, and how many there are: one and a half seconds in all. */
const PAUSE_MS = 50;
const TRIES = 30;

/**
 * Waits until the content of a file, or the names in a folder, are on disk. Never use it on a file that this process has open in
 * SQLite: closing a descriptor of it would drop SQLite's locks. Windows writes names to its own log and refuses to flush folders.
 */
export function syncToDisk(path: string): void {
  if (IS_WINDOWS && statSync(path).isDirectory()) return;
  const descriptor = openSync(path, IS_WINDOWS ? "r+" : "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a file another name, replacing what has that name. Where another program holds it open for a moment, it waits. */
export function renameFile(from: string, to: string): void {
  retryWhile(IS_WINDOWS ? PASSING : [], () => renameSync(from, to));
}

/** Writes a new file and waits until it is on disk. @param mode its permissions. @throws where the file exists */
export function writeNewFile(path: string, text: string, mode = 0o600): void {
  const descriptor = openSync(path, "wx", mode);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Atomically and durably gives a file this text, or creates it. @param mode permissions
 * @param ready called with the finished draft before it takes the place of the file; if it throws, nothing has changed
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
    rmSync(draft, { force: true });
  }
}

/** Removes a file, if it is there. Where another program holds it open for a moment, it waits. */
export function removeFile(path: string): void {
  retryWhile(IS_WINDOWS ? PASSING : [], () => rmSync(path, { force: true }));
}

/**
 * Removes a folder with all that is in it, if it is there. On Windows name by name: a file that a scanner holds open for a moment
 * would hinder the removal of the whole folder for good.
 */
export function removeFolder(folder: string): void {
  if (IS_WINDOWS) removeByName(folder);
  else rmSync(folder, { recursive: true, force: true });
}

/** As {@link removeFolder} does on Windows. */
export function removeByName(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeByName(path);
    else retryWhile(PASSING, () => unlinkSync(path));
  }
  retryWhile([...PASSING, "ENOTEMPTY"], () => rmdirSync(folder));
}

/** Calls again, for a while, what fails with one of these codes. @throws the last failure */
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
