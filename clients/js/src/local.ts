/** The memory of a pack of this machine, on Node and Bun: through the program `svc`, started by its first user and ended with the last. */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createConnection, type Socket } from "node:net";
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { SvcError } from "../../../src/domain/errors.ts";
import { isErrorCode } from "./memory.ts";
import { type RemoteMemory, remoteMemory } from "./remote.ts";

export { SvcError } from "../../../src/domain/errors.ts";
export type { Memory } from "./memory.ts";

/** Versions of the program with which this client works. */
const SERIES = /^0\.1\./;
const RANGE = "0.1.0 or newer, below 0.2";
const START_MS = 120_000;
/** Milliseconds between two looks whether the server is there. */
const LOOK_MS = 20;
/** Characters of a path that a socket can have on every system. */
const SOCKET_PATH_MAX = 100;

export type LocalOptions = {
  /** The executable. Default: `SVC_PROGRAM`, else `svc` on the `PATH`. */
  readonly program?: string | undefined;
  /** Key or passphrase of the pack. Default: the kept key. */
  readonly encryptionKey?: string | undefined;
  /** Milliseconds for a call. Default 30,000. */
  readonly timeoutMs?: number | undefined;
};

export type LocalMemory = RemoteMemory &
  AsyncDisposable & {
    /** Where its server is, for other calls of the HTTP interface. */
    readonly url: string;
    readonly apiKey: string;
    /** Leaves the server. If nobody else uses it, resolves when it has closed the pack. */
    close(): Promise<void>;
  };

/**
 * Opens a pack, through the server that other users of this machine share with the same program, settings and key.
 * @throws SvcError unsupported without a program, or with one of another version; or why the pack cannot be served
 */
export async function local(pack: string, options: LocalOptions = {}): Promise<LocalMemory> {
  const { timeoutMs, encryptionKey } = options;
  const program = findProgram(options.program);
  const path = realPath(pack);
  const env = { ...process.env };
  if (encryptionKey !== undefined) {
    if (encryptionKey !== "") env["SVC_ENCRYPTION_ENABLED"] = "true";
    env["SVC_ENCRYPTION_KEY"] = encryptionKey;
  }
  const { line, socket } = await joinServer({ program, path, env });
  const { version, url, key } = line;
  if (!SERIES.test(version)) {
    socket.destroy();
    throw new SvcError(
      "unsupported",
      `${program} is svc ${version}; this client works with ${RANGE}`,
    );
  }
  const close = (): Promise<void> =>
    new Promise((done) => {
      if (socket.destroyed) return done();
      socket.ref();
      socket.once("close", () => done());
      socket.resume().end();
    });
  // It keeps the server, not this process.
  socket.unref();
  const memory = remoteMemory({ url, apiKey: key, timeoutMs });
  return { ...memory, url, apiKey: key, close, [Symbol.asyncDispose]: close };
}

function findProgram(named: string | undefined): string {
  const choice = named ?? process.env["SVC_PROGRAM"];
  const name = process.platform === "win32" ? "svc.exe" : "svc";
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  const paths =
    choice === undefined ? folders.map((folder) => join(folder, name)) : [resolve(choice)];
  const found = paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return found;
  const what = choice === undefined ? "no svc is on the PATH" : `${choice} cannot be started`;
  throw new SvcError("unsupported", `${what}; this client works with svc ${RANGE}`);
}

/** Without links, also where the pack is still to be made. */
function realPath(pack: string): string {
  const path = resolve(pack);
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch (cause) {
      throw new SvcError("not_found", `${dirname(path)}: no such folder`, { path }, { cause });
    }
  }
}

type Server = {
  readonly program: string;
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};
type Line = { readonly version: string; readonly url: string; readonly key: string };
type Joined = { readonly socket: Socket; readonly line: Line };

