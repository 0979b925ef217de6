import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { SvcError, UNSAFE_FILE } from "../../../domain/errors.ts";

const SIDECARS = ["-journal", "-wal", "-shm"];

/**
 * Checks the side files of a database before SQLite trusts them: journal, log, shared memory. Each must be a regular file with one name,
 * owned by this user or the database's owner. The encryption library checks again at each opening.
 * @param path of the database, which may be missing
 * @throws SvcError storage_failed, naming the file and what to do; nothing was opened or changed
 */
export function requireSafeSidecars(path: string): void {
  // SQLite resolves links of a database, and looks for side files next to the real file.
  const real = realPath(path);
  for (const suffix of SIDECARS) requireSafe(`${real}${suffix}`, real);
}

/**
 * @param path of a trusted file, which may be missing.
 * @param database whose owner may have made it, besides this user.
 * @throws SvcError storage_failed
 */
export function requireSafe(path: string, database: string): void {
  const reason = objectionTo(path, database);
  if (reason === undefined) return;
  throw new SvcError(
    "storage_failed",
    `${path}: ${reason}, and is not used: it could change the pack. Nothing was opened. Find out who made it, then move it away.`,
    { path, reason: UNSAFE_FILE },
  );
}

/**
 * Why a file or a folder must not be trusted, as the rest of a sentence; undefined if it may be, or is missing.
 * @param owned whose owner may have made it, besides this user
 */
export function objectionTo(
  path: string,
  owned: string,
  kind: "file" | "folder" = "file",
): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return "is a link";
  return kindObjection(stat, kind) ?? ownerObjection(stat.uid, owned);
}

function kindObjection(stat: Stats, kind: "file" | "folder"): string | undefined {
  if (kind === "folder") return stat.isDirectory() ? undefined : "is no folder";
  if (!stat.isFile()) return stat.isDirectory() ? "is a folder" : "is no regular file";
  return stat.nlink > 1 ? "has a second name (a hard link)" : undefined;
}

function ownerObjection(uid: number, owned: string): string | undefined {
  return isOwner(uid, owned) ? undefined : `belongs to another user (uid ${uid})`;
}

function isOwner(uid: number, database: string): boolean {
  // Systems without users have no such rule.
  if (process.geteuid === undefined) return true;
  return uid === process.geteuid() || uid === statSync(database, { throwIfNoEntry: false })?.uid;
}

/** A path without links. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Not created yet.
    return path;
  }
}
