import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { deriveMasterKey, KEY_BYTES, SALT_BYTES, wipe } from "../adapters/crypt/keys.ts";
import { placeName } from "../adapters/keystore/key-store.ts";
import { toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { beginPack } from "../adapters/sqlite/connection/pack-files.ts";
import { withEncryptionKey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { parseOptionalUserId } from "../domain/arguments.ts";
import { SvcError } from "../domain/errors.ts";
import { keyStoreOf, saltOf } from "./find-key.ts";
import { openEngine } from "./open-engine.ts";
import { layoutOf } from "./pack-path.ts";

/** How a new pack is encrypted. */
export type NewKey =
  | { readonly kind: "plain" }
  /** 32 random bytes, kept on this machine. */
  | { readonly kind: "generated" }
  /** `isKept`: on this machine as well. */
  | { readonly kind: "chosen"; readonly key: string; readonly isKept: boolean };

export type MadePack = {
  readonly keptIn: string | undefined;
  readonly owner: string | undefined;
  readonly config: Config;
};

/**
 * Makes the configured pack, which must not exist yet. A key that is kept is kept before the pack appears, so that no
 * crash leaves a pack whose key is nowhere.
 * @param owner whose pack it is. Default: the user of the system
 * @returns where its key is kept, whose it is, and the configuration that opens it
 * @throws SvcError invalid_argument, encryption_failed, storage_failed, disk_full
 */
export async function createPack(
  config: Config,
  newKey: NewKey,
  owner?: string | undefined,
): Promise<MadePack> {
  parseOptionalUserId(owner);
  const keyText = keyTextFor(newKey);
  const settings = withEncryptionKey(config, keyText);
  const isKept = newKey.kind === "generated" || (newKey.kind === "chosen" && newKey.isKept);
  const keptIn = isKept && keyText !== undefined ? await beginKept(config, keyText) : undefined;
  const engine = await openEngine(settings);
  try {
    return { keptIn, config: settings, owner: await engine.claimPack(owner) };
  } finally {
    await engine.close();
  }
}

function keyTextFor(newKey: NewKey): string | undefined {
  if (newKey.kind === "plain") return undefined;
  if (newKey.kind === "chosen") return newKey.key;
  return `raw_key:${randomBytes(KEY_BYTES).toString("base64url")}`;
}

/** Keeps the key and makes the file that it belongs to. @returns where the key is kept */
async function beginKept(config: Config, keyText: string): Promise<string> {
  const layout = layoutOf(config);
  const path = mainPath(layout);
  const store = keyStoreOf(config);
  const salt = randomBytes(SALT_BYTES);
  const masterKey = await deriveMasterKey(keyText);
  try {
    const place = await store.save(salt, masterKey);
    try {
      mkdirSync(dirname(path), { recursive: true });
      beginPack(path, { masterKey }, salt);
      if (!isSalt(saltOf(layout), salt)) throw madeMeanwhile(path);
    } catch (error) {
      // Nothing has this salt.
      if (!isSalt(saltOf(layout), salt)) await store.forget(salt);
      throw toSvcError(error, path);
    }
    return placeName(place);
  } finally {
    wipe(masterKey);
  }
}

function isSalt(found: Uint8Array | undefined, salt: Uint8Array): boolean {
  return found !== undefined && Buffer.compare(found, salt) === 0;
}

function madeMeanwhile(path: string): SvcError {
  const message = `${path}: was made by another process meanwhile; it stays as it is`;
  return new SvcError("pack_in_use", message, { path });
}
