import { constants, type Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { SvcError } from "../../../domain/errors.ts";
import {
  dropFileKey,
  encryptedUri,
  readPackHeader,
  registerFileKey,
  uriPath,
} from "../../crypt/cipher.ts";
import { SALT_BYTES } from "../../crypt/keys.ts";
import { IS_WINDOWS } from "../../native/system-files.ts";
import type { Cipher } from "../connection/pack-files.ts";
import { PAGE_SIZE } from "../schema/schema.ts";

/** SQLite's own VFS for files of this system. */
const SYSTEM_VFS = IS_WINDOWS ? "win32" : "unix";
/** Bytes at the end of each page that encryption needs. */
const RESERVED_BYTES = 32;

/** How a copy is encrypted: the key, and the 16 bytes from which the file's own keys are derived. */
export type CopyKey = { readonly cipher: Cipher; readonly salt: Uint8Array };

/** The key of a copy that opens like its original, and is found by the same salt. */
export function sameKey(original: string, cipher: Cipher | undefined): CopyKey | undefined {
  if (cipher === undefined) return undefined;
  const header = readPackHeader(original);
  if (header === undefined) throw new SvcError("internal", `${original}: has no header to copy`);
  return { cipher, salt: header.slice(0, SALT_BYTES) };
}

/** The key of a copy with its own salt; undefined for an unencrypted one. */
export function freshKey(cipher: Cipher | undefined): CopyKey | undefined {
  return cipher && { cipher, salt: randomBytes(SALT_BYTES) };
}

/**
 * Copies one file of a pack, compactly and in table order, into the empty file `path`. Row ids, and so the keys by which the
 * indexes name memories, stay the same. Takes one page cache of memory, whatever the size of the file.
 * @param database a connection of `openAlone`.
 */
export function copyFile(
  database: Database,
  schema: string,
  path: string,
  key: CopyKey | undefined,
): void {
  withCopyName(path, key, (name) => {
    if (key !== undefined) reserveBytes(database, schema);
    database.query(`VACUUM ${schema} INTO ?`).run(name);
  });
}

/** Calls `use` with the name under which SQLite writes a copy; the name is valid while `use` runs. */
export function withCopyName<T>(
  path: string,
  key: CopyKey | undefined,
  use: (name: string) => T,
): T {
  // Without this name a connection to an encrypted pack would refuse to write unencrypted.
  if (key === undefined) return use(`file:${uriPath(path)}?vfs=${SYSTEM_VFS}`);
  const { cipher, salt } = key;
  const kid = registerFileKey({ masterKey: cipher.masterKey, salt, pageSize: PAGE_SIZE });
  try {
    return use(encryptedUri(path, kid));
  } finally {
    dropFileKey(kid);
  }
}

/** A copy inherits the reserved bytes of its original, which has none if it is unencrypted. The original does not change. */
function reserveBytes(database: Database, schema: string): void {
  const wanted = new Uint8Array(8);
  wanted[0] = RESERVED_BYTES;
  database.fileControl(schema, constants.SQLITE_FCNTL_RESERVE_BYTES, wanted);
}
