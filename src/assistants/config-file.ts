import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { replaceFile, writeNewFile } from "../adapters/native/system-files.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import type { Instant } from "../lib/instant.ts";
import type { Place } from "./catalogue.ts";

/** Between a file's name and its backup time. */
const BACKUP = ".svc-backup-";
const PRIVATE = 0o600;

/** A backup of a configuration file. */
export type Backup = { readonly path: string; readonly text: string };

/**
 * The text of a configuration file; undefined if there is none.
 * @throws SvcError invalid_argument for anything but a readable text file
 */
export function readConfig(file: string): string | undefined {
  let bytes: Buffer;
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) {
      if (!isLink(file)) return undefined;
      throw invalid(
        file,
        `is a link to ${readlinkSync(file)}, which is missing; make that file, or take the link away. Nothing was changed`,
      );
    }
    if (!stat.isFile()) throw invalid(file, "is no file; nothing was changed");
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw invalid(file, `cannot be read (${codeOf(error)}); nothing was changed`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(file, "is not UTF-8 text; nothing was changed");
  }
}

/**
 * Atomically and durably replaces the text of a file, or creates the file. Links and permissions stay. A new file is private unless it
 * belongs to a project.
 * @param before the expected content; undefined: no file
 * @throws SvcError invalid_argument if the content differs, storage_failed if it cannot be written
 */
export function writeConfig(
  file: string,
  before: string | undefined,
  after: string,
  isShared: boolean,
): void {
  guarded(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    const target = before === undefined ? file : realpathSync(file);
    const stat = statSync(target, { throwIfNoEntry: false });
    // A rename would not check this.
    if (stat !== undefined) accessSync(target, constants.W_OK);
    const mode = stat === undefined && isShared ? 0o666 : PRIVATE;
    replaceFile(target, after, mode, (draft) => {
      if (stat !== undefined) takeOver(draft, stat);
      requireText(file, before);
    });
  });
}

/** Removes a file. @throws SvcError invalid_argument if its content is not the expected one, storage_failed */
export function removeConfig(file: string, before: string): void {
  guarded(file, () => {
    requireText(file, before);
    rmSync(file);
  });
}

/** Removes empty folders above a file, up to those that do not belong to its client. A link to a folder stays. */
export function removeEmptyFolders({ file, base }: Place): void {
  const top = resolve(base);
  let folder = dirname(resolve(file));
  while (folder.startsWith(top + sep) && !isLink(folder) && removeFolder(folder)) {
    folder = dirname(folder);
  }
}

/** @returns whether the folder was empty and has been removed */
function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    // It is in use, or belongs to another user: it stays, and the change is still undone.
    return false;
  }
}

export function removeCopies(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}

/** Backs up a text next to its file, private to this user. @returns the path of the copy */
export function backUp(file: string, text: string, now: Instant): string {
  const stamp = now.replace(/\.\d+/, "").replace(/[-:]/g, "");
  return guarded(file, () => {
    for (let count = 1; ; count += 1) {
      const path = `${file}${BACKUP}${stamp}${count === 1 ? "" : `-${count}`}`;
      try {
        writeNewFile(path, text, PRIVATE);
        return path;
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
    }
  });
}

/** The backups of an existing file, newest first. Unreadable ones are left out. */
export function backupsOf(file: string): readonly Backup[] {
  const start = `${basename(file)}${BACKUP}`;
  // Of two backups of the same second, the one with the larger number is newer.
  const byAge = new Intl.Collator("en", { numeric: true }).compare;
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start))
    .sort(byAge)
    .reverse()
    .flatMap((name) => {
      const path = join(dirname(file), name);
      try {
        const text = readConfig(path);
        return text === undefined ? [] : [{ path, text }];
      } catch {
        // Possibly another user's file of a similar name; the other backups are used.
        return [];
      }
    });
}

function requireText(file: string, expected: string | undefined): void {
  if (readConfig(file) === expected) return;
  throw invalid(file, "was changed by another program meanwhile, and was left as it is; try again");
}

/** Gives a draft the permissions of the file that it replaces and, where this user may, its owner. */
function takeOver(draft: string, { mode, uid, gid }: Stats): void {
  const own = lstatSync(draft);
  if (uid !== own.uid || gid !== own.gid) tryChown(draft, uid, gid);
  chmodSync(draft, mode & 0o7777);
}

function tryChown(path: string, uid: number, gid: number): void {
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    // Only a superuser may change owners; otherwise the file becomes this user's, who could write it before.
    if (codeOf(error) !== "EPERM") throw error;
  }
}

/** Whether a path is a symbolic link, whatever its target. */
export function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}

function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const message = `${file}: cannot be written (${codeOf(error)}); check the permissions of file and folder, and the disk`;
    throw new SvcError("storage_failed", message, { path: file }, { cause: error });
  }
}
