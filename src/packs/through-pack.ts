import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KEY_BYTES, rawKeyText } from "../adapters/crypt/keys.ts";
import { isTagGone, processTag } from "../adapters/native/process-identity.ts";
import { removeFolder } from "../adapters/native/system-files.ts";
import type { NewKey } from "../app/new-key.ts";
import { settingsOfFile } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";

/**
 * Uses a pack instead of a database, in a temporary folder that is removed afterwards. It is encrypted with a throwaway key.
 * @param use gets the settings of the pack, which does not exist yet, and its key
 */
export async function withPassingPack<T>(
  config: Config,
  use: (config: Config, key: NewKey) => Promise<T>,
): Promise<T> {
  const key: NewKey = { kind: "chosen", key: rawKeyText(randomBytes(KEY_BYTES)), isKept: false };
  return await inTemporaryFolder("svc-passing-", (folder) =>
    use(settingsOfFile(config, join(folder, "memory.pack")), key),
  );
}

/**
 * Uses an empty private folder and removes it afterwards, along with leftovers of this user's killed processes.
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

/** Whether a path is a folder of this user, and not a link. */
function isOwnFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return stat?.isDirectory() === true && (user === undefined || stat.uid === user);
}
