import { constants } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import {
  dropFileKey,
  encryptedUri,
  hasKeyCheck,
  type KeyId,
  plainUri,
  readPackHeader,
  registerFileKey,
  saltAt,
} from "../../crypt/cipher.ts";
import {
  deriveMasterKey,
  isEncryptedHeader,
  KEY_BYTES,
  keyMissing,
  keyWrong,
  notEncrypted,
  packDamaged,
  SALT_BYTES,
  wipe,
} from "../../crypt/keys.ts";
import { openSqlite } from "../../native/load-library.ts";
import { renameFile } from "../../native/system-files.ts";
import { hiddenBeside, publishFile, removeLeftovers } from "../copy/swap-files.ts";
import { APPLICATION_ID, PAGE_SIZE } from "../schema/schema.ts";
import { codeOf, notAPack, readOnly, secondName } from "./failures.ts";
import { requireSafeSidecars } from "./sidecars.ts";

/** `immutable`: read-only, without locks or files beside it, ignoring any log. For files that nobody writes. */
export type OpenMode = "create" | "read-write" | "read-only" | "immutable";

/** How the pages of a pack are encrypted. */
export type Cipher = {
  /** 32 bytes; owned by the caller, who may wipe them once the pack is open. */
  readonly masterKey: Uint8Array;
};

/** `path` for the file system, `name` for SQLite: a URI. */
export type NamedFile = { readonly path: string; readonly name: string };

/**
 * Checks the files of a pack, creates those of a new encrypted one, and calls `use` with the names under which SQLite opens them.
 * The names are valid while `use` runs; what was opened with them stays open.
 * @throws SvcError not_a_pack, pack_read_only, encryption_failed, pack_damaged, storage_failed, before any of the files
 *   is changed
 */
export function withPackFiles<T>(
  paths: readonly string[],
  mode: OpenMode,
  cipher: Cipher | undefined,
  use: (files: readonly NamedFile[]) => T,
): T {
  for (const path of paths) requirePackFile(path, mode, cipher);
  if (cipher === undefined) {
    if (mode === "create") for (const path of paths) createPrivate(path);
    return use(paths.map((path) => ({ path, name: inMode(plainUri(path), mode) })));
  }
  for (const path of paths) proveKey(path, cipher);
  if (mode === "create") for (const path of paths) createFile(path, cipher);
  const kids: KeyId[] = [];
  try {
    const files = paths.map((path) => {
      const kid = registerKeyOf(path, cipher);
      kids.push(kid);
      return { path, name: inMode(encryptedUri(path, kid), mode) };
    });
    return use(files);
  } finally {
    for (const kid of kids) dropFileKey(kid);
  }
}

/**
 * Creates the main file of a new encrypted pack; opening it completes it. Does nothing if there is a file already.
 * @param salt the first 16, random bytes of the file, so that its key is known before it exists
 */
export function beginPack(path: string, cipher: Cipher, salt: Uint8Array): void {
  createFile(path, cipher, salt);
}

/** The master key of a key text for the pack at `path`, or for a new one there; the caller wipes it. @throws SvcError invalid_config */
export async function packKey(path: string, text: string): Promise<Uint8Array> {
  return await deriveMasterKey(text, saltAt(path) ?? newSalt());
}

/** Starts a missing pack with a key text, so that its passphrase is bound to it. @throws SvcError invalid_config */
export async function beginPackWith(path: string, text: string): Promise<void> {
  if (isFilled(path)) return;
  const salt = newSalt();
  const masterKey = await deriveMasterKey(text, salt);
  try {
    beginPack(path, { masterKey }, salt);
  } finally {
    wipe(masterKey);
  }
}

function inMode(uri: string, mode: OpenMode): string {
  return mode === "immutable" ? `${uri}&immutable=1` : uri;
}

function isForWriting(mode: OpenMode): boolean {
  return mode === "create" || mode === "read-write";
}

/** Memories are accessible to their owner only; SQLite gives log and index files the permissions of their main file. */
function createPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}

