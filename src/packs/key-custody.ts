import { resolve } from "node:path";
import { keyWrong, wipe } from "../adapters/crypt/keys.ts";
import { placeName } from "../adapters/keystore/key-store.ts";
import { writeNewFile } from "../adapters/native/system-files.ts";
import { requirePack } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { openForReading } from "../adapters/sqlite/connection/open-reading.ts";
import { packKey } from "../adapters/sqlite/connection/pack-files.ts";
import { type KeyBackup, writeKeyBackup } from "../adapters/sqlite/schema/key-backup.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { withConnection } from "../app/pack-connection.ts";
import {
  derived,
  findKey,
  isPackEncrypted,
  isPassphrase,
  type KeyRequest,
  keyInSettings,
  keyStoreOf,
  opensPack,
  saltOf,
} from "../app/pack-key.ts";
import { layoutOf } from "../app/pack-path.ts";
import { withEncryptionKey } from "../config/load.ts";
import { pathArgument } from "../config/path.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";

/** What is known about a pack's key; never the key itself. */
export type KeyStatus = {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly encrypted: boolean;
  /** Identifies the key, in hexadecimal digits; undefined for an unencrypted pack. */
  readonly salt: string | undefined;
  /** Where a key for the pack is stored on this machine, with the reason if it is unusable. */
  readonly places: readonly { readonly place: string; readonly problem: string | undefined }[];
  /** Whether the settings contain a key that is used. */
  readonly inSettings: boolean;
};

/** A copy of a key: its text, or the file that holds it. */
export type ExportedKey = {
  readonly key: string | undefined;
  readonly path: string | undefined;
  /** Whether the pack records that the copy was made. */
  readonly isRemembered: boolean;
};

/** The key status of the configured pack. @throws SvcError not_found */
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
    inSettings: config.encryption_enabled === true && keyInSettings(config) !== undefined,
  };
}

/**
 * The key of the configured pack, as `raw_key:` text; with a file, it is written there for its owner alone instead.
 * @throws SvcError invalid_argument for an unencrypted pack or a file that exists, encryption_failed, not_found
 */
export async function exportKey(
  config: Config,
  request: KeyRequest,
  output: string | undefined,
): Promise<ExportedKey> {
  const layout = encrypted(config);
  const found = await findKey(config, request);
  const key = keyInSettings(found.config);
  if (key === undefined || !(await opensPack(layout, key))) throw keyWrong(mainPath(layout));
  await requireExpectedPack(found.config, layout);
  const path = output && resolve(pathArgument("output", output));
  if (path !== undefined) writeNew(path, `${key}\n`);
  const isRemembered = await remember(found.config, layout, createSystemClock().now());
  return { key: path === undefined ? key : undefined, path, isRemembered };
}

/** Records in a pack if its key comes from a passphrase, which needs no copy. @param keyText as it was given */
export async function notePassphrase(
  config: Config,
  layout: PackLayout,
  keyText: string | undefined,
): Promise<void> {
  if (keyText !== undefined && isPassphrase(keyText)) await remember(config, layout, "passphrase");
}

/** Records in the pack why its key needs no copy, so that `svc doctor` does not remind of it. @returns whether it is recorded */
async function remember(config: Config, layout: PackLayout, at: KeyBackup["at"]): Promise<boolean> {
  const salt = Buffer.from(saltOf(layout) ?? []).toString("hex");
  try {
    await withConnection(config, layout, async (connection) =>
      writeKeyBackup(layout, connection, { salt, at }),
    );
    return true;
  } catch {
    // The copy matters; failing to record it in a read-only pack does no harm.
    return false;
  }
}

/**
 * Stores a key of the configured pack on this machine, after checking that it opens the pack.
 * @returns where it is stored
 * @throws SvcError invalid_argument, invalid_config, encryption_failed, not_found
 */
export async function importKey(config: Config, keyText: string): Promise<string> {
  const layout = encrypted(config);
  if (keyText === "") throw invalid("key", "is empty; nothing was kept");
  const key = await derived(layout, keyText);
  if (!(await opensPack(layout, key))) throw keyWrong(mainPath(layout));
  const opened = withEncryptionKey(config, key);
  await requireExpectedPack(opened, layout);
  await notePassphrase(opened, layout, keyText);
  return await keep(config, layout, key);
}

/** Removes the key of the configured pack from this machine. @returns the places that held it */
export async function forgetKey(config: Config): Promise<readonly string[]> {
  const layout = encrypted(config);
  const salt = saltOf(layout);
  if (salt === undefined) return [];
  // It contains the pack's identity.
  if (config.namespace_id !== undefined) {
    await requireExpectedPack((await findKey(config)).config, layout);
  }
  return (await keyStoreOf(config).forget(salt)).map(placeName);
}

/**
 * Stores a copy's key where the original's is stored, if anywhere: a key is found by its salt, and the copy has another.
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
  const masterKey = await packKey(mainPath(layout), keyText);
  try {
    return placeName(await keyStoreOf(config).save(salt, masterKey));
  } finally {
    wipe(masterKey);
  }
}

/** @throws SvcError namespace_mismatch */
async function requireExpectedPack(config: Config, layout: PackLayout): Promise<void> {
  if (config.namespace_id === undefined) return;
  await withConnection(config, layout, async (connection) =>
    openForReading(layout, connection).close(),
  );
}

function existing(config: Config): PackLayout {
  const layout = layoutOf(
    config,
    "a database has no key: its disk and its connections are encrypted by its server",
  );
  requirePack(mainPath(layout));
  return layout;
}

function encrypted(config: Config): PackLayout {
  const layout = existing(config);
  if (isPackEncrypted(layout)) return layout;
  throw invalid("pack", `${mainPath(layout)} is not encrypted and has no key`);
}

function writeNew(path: string, content: string): void {
  try {
    writeNewFile(path, content);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const reason =
      code === "EEXIST"
        ? "exists already and stays as it is; name another file"
        : `cannot be written (${String(code)}); name a file in a folder that you may write to`;
    throw invalid("output", `${path} ${reason}`);
  }
}
