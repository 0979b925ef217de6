import * as fs from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { parseKey } from "../crypt/keys.ts";
import { IS_WINDOWS, replaceFile } from "../native/system-files.ts";

export type KeyPlace =
  | { readonly kind: "secret-store" }
  | { readonly kind: "file"; readonly path: string };

/** The result of looking for a key. A key is `raw_key:` and 32 bytes in URL-safe base64. */
type KeySearch =
  | { readonly kind: "found"; readonly key: string; readonly place: KeyPlace }
  | { readonly kind: "none" }
  /** The secret store did not answer; the key may be in it. */
  | { readonly kind: "silent" };

/** A place that holds a key, or an unusable one. */
type PlaceState = { readonly place: KeyPlace; readonly problem: string | undefined };

/** Keys of this user's packs, by salt: the first 16 bytes of an encrypted pack, which change with its key. */
export type KeyStore = {
  /** @throws SvcError encryption_failed if a key file must not be used */
  find(salt: Uint8Array): Promise<KeySearch>;
  places(salt: Uint8Array): Promise<readonly PlaceState[]>;
  /** Stores a key in the secret store or, without one, in a key file. @throws SvcError encryption_failed */
  save(salt: Uint8Array, masterKey: Uint8Array): Promise<KeyPlace>;
  /** Removes the key from every place. @returns the places that held one */
  forget(salt: Uint8Array): Promise<readonly KeyPlace[]>;
};

type KeyStoreOptions = {
  /** `auto`: the system's secret store if it works, else key files. `file`: key files only. */
  readonly kind: "auto" | "file";
  /** Of the process: the location of files and access to the secret store are platform conventions, not settings. */
  readonly environment: Environment;
};

const TIMEOUT_MS = 10_000;
const SECRET_STORE: KeyPlace = { kind: "secret-store" };

/** The key store of this user. Nothing is read or created before the first call. */
export function openKeyStore({ kind, environment }: KeyStoreOptions): KeyStore {
  const secrets =
    kind === "file" ? undefined : openSecretStore({ timeoutMs: TIMEOUT_MS, environment });
  return createKeyStore(() => keyFolder(environment), secrets);
}

/** A key store made of these parts. @param folder of key files; called when needed, and may throw then */
export function createKeyStore(folder: () => string, secrets: SecretStore | undefined): KeyStore {
  const nameOf = (salt: Uint8Array): string => Buffer.from(salt).toString("hex");
  const fileOf = (salt: Uint8Array): string => join(folder(), `${nameOf(salt)}.key`);
  const secretOf = async (salt: Uint8Array): Promise<string | undefined> => {
    const answer = await secrets?.get(nameOf(salt));
    return answer?.kind === "done" ? answer.value : undefined;
  };
  return {
    find: async (salt) => {
      // The file first: checking it is cheap, and the secret store may have to prompt the user.
      const path = optional(() => fileOf(salt));
      const key = path === undefined ? undefined : readKeyFile(path);
      if (path !== undefined && key !== undefined) {
        return { kind: "found", key, place: { kind: "file", path } };
      }
      const answer = await secrets?.get(nameOf(salt));
      if (answer?.kind === "silent") return { kind: "silent" };
      if (answer?.kind !== "done" || answer.value === undefined) return { kind: "none" };
      return { kind: "found", key: answer.value, place: SECRET_STORE };
    },
    places: async (salt) => {
      const path = optional(() => fileOf(salt));
      const isSecret = (await secretOf(salt)) !== undefined;
      return [
        ...(isSecret ? [{ place: SECRET_STORE, problem: undefined }] : []),
        ...(path === undefined ? [] : fileStates(path)),
      ];
    },
    save: async (salt, masterKey) => {
      const key = `raw_key:${Buffer.from(masterKey).toString("base64url")}`;
      const isStored = (await secrets?.set(nameOf(salt), key))?.kind === "done";
      // Some stores accept secrets without keeping them.
      if (isStored && (await secretOf(salt)) === key) return SECRET_STORE;
      const path = fileOf(salt);
      writeKeyFile(path, key);
      return { kind: "file", path };
    },
    forget: async (salt) => {
      const path = optional(() => fileOf(salt));
      const isSecret = (await secretOf(salt)) !== undefined;
      if (isSecret) await secrets?.delete(nameOf(salt));
      const isFile = path !== undefined && removeKeyFile(path);
      return [
        ...(isSecret ? [SECRET_STORE] : []),
        ...(isFile ? [{ kind: "file", path } as const] : []),
      ];
    },
  };
}

export function placeName(place: KeyPlace): string {
  return place.kind === "file" ? place.path : "the system's secret store";
}

