import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { CRYPT_LIBRARY, loadInto, openSqlite, ownLibraryPath } from "../native/load-library.ts";
import { deriveFileKeys, keyCheckValue, SALT_BYTES, wipe } from "./keys.ts";

/** What {@link registerFileKey} needs. */
type FileKeyInput = {
  /** 32 bytes; the caller keeps and wipes them. */
  readonly masterKey: Uint8Array;
  /** 16 bytes: those at the start of the file, or random ones for a new file. */
  readonly salt: Uint8Array;
  /** Page size in bytes of a new file; an existing file has its own. */
  readonly pageSize: number;
};

/** Identifies a key in the memory of the library. Not secret, and useless in another process. */
export type KeyId = number;

type Row<T> = { readonly value: T };

/** The connection on which the library was loaded; its functions exist there only. One per thread. */
let control: Database | undefined;

/**
 * Loads the encryption library into this process. Idempotent.
 * @throws SvcError storage_failed, internal: then nothing can be opened, encrypted or not
 */
export function loadCryptLibrary(): void {
  controlConnection();
}

/** Lets files with this salt be opened until {@link dropFileKey}; files opened before then keep their key. */
export function registerFileKey(input: FileKeyInput): KeyId {
  const keys = deriveFileKeys(input.masterKey, input.salt);
  try {
    const row = controlConnection()
      .query<Row<KeyId>, [Uint8Array, Uint8Array, Uint8Array, Uint8Array, number]>(
        "SELECT svccrypt_key(?, ?, ?, ?, ?) AS value",
      )
      .get(keys.page, keys.log, keys.check, input.salt, input.pageSize);
    if (row === null) throw new SvcError("internal", "the encryption library took no key");
    return row.value;
  } finally {
    wipe(keys.page, keys.log, keys.check);
  }
}

/** Forgets a key: at once if no file is open with it, else when the last such file is closed. */
export function dropFileKey(kid: KeyId): void {
  ask("SELECT svccrypt_drop(?) AS value", kid);
}

/** The name under which `bun:sqlite` opens a file with a key. Needs numeric flags with SQLITE_OPEN_URI. */
export function encryptedUri(path: string, kid: KeyId): string {
  return `file:${uriPath(path)}?vfs=svccrypt&kid=${kid}`;
}

/** The name under which `bun:sqlite` opens a file without encryption, with the library's checks of its side files. */
export function plainUri(path: string): string {
  loadCryptLibrary();
  return `file:${uriPath(path)}?vfs=svcplain`;
}

/** An absolute path as the path of a URI: SQLite decodes %XX, and `?` and `#` would end the name. */
export function uriPath(path: string): string {
  return resolve(path).split("/").map(encodeURIComponent).join("/");
}

/**
 * Bytes of a file, fewer at its end; undefined if it is none or cannot be opened.
 *
 * Never read a pack with `fs` instead: closing any descriptor of a file drops all POSIX locks that this process holds on
 * it, and SQLite's locks are of that kind.
 */
export function readPackBytes(
  path: string,
  offset: number,
  length: number,
): Uint8Array | undefined {
  // Opening a pipe would wait for its writer.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const row = controlConnection()
    .query<Row<Uint8Array | null>, [string, number, number]>(
      "SELECT svccrypt_read(?, ?, ?) AS value",
    )
    .get(resolve(path), offset, length);
  return row?.value ?? undefined;
}

/** The first 100 bytes of a file, or fewer; undefined if it cannot be opened. */
export function readPackHeader(path: string): Uint8Array | undefined {
  return readPackBytes(path, 0, 100);
}

/** Claims a name for one owner in this process, across threads. @returns false if it is taken */
export function claimName(name: string): boolean {
  return ask("SELECT svccrypt_claim(?) AS value", name) === 1;
}

export function releaseName(name: string): void {
  ask("SELECT svccrypt_release(?) AS value", name);
}

function ask(sql: string, ...parameters: (string | number)[]): number | null {
  return (
    controlConnection()
      .query<Row<number | null>, (string | number)[]>(sql)
      .get(...parameters)?.value ?? null
  );
}

function controlConnection(): Database {
  control ??= openControl();
  return control;
}

function openControl(): Database {
  const path = ownLibraryPath(CRYPT_LIBRARY);
  const database = openSqlite(":memory:");
  try {
    loadInto(database, { ...CRYPT_LIBRARY, path });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The 16 bytes at the start of a file; undefined if it is missing or shorter. */
export function saltAt(path: string): Uint8Array | undefined {
  const header = readPackHeader(path);
  return header === undefined || header.length < SALT_BYTES
    ? undefined
    : header.slice(0, SALT_BYTES);
}

/** Whether a file's check value matches this key. Says nothing about the rest of the file. */
export function hasKeyCheck(path: string, pageSize: number, masterKey: Uint8Array): boolean {
  const salt = saltAt(path);
  if (salt === undefined) return false;
  const keys = deriveFileKeys(masterKey, salt);
  const expected = Buffer.from(keyCheckValue(keys));
  wipe(keys.page, keys.log, keys.check);
  const found = readPackBytes(path, pageSize - expected.length, expected.length);
  return found !== undefined && expected.equals(found);
}
