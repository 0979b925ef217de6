import { randomBytes } from "node:crypto";
import { readPackBytes, readPackHeader } from "./cipher.ts";
import {
  deriveFileKeys,
  deriveMasterKey,
  formerPassphrases,
  keyCheckValue,
  parseKey,
  SALT_BYTES,
  stretched,
  wipe,
} from "./keys.ts";

/** The 16 bytes at the start of a file; undefined if it is missing or shorter. */
export function saltAt(path: string): Uint8Array | undefined {
  const header = readPackHeader(path);
  return header === undefined || header.length < SALT_BYTES
    ? undefined
    : header.slice(0, SALT_BYTES);
}

/** Whether a file's check value is that of this key. Says nothing about the rest of the file. */
export function hasKeyCheck(path: string, pageSize: number, masterKey: Uint8Array): boolean {
  const salt = saltAt(path);
  if (salt === undefined) return false;
  const keys = deriveFileKeys(masterKey, salt);
  const expected = Buffer.from(keyCheckValue(keys));
  wipe(keys.page, keys.log, keys.check);
  const found = readPackBytes(path, pageSize - expected.length, expected.length);
  return found !== undefined && expected.equals(found);
}

/**
 * The master key that a key text means for the pack whose main file is `path`: 32 bytes that the caller wipes. A passphrase
 * is tried in its canonical form, then in those that earlier versions told apart, each with the salt of this pack, then with
 * the one that all packs once shared. If none matches, or there is no such file, it is the key that a new pack would get;
 * opening the pack then says what is wrong.
 * @param pageSize bytes of a page of the pack
 * @throws SvcError invalid_config
 */
export async function masterKeyOf(
  path: string,
  pageSize: number,
  text: string,
): Promise<Uint8Array> {
  const found = saltAt(path);
  const salt = found ?? randomBytes(SALT_BYTES);
  const own = await deriveMasterKey(text, salt);
  if (found === undefined || hasKeyCheck(path, pageSize, own)) return own;
  const key = parseKey(text);
  const former = formerPassphrases(text);
  const passphrases = key.kind === "raw" ? former : [key.text, ...former];
  for (const pack of [salt, undefined]) {
    for (const passphrase of pack === undefined ? passphrases : former) {
      const other = await stretched(passphrase, pack);
      if (hasKeyCheck(path, pageSize, other)) {
        wipe(own);
        return other;
      }
      wipe(other);
    }
  }
  return own;
}
