import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SvcError } from "../../domain/errors.ts";
import { EMBEDDED } from "./embedded.ts";
import { unpack } from "./extract.ts";
import { LIBRARY_SUFFIX, PLATFORM } from "./platform.ts";

/** Its title and entry point. */
export const SQLITE_VEC = { title: "library sqlite-vec", entry: "sqlite3_vec_init" } as const;

/**
 * The absolute path of the sqlite-vec library for this machine, for `db.loadExtension(path, SQLITE_VEC.entry)`. In the
 * executable it is unpacked and verified first.
 * @throws SvcError `storage_failed` if it cannot be unpacked, `internal` if there is none for this platform.
 */
export function loadSqliteVec(): string {
  const embedded = EMBEDDED["sqlite-vec"];
  return embedded === undefined ? installedLibrary() : unpack(embedded);
}

function installedLibrary(): string {
  const name = `sqlite-vec-${PLATFORM}`;
  try {
    const path = fileURLToPath(import.meta.resolve(`${name}/vec0.${LIBRARY_SUFFIX}`));
    if (existsSync(path)) return path;
  } catch (cause) {
    throw missing(name, cause);
  }
  throw missing(name);
}

function missing(name: string, cause?: unknown): SvcError {
  return new SvcError(
    "internal",
    `the package ${name} is not installed: run \`bun install\` on this machine, or use a supported platform (linux x64 and arm64, macOS arm64, Windows x64)`,
    {},
    { cause },
  );
}
