import { SQLiteError } from "bun:sqlite";
import { existsSync, readdirSync, statfsSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { PACK_MOVED, SvcError, UNSAFE_FILE } from "../../../domain/errors.ts";
import { editDistance } from "../../../lib/text.ts";
import { packDamaged } from "../../crypt/keys.ts";

/** Whether SQLite gave up waiting for another writer. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code?.startsWith("SQLITE_BUSY") ?? false);
}

/** A SQLite or file-system failure in the caller's terms: the pack, the problem, the remedy. Other errors are returned unchanged. */
export function toSvcError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const data = { path };
  if (code.startsWith("SQLITE_FULL") || FULL.includes(code) || isFullAt(code, path)) {
    const message = `${path}: the disk is full; nothing of this operation was stored. Free some space and try again.`;
    return new SvcError("disk_full", message, data, { cause: error });
  }
  if (code.startsWith("SQLITE_BUSY")) {
    const message = `${path}: another process is writing and did not finish in time; nothing of this operation was stored. Try again.`;
    return new SvcError("storage_busy", message, data, { cause: error });
  }
  if (code === "SQLITE_READONLY_DBMOVED") return packMoved(path, error);
  if (code.startsWith("SQLITE_READONLY") || code === "EROFS") {
    return readOnly(path, error);
  }
  if (code.startsWith("SQLITE_NOTADB"))
    return notAPack(path, "its content is not that of a pack", error);
  if (code === "SQLITE_IOERR_DATA" || code.startsWith("SQLITE_CORRUPT")) {
    return packDamaged(path, error);
  }
  const message = `${path}: cannot be read or written (${code}). Check permissions and the disk, then run: svc doctor ${path}`;
  return new SvcError("storage_failed", message, { ...data, reason: code }, { cause: error });
}

const FULL = ["ENOSPC", "EDQUOT"];
/** Less room than SQLite needs to start a log and its index. */
const NO_ROOM_BYTES = 64 * 1024;

/** Whether a failure without a reason from SQLite is due to a full disk, as for the index of a log. */
function isFullAt(code: string, path: string): boolean {
  if (!code.startsWith("SQLITE_IOERR") && !code.startsWith("SQLITE_CANTOPEN")) return false;
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < NO_ROOM_BYTES;
  } catch {
    return false;
  }
}

/** The error for a pack whose main file was moved or deleted. */
export function packMoved(path: string, cause?: unknown): SvcError {
  return new SvcError(
    "storage_failed",
    `${path}: was deleted, moved or replaced while this process had it open; nothing of this operation was stored. Put the file back under its name, or restart this process to use what is there now.`,
    { path, reason: PACK_MOVED },
    cause === undefined ? undefined : { cause },
  );
}

/** The error for a main file overwritten in place by another program. @param aside where its log is now; empty without one */
export function fileOverwritten(path: string, aside: string): SvcError {
  const rest =
    aside === ""
      ? ""
      : ` What was acknowledged and is not in the file is in its former log, now ${aside}.`;
  return new SvcError(
    "storage_failed",
    `${path}: was overwritten while this process had it open; nothing of this operation was stored.${rest} Restart this process to use what is there now.`,
    { path, reason: PACK_MOVED },
  );
}

/** The code of a SQLite or file-system failure; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof SQLiteError) return error.code ?? "SQLITE_ERROR";
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return /^(?:E[A-Z]+|SQLITE_\w+)$/.test(error.code) ? error.code : undefined;
  }
  return undefined;
}

/** The error for a missing pack. @param advice the situation or what to do, as part of a sentence */
export function noSuchPack(path: string, advice?: string): SvcError {
  const folder = dirname(path);
  // A name that does not end in .pack is taken as the folder of a pack.
  const isFolder = basename(path) === "memory.db" && !existsSync(folder);
  const id = isFolder ? folder : path;
  const near = nearPack(id);
  const hints = [
    ...(existsSync(path) ? ["the file is empty"] : []),
    ...(isFolder ? ["the name of a pack ends in .pack, unless it is a folder"] : []),
    ...(near === undefined ? [] : [`did you mean ${near}?`]),
    ...(advice === undefined ? [] : [advice.replace(path, () => id)]),
  ];
  const message = [`${id}: no such pack`, ...hints].join("; ");
  return new SvcError("not_found", message, { kind: "pack", id });
}

/** A pack in the same folder whose name differs only in its suffix or two letters. */
function nearPack(path: string): string | undefined {
  const folder = dirname(path);
  const wanted = parse(path).name;
  try {
    const names = readdirSync(folder).filter(
      (name) => name.endsWith(".pack") && join(folder, name) !== path,
    );
    const distances = names.map((name) => editDistance(wanted, parse(name).name));
    const least = Math.min(...distances);
    const name = names[distances.indexOf(least)];
    return name === undefined || least > 2 || least >= wanted.length
      ? undefined
      : join(folder, name);
  } catch {
    return undefined;
  }
}

export function readOnly(path: string, cause?: unknown): SvcError {
  const message = `${path}: is read-only; nothing was changed. Make the file and its folder writable for this user.`;
  return new SvcError("pack_read_only", message, { path }, cause === undefined ? {} : { cause });
}

/** @param advice as for `noSuchPack` @throws SvcError not_found */
export function requirePack(path: string, advice?: string): void {
  if (!existsSync(path)) throw noSuchPack(path, advice);
}

/** The error for a writable pack that must not be written. */
export function keptUnchanged(path: string): SvcError {
  const message = `${path}: was opened read-only; nothing was changed. Leave out --read-only to write.`;
  return new SvcError("pack_read_only", message, { path });
}

/** The error for a pack with another hard link, under which its log would be a different one. */
export function secondName(path: string): SvcError {
  return new SvcError(
    "storage_failed",
    `${path}: has a second name (a hard link), and written by two names a pack is destroyed; nothing was changed. Remove the other name (find -samefile finds it), or use a copy.`,
    { path, reason: UNSAFE_FILE },
  );
}

export function notAPack(path: string, reason: string, cause?: unknown): SvcError {
  return new SvcError(
    "not_a_pack",
    `${path}: is not a pack (${reason}). Nothing was changed; give another path, or create a pack with: svc init`,
    { path },
    cause === undefined ? undefined : { cause },
  );
}
