import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { EMBEDDED } from "./embedded.ts";
import { unpack } from "./extract.ts";
import { LIBRARY_SUFFIX, PLATFORM } from "./platform.ts";

/** One of our native libraries. */
export type OwnLibrary = {
  /** Its key among the embedded files, and its file name without the suffix. */
  readonly name: "svccrypt" | "svckernel" | "svcsqlite";
  /** Its name in messages. */
  readonly title: string;
  /** Entry point to pass to `Database.loadExtension` with the path. */
  readonly entry: string;
};

export const CRYPT_LIBRARY: OwnLibrary = {
  name: "svccrypt",
  title: "encryption library",
  entry: "sqlite3_svccrypt_init",
};

export const KERNEL_LIBRARY: OwnLibrary = {
  name: "svckernel",
  title: "search library",
  entry: "sqlite3_svckernel_init",
};

export const SQLITE_LIBRARY: Omit<OwnLibrary, "entry"> = {
  name: "svcsqlite",
  title: "SQLite library",
};

/**
 * The absolute path of one of our libraries for this machine. In the executable it is unpacked and verified first; from
 * source it is the one in `prebuilt`, verified too, since loading a truncated library ends the process.
 * @throws SvcError `storage_failed` if it cannot be unpacked, `internal` if there is none for this platform or it is
 * damaged.
 */
export function ownLibraryPath({ name, title }: Omit<OwnLibrary, "entry">): string {
  const embedded = EMBEDDED[name];
  if (embedded !== undefined) return unpack(embedded);
  return keptLibraryPath(join(import.meta.dir, "prebuilt"), name, title);
}

/** Like {@link ownLibraryPath}, for libraries in a given folder. */
export function keptLibraryPath(folder: string, name: string, title: string): string {
  const file = `${name}.${LIBRARY_SUFFIX}`;
  const path = join(folder, PLATFORM, file);
  if (!existsSync(path)) {
    throw new SvcError("internal", `there is no ${title} for ${PLATFORM}: ${path} is missing`);
  }
  const built: Readonly<Record<string, { readonly sha256: string }>> = JSON.parse(
    readFileSync(join(folder, "built.json"), "utf8"),
  );
  const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (sha256 === built[`${PLATFORM}/${file}`]?.sha256) return path;
  throw new SvcError(
    "internal",
    `the ${title} cannot be loaded (${path}: it is damaged, its digest is not the one in built.json)`,
    { path },
  );
}
