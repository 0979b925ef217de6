import { createCipheriv, hkdfSync, pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import { SvcError } from "../../domain/errors.ts";

/** Bytes of a master key and of every key derived from it. */
export const KEY_BYTES = 32;
/** Bytes at the start of an encrypted file that make its keys differ from those of every other file. */
export const SALT_BYTES = 16;

const PBKDF2_ITERATIONS = 600_000;
// Prefix of a passphrase's salt; the pack's first bytes follow, so that no precomputed list of keys fits two packs.
const PASSPHRASE_DOMAIN = "svc-pack-passphrase-v2";
const INFO = {
  page: "svc-pack-page-v1",
  log: "svc-pack-wal-v1",
  check: "svc-pack-check-v1",
} as const;
const CHECK_QUESTION = "svc-crypt-kcv-v1";
const CHECK_BYTES = 4;

/** The meaning of a key text: the key itself, or a passphrase to derive it from. */
type ParsedKey =
  | { readonly kind: "raw"; readonly bytes: Uint8Array }
  | { readonly kind: "passphrase"; readonly text: string };

/** The keys of one file, {@link KEY_BYTES} each. */
type FileKeys = { readonly page: Uint8Array; readonly log: Uint8Array; readonly check: Uint8Array };

/**
 * Reads a key text in its canonical form, first match: `raw_key:` and 32 bytes as URL-safe base64; `passphrase:` and at least one
 * character; exactly 44 characters that are 32 bytes as URL-safe base64; else a passphrase.
 * @throws SvcError invalid_config; its message never holds a part of the text
 */
export function parseKey(text: string): ParsedKey {
  const key = parsed(canonical(text));
  return key.kind === "raw" ? key : { ...key, text: canonical(key.text) };
}

/** Equal for texts that look the same: NFKC, without white space at the ends. White space alone stays as it is. */
function canonical(text: string): string {
  const folded = text.normalize("NFKC").trim();
  return folded === "" ? text : folded;
}

function parsed(text: string): ParsedKey {
  if (text === "") throw malformed("is empty");
  if (text.startsWith("raw_key:")) {
    const bytes = decodeKey(text.slice("raw_key:".length));
    if (bytes === undefined) {
      throw malformed("after raw_key: 32 bytes as URL-safe base64 are expected");
    }
    return { kind: "raw", bytes };
  }
  if (text.startsWith("passphrase:")) {
    const passphrase = text.slice("passphrase:".length);
    if (passphrase === "") throw malformed("after passphrase: nothing follows");
    return { kind: "passphrase", text: passphrase };
  }
  const bytes = text.length === 44 ? decodeKey(text) : undefined;
  return bytes === undefined ? { kind: "passphrase", text } : { kind: "raw", bytes };
}

/** The key text for these exact 32 bytes. */
export function rawKeyText(masterKey: Uint8Array): string {
  return `raw_key:${Buffer.from(masterKey).toString("base64url")}`;
}

/**
 * The master key of a key text for a pack whose main file begins with `salt`: 32 bytes that the caller wipes. A passphrase
 * takes about 0.1 s, off this thread.
 * @throws SvcError invalid_config
 */
export async function deriveMasterKey(text: string, salt: Uint8Array): Promise<Uint8Array> {
  const key = parseKey(text);
  if (key.kind === "raw") return key.bytes;
  const whole = Buffer.concat([Buffer.from(PASSPHRASE_DOMAIN), salt]);
  return await promisify(pbkdf2)(key.text, whole, PBKDF2_ITERATIONS, KEY_BYTES, "sha256");
}

/** The keys of the file with this salt. The caller wipes them. */
export function deriveFileKeys(masterKey: Uint8Array, salt: Uint8Array): FileKeys {
  const derive = (info: string): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", masterKey, salt, info, KEY_BYTES));
  return { page: derive(INFO.page), log: derive(INFO.log), check: derive(INFO.check) };
}

/** The four bytes at the end of page 1 that distinguish the right key from a wrong one. */
export function keyCheckValue(keys: FileKeys): Uint8Array {
  const block = createCipheriv("aes-256-ecb", keys.check, null).update(CHECK_QUESTION, "latin1");
  return block.subarray(0, CHECK_BYTES);
}

/** Overwrites key material. Copies made by the runtime are out of reach. */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const secret of secrets) secret.fill(0);
}

/** Accepts both base64 alphabets, padded or not; undefined for anything but 32 bytes of base64. */
function decodeKey(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const decoded = Buffer.from(text, "base64url");
  // A Buffer may share its memory with other data of the runtime.
  const bytes = new Uint8Array(decoded);
  wipe(decoded);
  return bytes.length === KEY_BYTES ? bytes : undefined;
}

function malformed(what: string): SvcError {
  return new SvcError("invalid_config", `encryption_key: ${what}`, { setting: "encryption_key" });
}

/** The unencrypted bytes of a file: salt, page size, format. */
const CLEAR_BYTES = 24;
const FORMAT_VERSION = 1;
const RESERVED_BYTES = 32;

/** Whether a file's first bytes are those of an encrypted pack. Says nothing about its key. */
export function isEncryptedHeader(header: Uint8Array): boolean {
  if (header.length < CLEAR_BYTES) return false;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const isOurs =
    view.getUint8(20) === RESERVED_BYTES &&
    view.getUint8(21) === FORMAT_VERSION &&
    view.getUint16(22) === 0;
  return isOurs && isPageSize(view.getUint16(16)) && !isPlainHeader(header);
}

/** SQLite writes a page of 65536 bytes as 1. */
function isPageSize(stored: number): boolean {
  return stored === 1 || (stored >= 512 && (stored & (stored - 1)) === 0);
}

function isPlainHeader(header: Uint8Array): boolean {
  return Buffer.from(header.subarray(0, 15)).toString("latin1") === "SQLite format 3";
}

/** The error for an encrypted pack that is opened without a key. */
export function keyMissing(path: string): SvcError {
  return encryptionFailed(path, "is encrypted, and no key was given", "Give its key or passphrase");
}

/**
 * The error for a key that does not open a pack. The first bytes of a pack determine its keys, so damage there looks the
 * same.
 */
export function keyWrong(path: string, cause?: unknown): SvcError {
  return encryptionFailed(
    path,
    "the key or passphrase does not open it (or its first 16 bytes are damaged)",
    "Check the key",
    cause,
  );
}

/** The error for a key given for an unencrypted pack: opening never encrypts. */
export function notEncrypted(path: string): SvcError {
  return encryptionFailed(
    path,
    "is not encrypted, and a key was given",
    "Open it without a key, or make an encrypted copy of it",
  );
}

/** The error for a page whose authentication failed. */
export function packDamaged(path: string, cause?: unknown): SvcError {
  return new SvcError(
    "pack_damaged",
    `${path}: was damaged or changed from outside: a part of it is not what was written. Restore it from a copy; svc doctor ${path} says more.`,
    { path },
    cause === undefined ? {} : { cause },
  );
}

/** The error for a second engine on an encrypted pack in one process. */
export function packInUse(path: string): SvcError {
  return new SvcError(
    "pack_in_use",
    `${path}: is encrypted and already open in this process; nothing was changed. Share that engine, or close it first.`,
    { path },
  );
}

function encryptionFailed(path: string, what: string, remedy: string, cause?: unknown): SvcError {
  return new SvcError(
    "encryption_failed",
    `${path}: ${what}; nothing was changed. ${remedy}.`,
    { path },
    cause === undefined ? {} : { cause },
  );
}
