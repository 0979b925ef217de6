import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { EMBEDDED } from "./embedded.ts";
import { unpack } from "./extract.ts";
import { LIBRARY_SUFFIX, PLATFORM } from "./system-files.ts";

/** A library for SQLite to load. */
type Extension = {
  /** Its name in messages. */
  readonly title: string;
  /** Absolute path. */
  readonly path: string;
  readonly entry: string;
};

/**
 * Loads a library on a connection. @throws SvcError `internal` (`data.path`) that names the file and the cause in one line
 */
export function loadInto(database: Database, { title, path, entry }: Extension): void {
  try {
    database.loadExtension(path, entry);
  } catch (cause) {
    throw loadFailure(title, path, cause);
  }
}

/** An error of one line that names an unusable library and the reason. Its `data.path` is the file. */
export function loadFailure(title: string, path: string, cause: unknown): SvcError {
  const reason = reasonFor(path, cause).replaceAll("\n", " ");
  const remedy = FORBIDDEN.test(reason)
    ? "; the system forbids code from there (noexec, SELinux): set XDG_CACHE_HOME to a folder where it may run"
    : "";
  const message = `the ${title} cannot be loaded (${path}: ${reason})${remedy}`;
  return new SvcError("internal", message, { path }, { cause });
}

/** How loaders report that a folder or a policy forbids running code. */
const FORBIDDEN = /failed to map segment|not permitted|permission denied/i;

/** SQLite reports its second attempt, with another suffix. Ask the system's loader for its own message. */
function reasonFor(path: string, cause: unknown): string {
  const machine = elfMachine(path);
  const own = ELF_MACHINES[process.arch];
  if (machine !== undefined && own !== undefined && machine !== own) {
    return `it is for another processor than ${process.arch}`;
  }
  try {
    process.dlopen({ exports: {} }, path);
  } catch (error) {
    const words = error instanceof Error ? error.message : "";
    // Otherwise it was loaded, but is not a Node module.
    if (words.startsWith(`${path}: `)) return words.slice(path.length + 2);
  }
  return cause instanceof Error ? cause.message : "unknown failure";
}

const ELF_MACHINES: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/** The processor architecture of an ELF file; undefined for any other file. */
function elfMachine(path: string): number | undefined {
  const head = Buffer.alloc(20);
  try {
    const file = openSync(path, "r");
    readSync(file, head);
    closeSync(file);
  } catch {
    return undefined;
  }
  return head.toString("latin1", 0, 4) === "\x7fELF" ? head.readUInt16LE(18) : undefined;
}

/** One of our native libraries. */
type OwnLibrary = {
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

const SQLITE_LIBRARY: Omit<OwnLibrary, "entry"> = { name: "svcsqlite", title: "SQLite library" };

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

let isChosen = process.platform !== "darwin";

/**
 * Opens a database. All databases are opened here: on macOS Bun has no SQLite of its own, and the system's loads no extensions, so ours
 * must be set before the first.
 * @param flags of SQLite's `sqlite3_open_v2`. Absent: read and write, create
 */
export function openSqlite(name: string, flags?: number): Database {
  if (!isChosen) chooseSqlite();
  return new Database(name, flags);
}

function chooseSqlite(): void {
  try {
    Database.setCustomSQLite(ownLibraryPath(SQLITE_LIBRARY));
  } catch (error) {
    // The choice is per process: another thread has made it.
    if (!String(error).includes("already loaded")) throw error;
  }
  isChosen = true;
}
