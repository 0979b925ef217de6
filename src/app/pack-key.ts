import { statSync } from "node:fs";
import { readPackHeader, saltAt } from "../adapters/crypt/cipher.ts";
import { isEncryptedHeader, parseKey, rawKeyText, wipe } from "../adapters/crypt/keys.ts";
import {
  type KeyPlace,
  type KeyStore,
  openKeyStore,
  placeName,
} from "../adapters/keystore/key-store.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { type Cipher, packKey, withPackFiles } from "../adapters/sqlite/connection/pack-files.ts";
import { withEncryptionKey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import { Secret } from "../lib/secret.ts";
import { databaseOf, layoutOf } from "./pack-path.ts";

/** The key in the settings, used or not; undefined for none. */
export function keyInSettings({ encryption_key: key }: Config): string | undefined {
  return key?.reveal() || undefined;
}

/**
 * The key text of the configured pack; undefined for an unencrypted pack.
 * @throws SvcError encryption_failed if encryption is on and there is no key
 */
export function keyTextOf(config: Config): string | undefined {
  if (!config.encryption_enabled) return undefined;
  const text = keyInSettings(config);
  if (text !== undefined) return text;
  const path = mainPath(layoutOf(config));
  throw new SvcError(
    "encryption_failed",
    `${path}: encryption is on (encryption_enabled) and there is no key; nothing was changed. Set SVC_ENCRYPTION_KEY, or turn encryption off.`,
    { path },
  );
}

/** Whether an existing pack is encrypted; false if there is none. */
export function isPackEncrypted(layout: PackLayout): boolean {
  const path = mainPath(layout);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const header = readPackHeader(path);
  return header !== undefined && isEncryptedHeader(header);
}

/** Calls `use` with the cipher of this key text, and forgets the derived key afterwards. */
export async function withCipher<T>(
  layout: PackLayout,
  keyText: string | undefined,
  use: (cipher: Cipher | undefined) => T | Promise<T>,
): Promise<T> {
  if (keyText === undefined) return await use(undefined);
  const masterKey = await packKey(mainPath(layout), keyText);
  try {
    return await use({ masterKey });
  } finally {
    wipe(masterKey);
  }
}

export type KeyRequest = {
  /** A key that takes precedence over every other; empty: the pack is opened without one. Absent: look for one. */
  readonly given?: string | undefined;
  /** Prompts for the key, again if the last one was wrong. Absent: there is no terminal. */
  readonly ask?: ((isAgain: boolean) => Promise<string>) | undefined;
};

export type KeySource =
  /** The pack is unencrypted or missing, or is to be opened without a key. */
  | { readonly kind: "none" }
  | { readonly kind: "given" }
  | { readonly kind: "settings" }
  | { readonly kind: "stored"; readonly place: KeyPlace }
  | { readonly kind: "typed" };

export type FoundKey = {
  /** The configuration with the key of its pack; for an existing encrypted pack, the key derived from its passphrase. */
  readonly config: Config;
  readonly source: KeySource;
  /** The key as given, for another pack that is to open with the same passphrase. */
  readonly text: Secret | undefined;
};

const ATTEMPTS = 3;

/**
 * Finds the key of the configured pack: the given one, else the one in the settings if encryption is on, else the one stored for the pack's
 * salt, else one typed by a person. An unencrypted or missing pack needs none, and the settings stay unchanged. Given and configured keys
 * are checked when the pack is opened.
 * @throws SvcError encryption_failed if there is no key, saying what to do, or the stored one does not fit
 */
export async function findKey(config: Config, request: KeyRequest = {}): Promise<FoundKey> {
  const { given, ask } = request;
  const database = databaseOf(config);
  if (database !== undefined) {
    if (given) throw keyForDatabase(database);
    return { config, source: { kind: "none" }, text: undefined };
  }
  const layout = layoutOf(config);
  const found = async (text: string, source: KeySource): Promise<FoundKey> => ({
    config: withEncryptionKey(config, await derived(layout, text)),
    source,
    text: new Secret(text),
  });
  const none = { source: { kind: "none" }, text: config.encryption_key } as const;
  if (given === "") return { ...none, config: withEncryptionKey(config, undefined) };
  if (given !== undefined) return await found(given, { kind: "given" });
  const set = config.encryption_enabled ? keyInSettings(config) : undefined;
  if (set !== undefined) return await found(set, { kind: "settings" });
  const salt = isPackEncrypted(layout) ? saltOf(layout) : undefined;
  if (salt === undefined) return { ...none, config };
  const stored = await keyStoreOf(config).find(salt);
  if (stored.kind === "found") {
    const { key, place } = stored;
    if (!(await opensPack(layout, key))) throw storedKeyWrong(layout, place);
    return await found(key, { kind: "stored", place });
  }
  if (ask === undefined) throw keyNowhere(config, layout, stored.kind);
  const { text, key } = await askForKey(layout, ask);
  return {
    config: withEncryptionKey(config, key),
    source: { kind: "typed" },
    text: new Secret(text),
  };
}

/**
 * The key that a key text yields for an existing encrypted pack. Deriving one from a passphrase takes 0.1 s, so it is done here, once for
 * all openings of the pack. Any other text is unchanged: opening the pack reports what is wrong with it.
 */
export async function derived(layout: PackLayout, keyText: string): Promise<string> {
  if (!isPackEncrypted(layout)) return keyText;
  try {
    return await withCipher(layout, keyText, (cipher) =>
      cipher === undefined ? keyText : rawKeyText(cipher.masterKey),
    );
  } catch (error) {
    if (error instanceof SvcError && error.code === "invalid_config") return keyText;
    throw error;
  }
}

/** Whether a key text is a passphrase; false for a random key and for a malformed text. */
export function isPassphrase(keyText: string): boolean {
  try {
    return parseKey(keyText).kind === "passphrase";
  } catch {
    return false;
  }
}

export function keyStoreOf(config: Config): KeyStore {
  return openKeyStore({ kind: config.key_store, environment: process.env });
}

/** The 16 bytes that identify the key of an encrypted pack; undefined if there is no such file. */
export function saltOf(layout: PackLayout): Uint8Array | undefined {
  return saltAt(mainPath(layout));
}

/** Whether a key text opens a pack. Changes nothing. @throws SvcError if the text is malformed or the pack is damaged */
export async function opensPack(layout: PackLayout, keyText: string): Promise<boolean> {
  try {
    await withCipher(layout, keyText, (cipher) =>
      withPackFiles([mainPath(layout)], "read-only", cipher, () => {}),
    );
    return true;
  } catch (error) {
    if (error instanceof SvcError && error.code === "encryption_failed") return false;
    throw error;
  }
}

async function askForKey(
  layout: PackLayout,
  ask: (isAgain: boolean) => Promise<string>,
): Promise<{ readonly text: string; readonly key: string }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = await ask(attempt > 0);
    if (text === "") continue;
    const key = await derived(layout, text);
    if (await opensPack(layout, key)) return { text, key };
  }
  throw failed(layout, `was not opened by what was typed, ${ATTEMPTS} times`, "Find its key first");
}

