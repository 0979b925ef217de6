import * as fs from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { invalid, SvcError } from "../domain/errors.ts";
import { expandedPath, isFolder, pathArgument, workingFolder } from "./path.ts";
import type { ConfigInput } from "./schema.ts";

const MAX_BYTES = 1024 * 1024;

/** A settings file, and how far it is trusted. */
export type SettingsFile = {
  readonly path: string;
  /**
   * `named`: by the user, so it must exist and be usable. The other two are searched for: a file that another user may have written is
   * ignored with a warning; next to a pack, also one that the group may have written.
   */
  readonly found: "named" | "beside-pack" | "working-directory";
};

export type FileContent = {
  /** Undefined if there is no such file, or it is not used. */
  readonly text: string | undefined;
  readonly variables: ReadonlyMap<string, string>;
  /** Why an existing file is not used. */
  readonly warnings: readonly string[];
};

type Read = { readonly text: string } | { readonly problem: string } | undefined;

export function envFileIn(folder: string): SettingsFile {
  return { path: join(folder, ".env"), found: "working-directory" };
}

/** The file that a person names. @throws SvcError invalid_argument for an implausible path */
export function namedFile(path: string): SettingsFile {
  return { path: resolve(pathArgument("--env-file", path)), found: "named" };
}

/**
 * The file `.env` in the folder of a pack; undefined for a relative pack path, since the working directory, which may belong to someone
 * else, would decide.
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
  const name = fs.lstatSync(file.path);
  // The owner of a link determines what is read.
  if (!isTrusted(name.uid, file)) return { problem: "it belongs to another user" };
  // Otherwise opening a pipe would wait for its writer.
  const handle = fs.openSync(file.path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  try {
    const stat = fs.fstatSync(handle);
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
    fs.closeSync(handle);
  }
}

/** A file named by a person may belong to the administrator, as with services. */
function isTrusted(owner: number, { found }: SettingsFile): boolean {
  const user = process.getuid?.();
  return user === undefined || owner === user || (found === "named" && owner === 0);
}

function readText(handle: number): Read {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let size = 0;
  for (let more = 1; more > 0 && size < bytes.byteLength; size += more) {
    more = fs.readSync(handle, bytes, size, bytes.byteLength - size, null);
  }
  if (size > MAX_BYTES) return { problem: `it is larger than ${MAX_BYTES} bytes` };
  const text = bytes.toString("utf8", 0, size);
  return text.includes("\0") ? { problem: "it is not text: it holds a NUL" } : { text };
}

function unusable({ path, found }: SettingsFile, problem: string, cause?: unknown): SvcError {
  const setting = found === "named" ? "--env-file" : ".env";
  return new SvcError("invalid_config", `${path} is not read: ${problem}`, { setting }, { cause });
}

/**
 * Reads the text of a `.env` file: `NAME=value` lines, an optional `export` before the name, `#` comments, values bare, in single
 * quotes (verbatim) or in double quotes (`\n`, `\t`, `\"`, `\\`); quoted values may span lines. A `#` within a bare value belongs
 * to it unless a blank precedes it: keys and passwords may contain one. All other lines are ignored. For duplicate names the last
 * value counts.
 */
export function parseEnvFile(content: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const line =
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\n]*))/gm;
  for (const [, name = "", single, double, bare] of text.matchAll(line)) {
    if (single !== undefined) values.set(name, single);
    else if (double !== undefined) values.set(name, unescaped(double));
    else values.set(name, (bare ?? "").replace(/(^|\s)#.*$/, "").trim());
  }
  return values;
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (pair, sign: string) => {
    if (sign === "n") return "\n";
    if (sign === "r") return "\r";
    if (sign === "t") return "\t";
    return sign === '"' || sign === "\\" || sign === "$" ? sign : pair;
  });
}

/**
 * Appends settings to a `.env` file, creating it if missing. Afterwards only this user can read it, since it may hold a key.
 * @param path absolute
 * @throws SvcError invalid_argument if the file already has one of the settings, or would not be read; storage_failed
 */
export function addSettings(path: string, settings: ReadonlyMap<string, string>): void {
  const { variables, warnings } = readSettingsFile({ path, found: "beside-pack" });
  const [problem] = warnings;
  if (problem !== undefined) throw invalid(".env", problem);
  const taken = [...settings.keys()].find((name) => variables.has(name));
  if (taken !== undefined) throw invalid(".env", `${path} has ${taken} already; change it there`);
  const lines = [...settings].map(([name, value]) => `${name}=${quoted(value)}\n`);
  try {
    append(path, lines.join(""));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    throw new SvcError("storage_failed", `${path} cannot be written (${code})`, {
      path,
      reason: code,
    });
  }
}

function append(path: string, text: string): void {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants;
  // A link that appears now would lead elsewhere.
  const handle = fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
  try {
    fs.fchmodSync(handle, 0o600);
    fs.writeSync(handle, fs.fstatSync(handle).size === 0 ? text : `\n${text}`);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

/** A value in the notation of a settings file. */
function quoted(value: string): string {
  if (/^[\w@%+:,./-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/["\\$]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
