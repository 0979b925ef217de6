import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { isTagGone, processTag } from "../../native/process-identity.ts";
import { removeFile, removeFolder } from "../../native/system-files.ts";

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
