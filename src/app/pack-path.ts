import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { codeOf } from "../adapters/sqlite/connection/failures.ts";
import type { PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { isHiddenFor } from "../adapters/sqlite/copy/swap-files.ts";
import { directorySettings, pathArgument } from "../config/path.ts";
import type { Config, ConfigInput } from "../config/schema.ts";
import {
  databasePlace,
  isAddress,
  isDatabaseUrl,
  shownPlace,
  unusableAddress,
} from "../domain/addresses.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import { Secret } from "../lib/secret.ts";

type DirectoryLayout = Extract<PackLayout, { kind: "directory" }>;

const DATABASE_NAME = "memory.db";
/** Linux's own limit of links. */
const MAX_LINKS = 40;

/**
 * The settings that make a path the pack, whatever the environment says. A name ending in `.pack`, in any case, is a pack file unless there
 * is a folder of that name; `memory.db` is the database of the directory pack around it; any other existing file is assumed to be a pack
 * file; everything else is a directory pack. The address of a database selects the database. @param typed a relative path starts at the
 * working directory, `~` at the home folder
 * @throws SvcError invalid_config for an address that cannot be used: as a folder's name it would show its password; invalid_argument for
 * an implausible path
 */
export function settingsForPath(typed: string): ConfigInput {
  if (isDatabaseUrl(typed)) return { database_url: typed, pack_path: "" };
  if (isAddress(typed)) throw unusableAddress(typed);
  const path = pathArgument("path", typed);
  const kind = kindOf(path);
  const local: ConfigInput = { database_url: "" };
  if (kind === "file") return { ...local, pack_path: resolve(path) };
  const folder = kind === "database" ? dirname(resolve(path)) : resolve(path);
  return { ...local, ...directorySettings(folder), pack_path: "" };
}

/** The folder that a path names as the pack; undefined for its database file, a pack file and the address of a database. */
export function folderOf(typed: string): string | undefined {
  if (isDatabaseUrl(typed)) return undefined;
  const path = pathArgument("path", typed);
  return kindOf(path) === "directory" ? resolve(path) : undefined;
}

/** The settings with a file as the pack instead of a database. */
export function settingsOfFile(config: Config, path: string): Config {
  return { ...config, database_url: undefined, pack_path: path };
}

/** The files of a directory pack in its folder. */
export function directoryLayout(folder: string): DirectoryLayout {
  const {
    db_path: databasePath,
    vector_path: vectorPath,
    lexical_path: lexicalPath,
  } = directorySettings(folder);
  return { kind: "directory", databasePath, vectorPath, lexicalPath };
}

function kindOf(path: string): "file" | "directory" | "database" {
  const stat = looking(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stat?.isDirectory()) return "directory";
  if (basename(path) === DATABASE_NAME) return "database";
  if (path.endsWith("/") && isPackName(path.replace(/\/+$/, ""))) {
    const reason = "ends in /, and a pack file has no such name";
    throw invalid("path", `${path}: ${reason}; leave the / out, or make the folder first`);
  }
  if (isPackName(path)) return "file";
  return stat === undefined ? "directory" : "file";
}

function isPackName(path: string): boolean {
  return /\.pack$/i.test(path);
}

/** The configured database without user, password and parameters; undefined if a pack is configured. */
export function databaseOf({
  database_url: url,
}: Pick<Config, "database_url">): string | undefined {
  return url && databasePlace(url.reveal());
}

/** The configured database as shown in commands; undefined if a pack is configured. */
export function argumentOf({
  database_url: url,
}: Pick<Config, "database_url">): string | undefined {
  return url && shownPlace(url.reveal());
}

/**
 * The files of the configured pack: absolute paths; a pack file's links are resolved, so that one file has one name.
 * @param instead what to do if a database is configured, as the rest of a sentence
 * @throws SvcError unsupported if a database is configured
 */
export function layoutOf(
  config: Config,
  instead = "name a pack, or unset database_url",
): PackLayout {
  const database = databaseOf(config);
  if (database !== undefined) {
    const message = `${database}: is a database, and this works on the files of a pack; ${instead}`;
    throw new SvcError("unsupported", message, { path: database });
  }
  if (config.pack_path !== undefined) {
    return { kind: "file", path: realPath(resolve(config.pack_path)) };
  }
  return {
    kind: "directory",
    databasePath: resolve(config.db_path),
    vectorPath: resolve(config.vector_path),
    lexicalPath: resolve(config.lexical_path),
  };
}

/** What identifies a pack across processes: its file, absolute and without links; for a database its address. */
export function mainFileOf(
  config: Pick<ConfigInput, "pack_path" | "db_path"> & { readonly database_url?: unknown },
): string {
  const { database_url: url } = config;
  if (url instanceof Secret) return databasePlace(url.reveal());
  if (typeof url === "string" && url !== "") return databasePlace(url);
  return realPath(resolve(config.pack_path || (config.db_path ?? "")));
}

/** The real path of a file that may not exist yet. */
function realPath(path: string, links = 0): string {
  const stat = looking(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stat === undefined) {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent, links), basename(path));
  }
  if (!stat.isSymbolicLink()) return realpathSync(path);
  // realpath refuses a link with a missing target.
  if (links >= MAX_LINKS) throw unusable(path, "its symbolic links lead in a circle");
  return realPath(resolve(dirname(path), readlinkSync(path)), links + 1);
}

