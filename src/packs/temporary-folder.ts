import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTagGone, processTag } from "../adapters/native/process-identity.ts";
import { removeFolder } from "../adapters/native/system-files.ts";

/**
 * Does something in an empty folder that nobody else can read, and removes the folder; also those that killed processes of this
 * user left.
 * @param prefix of its name
 */
export async function inTemporaryFolder<T>(
  prefix: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix) || !isTagGone(name.slice(prefix.length))) continue;
    const path = join(tmpdir(), name);
    if (isOwnFolder(path)) removeFolder(path);
  }
  const folder = join(tmpdir(), prefix + processTag());
  mkdirSync(folder, { mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    removeFolder(folder);
  }
}

/** Whether a path is a folder of this user, and no link. */
function isOwnFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return stat?.isDirectory() === true && (user === undefined || stat.uid === user);
}