/** Checks an existing file without opening it as a database. */
function requirePackFile(path: string, mode: OpenMode, cipher: Cipher | undefined): void {
  requireSafeSidecars(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  // Opening a pipe would wait for its writer.
  if (!stat.isFile()) throw notAPack(path, stat.isDirectory() ? "it is a folder" : "it is no file");
  // The superuser could write it anyway, but the permission was removed on purpose.
  if (isForWriting(mode) && (stat.mode & 0o222) === 0) throw readOnly(path);
  if (isForWriting(mode) && hasSecondName(path)) throw secondName(path);
  const header = readPackHeader(path);
  // SQLite will report a file that cannot be opened.
  if (header === undefined || stat.size === 0) return;
  requireHeader(path, Buffer.from(header), cipher);
  if (isCut(path, Buffer.from(header))) throw packDamaged(path);
}

/** Milliseconds for a creating process to remove its temporary name of the pack. */
const NAMES_WAIT_MS = 200;

/**
 * Whether a file has another hard link, apart from the temporary one during creation. SQLite names the log after the name under which a
 * file was opened: by two names, two processes would each write their own log.
 */
export function hasSecondName(path: string): boolean {
  for (let waited = 0; (statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1; waited += 5) {
    if (waited >= NAMES_WAIT_MS) return true;
    removeLeftovers(path);
    Bun.sleepSync(5);
  }
  return false;
}

/** Whether a file ends within a page, without a side file from which SQLite would complete that page. */
function isCut(path: string, header: Buffer): boolean {
  // In this order: another process may be writing the page, and its journal disappears once it is complete.
  if (["-wal", "-journal"].some((suffix) => isFilled(`${path}${suffix}`))) return false;
  const stored = header.readUInt16BE(16);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // NaN if the header is not SQLite's, which SQLite itself reports.
  return size % (stored === 1 ? 65_536 : stored) > 0;
}

function requireHeader(path: string, header: Buffer, cipher: Cipher | undefined): void {
  if (isEncryptedHeader(header)) {
    if (cipher === undefined) throw keyMissing(path);
    return;
  }
  if (header.toString("latin1", 0, 15) !== "SQLite format 3") {
    const isOurs = cipher !== undefined && hasKeyCheck(path, PAGE_SIZE, cipher.masterKey);
    if (isOurs) throw packDamaged(path);
    throw notAPack(path, "its first bytes are not those of a pack");
  }
  if (header.length < 72 || header.readUInt32BE(68) !== APPLICATION_ID) {
    throw notAPack(path, "it is a database of another program");
  }
  if (cipher !== undefined) throw notEncrypted(path);
}

/**
 * Briefly opens an existing file. No statement runs, so nothing is recovered, locked or created; the library checks the key while
 * it opens.
 */
function proveKey(path: string, cipher: Cipher): void {
  if (!isFilled(path)) return;
  const kid = registerKeyOf(path, cipher);
  try {
    const flags = constants.SQLITE_OPEN_URI | constants.SQLITE_OPEN_READONLY;
    openSqlite(encryptedUri(path, kid), flags).close();
  } catch (error) {
    const code = codeOf(error);
    if (code === "SQLITE_NOTADB") throw keyWrong(path, error);
    throw error;
  } finally {
    dropFileKey(kid);
  }
}

function registerKeyOf(path: string, cipher: Cipher, saltOfNew = newSalt()): KeyId {
  if (cipher.masterKey.length !== KEY_BYTES) throw new RangeError("a master key has 32 bytes");
  const header = readPackHeader(path);
  const isNew = header === undefined || header.length < SALT_BYTES;
  const salt = isNew ? saltOfNew : header.subarray(0, SALT_BYTES);
  return registerFileKey({ masterKey: cipher.masterKey, salt, pageSize: PAGE_SIZE });
}

/** A name for SQLite that stays valid until it is released. */
export type HeldName = { readonly name: string; release(): void };

/** The name of an existing pack's main file. */
export function holdName(path: string, cipher: Cipher | undefined): HeldName {
  if (cipher === undefined) return { name: plainUri(path), release: () => {} };
  const kid = registerKeyOf(path, cipher);
  return { name: encryptedUri(path, kid), release: () => dropFileKey(kid) };
}

function newSalt(): Uint8Array {
  return randomBytes(SALT_BYTES);
}

/**
 * Creates the file with its first page under a hidden name and links it into place, so that of two processes that create the same pack, the
 * second finds the first one's file and salt.
 */
function createFile(path: string, cipher: Cipher, salt = newSalt()): void {
  if (isFilled(path)) return;
  const temporary = hiddenBeside(path, "new");
  try {
    writeFirstPage(temporary, cipher, salt);
    linkOrRename(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeFirstPage(path: string, cipher: Cipher, salt: Uint8Array): void {
  createPrivate(path);
  const kid = registerKeyOf(path, cipher, salt);
  const { SQLITE_OPEN_URI, SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE } = constants;
  try {
    const flags = SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const database = openSqlite(encryptedUri(path, kid), flags);
    try {
      database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    } finally {
      database.close();
    }
  } finally {
    dropFileKey(kid);
  }
}

function linkOrRename(temporary: string, path: string): void {
  // An empty file is not a pack yet, and only a rename can replace it.
  if (existsSync(path) && !isFilled(path)) {
    renameFile(temporary, path);
    return;
  }
  publishFile(temporary, path);
}

/** Whether there is anything but an empty file: a pipe has no size, and is no place for a pack. */
export function isFilled(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.size > 0 || !stat.isFile());
}