function keyForDatabase(database: string): SvcError {
  const message = `${database}: a key was given, and this is a database, whose server encrypts its disk; leave the key out`;
  return new SvcError("invalid_config", message, { setting: "encryption_key" });
}

function storedKeyWrong(layout: PackLayout, place: KeyPlace): SvcError {
  return failed(
    layout,
    `is not opened by the key that is kept for it in ${placeName(place)}`,
    "The pack's first 16 bytes or that key are damaged. Give the key with SVC_ENCRYPTION_ENABLED=true and SVC_ENCRYPTION_KEY, or restore it with: svc key import",
  );
}

function keyNowhere(config: Config, layout: PackLayout, search: "none" | "silent"): SvcError {
  const isOff = !config.encryption_enabled && keyInSettings(config) !== undefined;
  const kept =
    search === "none"
      ? "no key for it is kept on this machine"
      : "no key file is there for it, and the system's secret store is locked or does not answer";
  const found = isOff
    ? "SVC_ENCRYPTION_KEY is set but not used, since SVC_ENCRYPTION_ENABLED is not true"
    : kept;
  return failed(
    layout,
    `is encrypted, and ${found}`,
    `Keep its key here with: svc key import ${mainPath(layout)}; or set SVC_ENCRYPTION_ENABLED=true and SVC_ENCRYPTION_KEY`,
  );
}

function failed(layout: PackLayout, what: string, remedy: string): SvcError {
  const path = mainPath(layout);
  return new SvcError("encryption_failed", `${path}: ${what}; nothing was changed. ${remedy}.`, {
    path,
  });
}
