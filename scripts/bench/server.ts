import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const EXECUTABLE = join(ROOT, "dist/svc");
const START_LIMIT_MS = 60_000;
const POLL_MS = 2;

/** How a process ended: exactly one of the two is set. */
export type Ending = { readonly exitCode: number | null; readonly signal: string | null };

export type ServerOptions = {
  /** Absolute path of the pack. The server's working directory is its folder. */
  readonly pack: string;
  /** Receives what the server prints; absolute path. Default: beside the pack. */
  readonly logFile?: string | undefined;
  readonly logLevel?: "info" | "warn" | "error" | undefined;
  /** The command that runs the program; default {@link svcCommand}. Its process must be the server itself. */
  readonly command?: readonly string[] | undefined;
  /** What follows the command; default: `svc serve` of the pack on a free port. */
  readonly args?: readonly string[] | undefined;
  /** Variables on top of this process's environment without its `SVC_` settings. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
};

/** A server in a process of its own. */
export type ServerProcess = {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly pid: number;
  /** What it printed so far. */
  log(): string;
  /** Sends the signal and waits for the end. */
  end(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): Promise<Ending>;
};

/** The command line of the program: `SVC_EXE`, else the built executable, else the source under this Bun. */
export function svcCommand(): readonly [string, ...string[]] {
  const named = process.env["SVC_EXE"];
  if (named !== undefined && named !== "") return [resolve(named)];
  if (existsSync(EXECUTABLE)) return [EXECUTABLE];
  return [process.execPath, join(ROOT, "src/main.ts")];
}

/** The home folder of programs that are given no other one. */
const HOME = join(ROOT, "node_modules/.cache/home");

/**
 * The environment of a program that must not see this machine's settings of `svc`, and that leaves nothing in the home folder
 * of whoever starts it but what it unpacks into the cache. Packs that it makes are unencrypted.
 */
export function cleanEnvironment(): Record<string, string | undefined> {
  const { HOME: home = HOME, XDG_CACHE_HOME: cache = join(home, ".cache") } = process.env;
  const others = Object.entries(process.env).filter(
    ([name]) => !name.toUpperCase().startsWith("SVC_") && name !== "XDG_CONFIG_HOME",
  );
  return {
    ...Object.fromEntries(others),
    HOME,
    XDG_CACHE_HOME: cache,
    XDG_RUNTIME_DIR: join(HOME, "no-session"),
    SVC_ENCRYPTION_ENABLED: "false",
  };
}

const running = new Set<Bun.Subprocess>();

/** Ends every server that is still running, for the end of a run that failed half-way. */
export async function endAllServers(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map(({ exited }) => exited));
}

/** Starts a server on a free port without waiting for it. `listening` rejects when it ends before it listens. */
export function launchServer(options: ServerOptions): {
  readonly pid: number;
  readonly listening: Promise<ServerProcess>;
  readonly end: ServerProcess["end"];
} {
  const { pack, logLevel = "warn", command = svcCommand() } = options;
  const logFile = options.logFile ?? `${pack}.log`;
  const sink = openSync(logFile, "w");
  const serve = ["serve", "--db-path", pack, "--port", "0", "--log-level", logLevel];
  const child = Bun.spawn([...command, ...(options.args ?? serve)], {
    cwd: dirname(pack),
    env: { ...cleanEnvironment(), ...options.environment },
    stdin: "ignore",
    stdout: sink,
    stderr: sink,
  });
  closeSync(sink);
  running.add(child);
  child.exited.finally(() => running.delete(child));
  const log = (): string => readFileSync(logFile, "utf8");
  const end: ServerProcess["end"] = async (signal) => {
    child.kill(signal);
    await child.exited;
    return { exitCode: child.exitCode, signal: child.signalCode?.toString() ?? null };
  };
  const listening = untilListening(child, log).then((url) => ({ url, pid: child.pid, log, end }));
  // Whoever only wants to kill it does not wait for it.
  listening.catch(() => undefined);
  return { pid: child.pid, listening, end };
}

/** Starts a server on a free port. @returns once it listens and its pack is open */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  return await launchServer(options).listening;
}

async function untilListening(child: Bun.Subprocess, log: () => string): Promise<string> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    const url = /listening on (http:\/\/\S+)/.exec(log())?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null || child.signalCode !== null) {
      const ending = child.signalCode ?? `exit code ${child.exitCode}`;
      throw new Error(`the server ended before it listened (${ending}):\n${log()}`);
    }
    await Bun.sleep(POLL_MS);
  }
  child.kill("SIGKILL");
  throw new Error(`the server did not listen in time:\n${log()}`);
}
