import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { keyWrong } from "../adapters/crypt/failures.ts";
import { deriveMasterKey, wipe } from "../adapters/crypt/keys.ts";
import { writePrivately } from "../adapters/keystore/key-files.ts";
import { placeName } from "../adapters/keystore/key-store.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import { findKey, type KeyRequest, keyStoreOf, opensPack, saltOf } from "./find-key.ts";
import { isPackEncrypted } from "./pack-key.ts";
import { layoutOf } from "./pack-path.ts";

/** What is known about the key of a pack; never the key itself. */
export type KeyStatus = {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly encrypted: boolean;
  /** By which the key is kept, in hexadecimal digits; undefined for a pack in clear. */
  readonly salt: string | undefined;
  /** Where a key for the pack is kept on this machine, with what keeps it from being used. */
  readonly places: readonly { readonly place: string; readonly problem: string | undefined }[];
  /** Whether the settings hold a key that is used. */
  readonly inSettings: boolean;
};

/** What is known about the key of the configured pack. @throws SvcError not_found */
export async function keyStatus(config: Config): Promise<KeyStatus> {
  const layout = existing(config);
  const encrypted = isPackEncrypted(layout);
  const salt = encrypted ? saltOf(layout) : undefined;
  const places = salt === undefined ? [] : await keyStoreOf(config).places(salt);
  return {
    path: mainPath(layout),
    encrypted,
    salt: salt && Buffer.from(salt).toString("hex"),
    places: places.map(({ place, problem }) => ({ place: placeName(place), problem })),
    inSettings: config.encryption_enabled && (config.encryption_key ?? "") !== "",
  };
}

/**
 * The key of the configured pack, as `raw_key:` text; with a file, it is written there for its owner alone instead.
 * @throws SvcError invalid_argument for a pack in clear or a file that exists, encryption_failed, not_found
 */
export async function exportKey(
  config: Config,
  request: KeyRequest,
  output: string | undefined,
): Promise<{ readonly key: string | undefined; readonly path: string | undefined }> {
  const layout = encrypted(config);
  const found = await findKey(config, request);
  const text = found.config.encryption_key ?? "";
  if (text === "" || !(await opensPack(layout, text))) throw keyWrong(mainPath(layout));
  const masterKey = await deriveMasterKey(text);
  const key = `raw_key:${Buffer.from(masterKey).toString("base64url")}`;
  wipe(masterKey);
  if (output === undefined) return { key, path: undefined };
  const path = resolve(output);
  writeNew(path, `${key}\n`);
  return { key: undefined, path };
}

/**
 * Keeps a key of the configured pack on this machine, once it was seen to open the pack.
 * @returns where it is kept @throws SvcError invalid_argument, invalid_config, encryption_failed, not_found
 */
export async function importKey(config: Config, keyText: string): Promise<string> {
  const layout = encrypted(config);
  if (keyText === "") throw invalid("key", "is empty; nothing was kept");
  if (!(await opensPack(layout, keyText))) throw keyWrong(mainPath(layout));
  return await keep(config, layout, keyText);
}

/** Removes the key of the configured pack from this machine. @returns the places that held it */
export async function forgetKey(config: Config): Promise<readonly string[]> {
  const salt = saltOf(encrypted(config));
  if (salt === undefined) return [];
  return (await keyStoreOf(config).forget(salt)).map(placeName);
}

/**
 * Keeps the key of a copy where the key of its original is kept, if it is: a copy under another salt would not be found.
 * @param keyText the key of both
 */
export async function keepForCopy(
  config: Config,
  original: PackLayout,
  copy: PackLayout,
  keyText: string,
): Promise<void> {
  const salt = saltOf(original);
  if (salt === undefined || !isPackEncrypted(original)) return;
  const found = await keyStoreOf(config).find(salt);
  if (found.kind === "found" && found.key === keyText) await keep(config, copy, keyText);
}

async function keep(config: Config, layout: PackLayout, keyText: string): Promise<string> {
  const salt = saltOf(layout);
  if (salt === undefined) throw new SvcError("internal", `${mainPath(layout)}: has no salt`);
  const masterKey = await deriveMasterKey(keyText);
  try {
    return placeName(await keyStoreOf(config).save(salt, masterKey));
  } finally {
    wipe(masterKey);
  }
}

function existing(config: Config): PackLayout {
  const layout = layoutOf(config);
  const path = mainPath(layout);
  if (existsSync(path)) return layout;
  throw new SvcError("not_found", `${path}: no such pack`, { kind: "pack", id: path });
}

function encrypted(config: Config): PackLayout {
  const layout = existing(config);
  if (isPackEncrypted(layout)) return layout;
  throw invalid("pack", `${mainPath(layout)} is not encrypted and has no key`);
}

function writeNew(path: string, content: string): void {
  try {
    writePrivately(path, content);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const reason =
      code === "EEXIST"
        ? "exists already and stays as it is; name another file"
        : `cannot be written (${String(code)}); name a file in a folder that you may write to`;
    throw invalid("output", `${path} ${reason}`);
  }
}