async function joinServer(server: Server): Promise<Joined> {
  const { program, path } = server;
  const address = meetingPlace(server);
  const latest = performance.now() + START_MS;
  let child: ReturnType<typeof start> | undefined;
  while (performance.now() < latest) {
    const joined = await connect(address);
    if (joined !== undefined) {
      child?.[Symbol.dispose]();
      return joined;
    }
    child ??= start(server, address);
    const ended = child.ended();
    if (ended !== undefined) {
      child[Symbol.dispose]();
      // Another program was faster: its server has the address.
      if (!ended.includes('"code":"bind_failed"')) throw failureOf(program, ended);
      child = undefined;
    }
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
  throw new SvcError("storage_unavailable", `${program} did not serve ${path} in time`, { path });
}

/** The server's address and key; undefined if there is none. */
function connect(address: string): Promise<Joined | undefined> {
  return new Promise((done) => {
    const socket = createConnection(address);
    let told = "";
    socket.setEncoding("utf8");
    socket.once("error", () => done(undefined));
    socket.once("close", () => done(undefined));
    socket.on("data", (part: string) => {
      told += part;
      // SAFETY: the line of `svc serve --while-used`, at a place that only this user can reach.
      if (told.endsWith("\n")) done({ socket, line: JSON.parse(told) as Line });
    });
  });
}

function start({ program, path, env }: Server, address: string) {
  const options = ["--db-path", path, "--port", "0", "--log-level", "warn"];
  // A file, since the server may outlive this process.
  const log = join(privateFolder(env), `${randomBytes(8).toString("hex")}.log`);
  const file = openSync(log, "wx", 0o600);
  const child = spawn(program, ["serve", ...options, "--while-used", address], {
    cwd: dirname(path),
    env,
    // Ctrl-C is for the user, not for the server that others may share.
    detached: true,
    stdio: ["ignore", "ignore", file],
  });
  closeSync(file);
  let isOver = false;
  let failure = "";
  child.once("error", (error) => {
    failure = error.message;
    isOver = true;
  });
  child.once("exit", () => {
    isOver = true;
  });
  child.unref();
  const ended = () => (isOver ? failure || readFileSync(log, "utf8") : undefined);
  return { ended, [Symbol.dispose]: () => rmSync(log, { force: true }) };
}

function failureOf(program: string, said: string): SvcError {
  for (const line of said.split("\n")) {
    if (!line.startsWith('{"code":')) continue;
    const { code, detail }: { readonly code: unknown; readonly detail: string } = JSON.parse(line);
    if (isErrorCode(code)) return new SvcError(code, detail, {});
  }
  const last = said.trim().split("\n").at(-1);
  return new SvcError(
    "unsupported",
    `${program} does not serve: ${last || "it said nothing"}; this client works with svc ${RANGE}`,
  );
}

/** Where the users of a pack meet that have the same program, settings and key, in whatever language. */
function meetingPlace({ program, path, env }: Server): string {
  const settings = Object.entries(env)
    .filter(([name, value]) => /^SVC_/i.test(name) && value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
  const folder = privateFolder(env);
  const isWindows = process.platform === "win32";
  // Any user may listen under any name there, so nobody else can guess this one.
  const secret = isWindows ? [secretIn(folder)] : [];
  const parts = JSON.stringify([realpathSync(program), path, ...settings, ...secret]);
  const name = createHash("sha256").update(parts).digest("hex").slice(0, 24);
  return isWindows ? `\\\\.\\pipe\\svc-${name}` : join(folder, `${name}.sock`);
}

function privateFolder(env: Server["env"]): string {
  if (process.platform === "win32") {
    const folder = join(env["LOCALAPPDATA"] || homedir(), "svc-memory");
    mkdirSync(folder, { recursive: true });
    return folder;
  }
  const { uid } = userInfo();
  const bases = [env["XDG_RUNTIME_DIR"], env["XDG_CACHE_HOME"] || join(homedir(), ".cache")];
  const folders = bases.flatMap((base) =>
    base !== undefined && isAbsolute(base) ? [join(base, "svc-memory")] : [],
  );
  for (const folder of [...folders, join(tmpdir(), `svc-memory-${uid}`)]) {
    if (Buffer.byteLength(join(folder, `${"0".repeat(29)}.00000000`)) > SOCKET_PATH_MAX) continue;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { uid: owner, mode } = lstatSync(folder);
      if (owner === uid && (mode & 0o077) === 0) return folder;
    } catch {
      // The next one.
    }
  }
  throw new SvcError("storage_unavailable", "there is no private folder for a socket", {});
}

function secretIn(folder: string): string {
  const path = join(folder, "secret");
  try {
    writeFileSync(path, randomBytes(32).toString("hex"), { flag: "wx" });
  } catch {
    // It is there.
  }
  return readFileSync(path, "utf8");
}
