import { createHash, randomBytes } from "node:crypto";
import { linkSync, lstatSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where processes of this user meet: the session's runtime folder, else one in the folder of configuration. Assistants pass on
 * few variables, so the usual place of the runtime folder is checked, too.
 * @param own folder of this user's configuration of the program, which may not exist
 */
export function socketFolder(environment: Environment, own: string): string {
  const user = process.getuid?.() ?? 0;
  const session = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${user}`;
  const isUsable =
    isAbsolute(session) &&
    lstatSync(session, { throwIfNoEntry: false }) !== undefined &&
    folderComplaint(session, user) === undefined;
  return isUsable ? join(session, "svc") : join(own, "run");
}

/**
 * Where the processes of one pack meet: a socket in a folder of this user.
 * @param mainFile absolute, without links, so that one pack has one address
 */
export function socketAddress(folder: string, mainFile: string): string {
  const name = createHash("sha256").update(mainFile).digest("hex").slice(0, 24);
  return join(folder, `${name}.sock`);
}

/**
 * Where the processes of one pack meet on Windows: a named pipe. Every user may use any name there, so this one can only be
 * computed by who knows the secret; who listens has to prove that all the same.
 */
export function pipeAddress(secret: string, mainFile: string): string {
  const name = createHash("sha256")
    .update(JSON.stringify([secret, mainFile]))
    .digest("hex");
  return `\\\\.\\pipe\\svc-${name.slice(0, 32)}`;
}

/** Identifies a file regardless of its name: an inode number alone is reused for the next file. */
export type FileMark = {
  readonly device: bigint;
  readonly inode: bigint;
  readonly madeAt: bigint;
};

export type FoundFile = {
  readonly mark: FileMark;
  readonly isSocket: boolean;
  /** Number of the user. */
  readonly owner: number;
};

/** The file of that name, without following links; undefined if there is none. */
export function findFile(path: string): FoundFile | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return {
    mark: { device: stat.dev, inode: stat.ino, madeAt: stat.mtimeNs },
    isSocket: stat.isSocket(),
    owner: Number(stat.uid),
  };
}

export function isSameFile(one: FileMark, other: FileMark | undefined): boolean {
  return one.device === other?.device && one.inode === other.inode && one.madeAt === other.madeAt;
}

/** Why a folder does not belong to this user alone; undefined if it does. */
export function folderComplaint(folder: string, user: number): string | undefined {
  // A link would let somebody else choose which folder is used.
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return "its folder is a link, or no folder";
  if (stat.uid !== user) return "its folder belongs to another user";
  return (stat.mode & 0o077) === 0 ? undefined : "its folder is open to other users";
}

/** A temporary name for a file that is about to be renamed or removed. */
export function passingName(path: string): string {
  return `${path}.${randomBytes(4).toString("hex")}`;
}

/** Files with a temporary name that a process left behind when it ended, or still has. */
export function passingFiles(path: string): readonly string[] {
  const [folder, name] = [dirname(path), basename(path)];
  return readdirSync(folder)
    .filter(
      (other) => other.startsWith(`${name}.`) && /^[0-9a-f]{8}$/.test(other.slice(name.length + 1)),
    )
    .map((other) => join(folder, other));
}

/** Removes the file of that name if it is still this one and not another that got the name meanwhile. */
export function removeFile(path: string, mark: FileMark): void {
  if (!isSameFile(mark, findFile(path)?.mark)) return;
  // Checking and removing are two steps. Renaming is one, and can be undone.
  const aside = passingName(path);
  if (!whenThere(() => renameSync(path, aside))) return;
  if (!isSameFile(mark, findFile(aside)?.mark)) giveBack(aside, path);
  whenThere(() => unlinkSync(aside));
}

/** @returns whether there was such a file */
export function whenThere(change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function giveBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    // The next one is already there: its process serves those that come from now on.
    if (!hasCode(error, "EEXIST")) throw error;
  }
}
