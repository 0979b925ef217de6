import { existsSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { EMBEDDED } from "./embedded.ts";
import { extractAsset } from "./extract.ts";
import { PACKAGED_LIBRARIES } from "./packaged.ts";
import { sourceHash } from "./source-hash.ts";

/** Entry point to pass to `Database.loadExtension` beside the path. */
export const CRYPT_ENTRY = "sqlite3_svccrypt_init";

/** The key of the library among the embedded files. */
export const CRYPT_ASSET = "svccrypt";

/** How the library was compiled: for use, or with the address and undefined-behaviour sanitizers for tests. */
export type CryptVariant = "release" | "sanitize";

/**
 * The absolute path of the encryption library, for `db.loadExtension(path, CRYPT_ENTRY)`.
 * In the executable it is unpacked and verified first; from source it is the one that the build compiled.
 * @throws SvcError `storage_failed` when it cannot be unpacked, `internal` when it was not compiled yet.
 */
export function cryptLibraryPath(): string {
  const embedded = EMBEDDED[CRYPT_ASSET];
  if (embedded !== undefined) return extractAsset(embedded);
  const root = join(import.meta.dir, "../../..");
  const path = [compiledCryptLibrary(root, "release"), packagedCryptLibrary(root)].find(existsSync);
  if (path !== undefined) return path;
  const script = join(root, "scripts/build/crypt-library.ts");
  throw new SvcError(
    "internal",
    `the encryption library for ${process.platform}-${process.arch} is not compiled; run: bun ${script}`,
  );
}

/**
 * Where the build leaves the library for this machine. The name holds a hash of the C source, so that a library of other
 * source is never taken for it.
 * @param root folder of the project.
 */
export function compiledCryptLibrary(root: string, variant: CryptVariant): string {
  return join(root, "node_modules/.cache/svccrypt", folderName(root, variant), "svccrypt.so");
}

/** Where the npm package carries the library for this machine; named by the hash of its source too. */
export function packagedCryptLibrary(root: string): string {
  return join(root, PACKAGED_LIBRARIES, folderName(root, "release"), "svccrypt.so");
}

function folderName(root: string, variant: CryptVariant): string {
  return `${process.platform}-${process.arch}-${variant}-${cryptSourceHash(root)}`;
}

/** 16 hex digits over names and contents of the C source and its compiler flags. */
export function cryptSourceHash(root: string): string {
  return sourceHash(join(root, "src/adapters/crypt/native"));
}