/** Why a file of this name cannot exist, by the system's error code. */
const NOWHERE = new Map([
  ["ENOTDIR", "a file stands where a folder is expected"],
  ["ENAMETOOLONG", "its name is too long"],
  ["ELOOP", "its symbolic links lead in a circle"],
]);

/** Checks what a path leads to. @throws SvcError storage_failed if it leads nowhere or is not accessible */
function looking<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    const code = codeOf(error) ?? "unknown";
    throw unusable(path, NOWHERE.get(code) ?? `cannot be looked at (${code})`, error);
  }
}

function unusable(path: string, reason: string, cause?: unknown): SvcError {
  return new SvcError(
    "storage_failed",
    `${path}: ${reason}; give a path in a folder that this user may write to`,
    { path },
    cause === undefined ? undefined : { cause },
  );
}

/** Files that a directory pack, and the file system, have in a folder. */
const OWN = /^(?:memory\.db.*|vectors\.index.*|lexical_index|manifest\.json|\.env|lost\+found)$/;

/**
 * Rejects an unlikely place for creating the configured pack: through a link to nothing, or as the files of a directory pack beside another
 * pack, in a folder with other things, in the home folder, or under the name of another kind of file. Does nothing if it is there already.
 * @throws SvcError invalid_argument
 */
export function requirePlaceForNew(config: Config): void {
  if (databaseOf(config) !== undefined) return;
  const layout = layoutOf(config);
  if (layout.kind === "file") refuseDangling(resolve(config.pack_path ?? layout.path));
  else if (statSync(layout.databasePath, { throwIfNoEntry: false }) === undefined) {
    refuseFolder(dirname(layout.databasePath), layout.databasePath, config.packFolder);
  }
}

/** @throws SvcError invalid_argument */
export function refuseDangling(path: string): void {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  throw invalid("path", `${path} is a link to a file that is missing; name the file itself`);
}

/** @param named the folder, if not its database was named */
function refuseFolder(folder: string, database: string, named: string | undefined): void {
  if (named === homedir()) throw refused(`${folder} is the home folder`);
  const names = namesIn(folder);
  const pack = names?.find((name) => /\.pack$/i.test(name));
  if (pack !== undefined) {
    throw refused(`${folder} has a pack in it: did you mean ${join(folder, pack)}`, "?");
  }
  if (named === undefined) return;
  if (names === undefined && extname(folder) !== "") {
    throw refused(`${folder} has an ending of another kind; the name of a pack ends in .pack`);
  }
  const other = names?.find(
    (name) => !OWN.test(name) && !isHiddenFor(join(folder, name), database),
  );
  if (other !== undefined) throw refused(`${folder} has other things in it, ${other} for one`);
}

function refused(reason: string, end = ".") {
  return invalid(
    "path",
    `${reason}${end} Name a file that ends in .pack, or for a directory pack a new or empty folder`,
  );
}

/** Undefined if there is no folder. */
function namesIn(folder: string): readonly string[] | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() ? readdirSync(folder) : undefined;
}

/** The name of the memory's location for a person. */
export type PlaceWord = "pack" | "database";

export function placeWord(config: Pick<Config, "database_url">): PlaceWord {
  return databaseOf(config) === undefined ? "pack" : "database";
}
