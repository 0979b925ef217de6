import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { KEY_BYTES, rawKeyText } from "../adapters/crypt/keys.ts";
import { settingsOfFile } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import type { NewKey } from "./create-pack.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/**
 * Does something with a pack in a database's place, in a temporary folder that is removed afterwards. What is in it is encrypted with a
 * key that nobody keeps.
 * @param use gets the settings of the pack, which does not exist yet, and the key that it is to have
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
