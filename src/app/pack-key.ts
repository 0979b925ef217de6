import { statSync } from "node:fs";
import { readPackHeader } from "../adapters/crypt/cipher.ts";
import { isEncryptedHeader } from "../adapters/crypt/header.ts";
import { wipe } from "../adapters/crypt/keys.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { type Cipher, packKey } from "../adapters/sqlite/connection/pack-files.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import { layoutOf } from "./pack-path.ts";

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

/** Whether the pack there is encrypted; false if there is none. */
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
