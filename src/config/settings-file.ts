import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { SvcError } from "../domain/errors.ts";
import { parseEnvFile } from "./env-file.ts";
import { expandedPath, isFolder, pathArgument, workingFolder } from "./path.ts";
import type { ConfigInput } from "./schema.ts";

/** Larger than any settings file. */
const MAX_BYTES = 1024 * 1024;

/** A settings file, and how far it is trusted. */
export type SettingsFile = {
  /** Absolute. */
  readonly path: string;
  /**
   * `named`: by the user, so it must exist and be usable. The other two are searched for: a file that another user may have
   * written is ignored with a warning; beside a pack, also one that the group may have written.
   */
  readonly found: "named" | "beside-pack" | "working-directory";
};

export type FileContent = {
  /** Undefined if there is no such file, or if it is not used. */
  readonly text: string | undefined;
  readonly variables: ReadonlyMap<string, string>;
  /** Why an existing file is not used. */
  readonly warnings: readonly string[];
};

type Read = { readonly text: string } | { readonly problem: string } | undefined;

/** The file `.env` of a folder. */
export function envFileIn(folder: string): SettingsFile {
  return { path: join(folder, ".env"), found: "working-directory" };
}

/** The file that a person names. @throws SvcError invalid_argument for a path that cannot be meant */
export function namedFile(path: string): SettingsFile {
  return { path: resolve(pathArgument("--env-file", path)), found: "named" };
}

/**
 * The file `.env` in the folder of a pack; undefined if the pack has a relative path: then the working directory, which may be
 * somebody else's, would decide.
 * @param path as typed. Absent: the one in the environment
 * @param settings those that make the path the pack
 */
export function fileBesidePack(
  path: string | undefined,
  settings: Pick<ConfigInput, "pack_path" | "db_path">,
): SettingsFile | undefined {
  const given = path ?? variable("SVC_PACK_PATH") ?? variable("SVC_DB_PATH");
  const named = given && expandedPath(given);
  if (named === undefined || !isAbsolute(named)) return undefined;
  const folder = isFolder(named) ? join(named, "memory.db") : named;
  const main = settings.pack_path || settings.db_path || folder;
  return { path: join(dirname(main), ".env"), found: "beside-pack" };
}

/** The file in the working directory, if it contains settings of ours but another file, or none, is read. */
export function unreadFile(file: SettingsFile | undefined): string | undefined {
  const there = envFileIn(workingFolder());
  if (file?.found === "named" || file?.path === there.path) return undefined;
  try {
    const { text = "" } = readSettingsFile(there);
    return /^[ \t]*(?:export[ \t]+)?SVC_/im.test(text) ? there.path : undefined;
  } catch {
    return undefined;
  }
}

/** A variable of the environment, in capitals; undefined if it is empty. */
export function variable(name: string): string | undefined {
  const found = Object.entries(process.env).find(([other]) => other.toUpperCase() === name);
  return found?.[1]?.trim() || undefined;
}

/** Reads a settings file without blocking. @throws SvcError invalid_config if a named one is unusable */
export function readSettingsFile(file: SettingsFile | undefined): FileContent {
  const read = file === undefined ? undefined : readTrusted(file);
  if (read !== undefined && "text" in read) {
    return { text: read.text, variables: parseEnvFile(read.text), warnings: [] };
  }
  const warnings =
    read === undefined || file === undefined ? [] : [`${file.path} is not read: ${read.problem}`];
  return { text: undefined, variables: new Map(), warnings };
}

function readTrusted(file: SettingsFile): Read {
  const isNamed = file.found === "named";
  try {
    const read = readChecked(file);
    if (isNamed && read !== undefined && "problem" in read) throw unusable(file, read.problem);
    return read;
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (!isNamed && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    throw unusable(file, `it cannot be read (${String(code)}); make it readable`, cause);
  }
}

function readChecked(file: SettingsFile): Read {
  const name = lstatSync(file.path);
  // The owner of a link decides what is read.
  if (!isTrusted(name.uid, file)) return { problem: "it belongs to another user" };
  // Otherwise opening a pipe would wait for its writer.
  const handle = openSync(file.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(handle);
    // A folder named .env belongs to another tool (a Python environment, for example).
    if (stat.isDirectory() && file.found !== "named") return undefined;
    if (!stat.isFile()) return { problem: "it is no regular file" };
    if (!isTrusted(stat.uid, file)) return { problem: "it belongs to another user" };
    const open = file.found === "beside-pack" ? 0o022 : 0o002;
    if (process.getuid !== undefined && (stat.mode & open) !== 0) {
      return { problem: `other users can change it; run: chmod go-w ${file.path}` };
    }
    return readText(handle);
  } finally {
    closeSync(handle);
  }
}

/** A file named by a person may belong to the administrator, as those of services do. */
function isTrusted(owner: number, { found }: SettingsFile): boolean {
  const user = process.getuid?.();
  return user === undefined || owner === user || (found === "named" && owner === 0);
}

function readText(handle: number): Read {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let size = 0;
  for (let more = 1; more > 0 && size < bytes.byteLength; size += more) {
    more = readSync(handle, bytes, size, bytes.byteLength - size, null);
  }
  if (size > MAX_BYTES) return { problem: `it is larger than ${MAX_BYTES} bytes` };
  const text = bytes.toString("utf8", 0, size);
  return text.includes("\0") ? { problem: "it is not text: it holds a NUL" } : { text };
}

function unusable({ path, found }: SettingsFile, problem: string, cause?: unknown): SvcError {
  const setting = found === "named" ? "--env-file" : ".env";
  return new SvcError("invalid_config", `${path} is not read: ${problem}`, { setting }, { cause });
}