function fileStates(path: string): readonly PlaceState[] {
  const place: KeyPlace = { kind: "file", path };
  try {
    return readKeyFile(path) === undefined ? [] : [{ place, problem: undefined }];
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return [{ place, problem: error.message }];
  }
}

/** Without a home folder there are no key files to read; only saving one reports that. */
function optional(path: () => string): string | undefined {
  try {
    return path();
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

/** The variables of a process. `XDG_CONFIG_HOME` and `HOME` locate a user's configuration. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the key files, which may not exist yet: `$XDG_CONFIG_HOME/svc/keys` or `~/.config/svc/keys`; on Windows
 * `%APPDATA%\svc\keys` in place of the latter.
 *
 * Like the cache folder, this is not a setting of the program but the platform's convention.
 * @throws SvcError encryption_failed if neither variable names an absolute path
 */
export function keyFolder(environment: Environment): string {
  const xdg = environment["XDG_CONFIG_HOME"];
  const home = environment["HOME"];
  // The XDG specification tells programs to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "svc", "keys");
  const roaming = IS_WINDOWS ? environment["APPDATA"] : undefined;
  if (roaming !== undefined && isAbsolute(roaming)) return join(roaming, "svc", "keys");
  if (home !== undefined && isAbsolute(home)) return join(home, ".config", "svc", "keys");
  throw new SvcError(
    "encryption_failed",
    `there is no folder for keys: set ${IS_WINDOWS ? "APPDATA" : "HOME"} or XDG_CONFIG_HOME to an absolute path`,
  );
}

const MAX_BYTES = 4096;

/**
 * The key in a file: `raw_key:` and 32 bytes; undefined if there is no such file.
 * @throws SvcError encryption_failed if anyone but its owner can read or replace it, or if it holds no key
 */
export function readKeyFile(path: string): string | undefined {
  const key = readPrivate(path, unusable);
  if (key === undefined || isRawKey(key)) return key;
  throw unusable(path, "it holds no key; restore it from a backup");
}

type Unusable = (path: string, reason: string, cause?: unknown) => Error;

/** The text of a small file that only this user can read or replace; undefined if there is none. @throws errors made by `refused` */
export function readPrivate(path: string, refused: Unusable): string | undefined {
  const file = openExisting(path, refused);
  if (file === undefined) return undefined;
  try {
    const problem = problemOf(fs.fstatSync(file), path) ?? folderProblem(dirname(path));
    if (problem !== undefined) throw refused(path, problem);
    const content = Buffer.alloc(MAX_BYTES);
    const length = fs.readSync(file, content);
    const text = content.toString("utf8", 0, length).trim();
    content.fill(0);
    return text;
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Atomically and durably writes a key to a file that only this user can read, replacing an existing one. Creates its
 * folder.
 * @throws SvcError encryption_failed if the folder belongs to another user or cannot be written
 */
export function writeKeyFile(path: string, key: string): void {
  const folder = dirname(path);
  try {
    prepareFolder(folder);
    replaceFile(path, `${key}\n`);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw unusable(path, `it cannot be written (${reason}); make ${folder} writable`, error);
  }
}

export function removeKeyFile(path: string): boolean {
  const isThere = fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  fs.rmSync(path, { force: true });
  return isThere;
}

/** What is wrong with the folder of key files; undefined if it is fine or missing. */
export function folderProblem(folder: string): string | undefined {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || process.getuid === undefined) return undefined;
  if (stat.uid !== process.getuid()) return `its folder belongs to another user`;
  return (stat.mode & 0o022) === 0
    ? undefined
    : `other users can write to its folder; run: chmod 700 ${folder}`;
}

function problemOf(stat: fs.Stats, path: string): string | undefined {
  if (!stat.isFile()) return "it is no regular file";
  if (process.getuid === undefined) return undefined;
  if (stat.uid !== process.getuid()) return "it belongs to another user";
  if ((stat.mode & 0o077) === 0) return undefined;
  const mode = (stat.mode & 0o777).toString(8);
  return `other users can read or change it (mode ${mode}); run: chmod 600 ${path}`;
}

function openExisting(path: string, refused: Unusable): number | undefined {
  try {
    // A link would let another user choose which file is read.
    return fs.openSync(
      path,
      fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK,
    );
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP") throw refused(path, "it is a symbolic link; put the file itself there");
    throw refused(path, `it cannot be read (${String(code)})`, error);
  }
}

function prepareFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(folder);
  if (!stat.isDirectory()) throw unusable(folder, "it is no folder; move it away");
  if (process.getuid === undefined) return;
  if (stat.uid !== process.getuid()) throw unusable(folder, "it belongs to another user");
  if ((stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
}

function isRawKey(text: string): boolean {
  if (!text.startsWith("raw_key:")) return false;
  try {
    return parseKey(text).kind === "raw";
  } catch {
    // The text is not repeated anywhere; the caller names the file.
    return false;
  }
}

function unusable(path: string, reason: string, cause?: unknown): SvcError {
  return new SvcError(
    "encryption_failed",
    `${path}: the key file is not used: ${reason}`,
    { path },
    cause === undefined ? {} : { cause },
  );
}

type SecretAnswer =
  | { readonly kind: "done"; readonly value: string | undefined }
  | { readonly kind: "absent" }
  /** It is locked or broken, or did not answer in time. */
  | { readonly kind: "silent" };

/** The system's secret store: Keychain, Credential Manager, or the Secret Service of a Linux desktop. */
export type SecretStore = {
  get(name: string): Promise<SecretAnswer>;
  set(name: string, value: string): Promise<SecretAnswer>;
  delete(name: string): Promise<SecretAnswer>;
};

type SecretStoreOptions = {
  /** Time limit in milliseconds; a locked store prompts the user for a password meanwhile. */
  readonly timeoutMs: number;
  readonly environment: Environment;
};

type Request = {
  readonly call: "get" | "set" | "delete";
  readonly name: string;
  readonly value?: string;
};

/**
 * Runs in its own process: a hung store blocks a thread that cannot be stopped, and the store is found through variables that an assistant
 * may not have passed on. Names and keys go through pipes, never as arguments.
 */
const CHILD = `
const { call, name, value } = JSON.parse(await Bun.stdin.text());
const entry = { service: "svc", name };
try {
  const answer = call === "set"
    ? await Bun.secrets.set({ ...entry, value })
    : await Bun.secrets[call](entry);
  process.stdout.write(JSON.stringify({ ok: true, value: typeof answer === "string" ? answer : null }));
} catch {
  process.stdout.write(JSON.stringify({ ok: false }));
}
process.exit(0);
`;

/** Variables that the store's library needs. None of them is ours. */
const PASSED_ON = ["HOME", "USER", "LOGNAME", "LANG", "LD_LIBRARY_PATH", "XDG_DATA_HOME"];
const PASSED_ON_WINDOWS = ["SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP"];

/** The secret store of this user. It is not accessed before the first call, and not again after a timeout. */
export function openSecretStore(options: SecretStoreOptions): SecretStore {
  let isSilent = false;
  const ask = async (request: Request): Promise<SecretAnswer> => {
    const environment = childEnvironment(options.environment);
    if (environment === undefined) return { kind: "absent" };
    const answer = isSilent ? undefined : await runChild(request, environment, options);
    isSilent = answer === undefined;
    return answer ?? { kind: "silent" };
  };
  return {
    get: (name) => ask({ call: "get", name }),
    set: (name, value) => ask({ call: "set", name, value }),
    delete: (name) => ask({ call: "delete", name }),
  };
}

/** Undefined without a store: on Linux it is reached through the session's message bus. */
function childEnvironment(environment: Environment): Record<string, string> | undefined {
  const passed: Record<string, string> = { BUN_BE_BUN: "1" };
  for (const name of [...PASSED_ON, ...PASSED_ON_WINDOWS]) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  if (process.platform !== "linux") return passed;
  const address = busAddress(environment);
  return address === undefined ? undefined : { ...passed, DBUS_SESSION_BUS_ADDRESS: address };
}

function busAddress(environment: Environment): string | undefined {
  const given = environment["DBUS_SESSION_BUS_ADDRESS"];
  if (given !== undefined && given !== "") return given;
  const runtime = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`;
  const socket = join(runtime, "bus");
  return fs.existsSync(socket) ? `unix:path=${socket}` : undefined;
}

async function runChild(
  request: Request,
  env: Record<string, string>,
  { timeoutMs }: SecretStoreOptions,
): Promise<SecretAnswer | undefined> {
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", CHILD], {
    // A bunfig.toml in the working directory could load code into it.
    cwd: "/",
    env,
    stdin: new Blob([JSON.stringify(request)]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const text = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? parseAnswer(text) : undefined;
}

function parseAnswer(text: string): SecretAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null) return undefined;
    if (!("ok" in answer) || answer.ok !== true) return undefined;
    const isText = "value" in answer && typeof answer.value === "string";
    return { kind: "done", value: isText ? String(answer.value) : undefined };
  } catch {
    // The child was killed: treated as no answer.
    return undefined;
  }
}
