import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
} from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { parseKey } from "../crypt/keys.ts";
import { replaceFile } from "../native/system-files.ts";

/** Larger than any key file. */
const MAX_BYTES = 4096;

/**
 * The key in a file: `raw_key:` and 32 bytes; undefined if there is no such file.
 * @throws SvcError encryption_failed if anyone but its owner can read or replace it, or if it holds no key
 */
export function readKeyFile(path: string): string | undefined {
  const file = openExisting(path);
  if (file === undefined) return undefined;
  try {
    const problem = problemOf(fstatSync(file), path) ?? folderProblem(dirname(path));
    if (problem !== undefined) throw unusable(path, problem);
    const content = Buffer.alloc(MAX_BYTES);
    const length = readSync(file, content);
    const key = content.toString("utf8", 0, length).trim();
    content.fill(0);
    if (!isRawKey(key)) throw unusable(path, "it holds no key; restore it from a backup");
    return key;
  } finally {
    closeSync(file);
  }
}

/**
 * Atomically and durably writes a key to a file that only this user can read, replacing an existing one. Creates its
 * folder.
 * @throws SvcError encryption_failed if the folder belongs to somebody else or cannot be written
 */
export function writeKeyFile(path: string, key: string): void {
  const folder = dirname(path);
  try {
    prepareFolder(folder);
    replaceFile(path, `${key}\n`);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw unusable(path, `it cannot be written (${reason}); make ${folder} writable`, error);
  }
}

/** Removes a key file. @returns whether there was one */
export function removeKeyFile(path: string): boolean {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  rmSync(path, { force: true });
  return isThere;
}

/** What is wrong with the folder of key files; undefined if it is fine or missing. */
function folderProblem(folder: string): string | undefined {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || process.getuid === undefined) return undefined;
  if (stat.uid !== process.getuid()) return `its folder belongs to another user`;
  return (stat.mode & 0o022) === 0
    ? undefined
    : `other users can write to its folder; run: chmod 700 ${folder}`;
}

function problemOf(stat: Stats, path: string): string | undefined {
  if (!stat.isFile()) return "it is no regular file";
  if (process.getuid === undefined) return undefined;
  if (stat.uid !== process.getuid()) return "it belongs to another user";
  if ((stat.mode & 0o077) === 0) return undefined;
  const mode = (stat.mode & 0o777).toString(8);
  return `other users can read or change it (mode ${mode}); run: chmod 600 ${path}`;
}

function openExisting(path: string): number | undefined {
  try {
    // A link would let somebody else choose which file is read.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP") throw unusable(path, "it is a symbolic link; put the file itself there");
    throw unusable(path, `it cannot be read (${String(code)})`, error);
  }
}

function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) throw unusable(folder, "it is no folder; move it away");
  if (process.getuid === undefined) return;
  if (stat.uid !== process.getuid()) throw unusable(folder, "it belongs to another user");
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function isRawKey(text: string): boolean {
  if (!text.startsWith("raw_key:")) return false;
  try {
    return parseKey(text).kind === "raw";
  } catch {
    // The text is not repeated anywhere; the caller names the file.
    return false;
  }
}

function unusable(path: string, reason: string, cause?: unknown): SvcError {
  return new SvcError(
    "encryption_failed",
    `${path}: the key file is not used: ${reason}`,
    { path },
    cause === undefined ? {} : { cause },
  );
}
