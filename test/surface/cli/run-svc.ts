import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const MAIN = resolve(import.meta.dir, "../../../src/main.ts");
const named = process.env["TEST_PROGRAM"];

/** The program: the executable that `npm test` has just built, else the source, so that no test runs an outdated executable. */
export const PROGRAM: readonly string[] =
  named === undefined ? [process.execPath, "--no-env-file", MAIN] : [resolve(named)];

/** Who runs the program, whose surroundings do not say so. */
export const SYSTEM_USER = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();

/** What a run of the program did. */
export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A working directory of its own, in which the program runs as a process. */
export type Desk = {
  readonly folder: string;
  run(args: readonly string[], extra?: RunExtra): Promise<Outcome>;
  /** Starts the program and leaves it running. */
  start(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Bun.Subprocess<"pipe", "pipe", "pipe">;
  remove(): void;
};

export type RunExtra = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
};

/** Makes a desk; the caller removes it. */
export function createDesk(parent = tmpdir()): Desk {
  const folder = realpathSync(mkdtempSync(join(parent, "svc-cli-")));
  const start: Desk["start"] = (args, env = {}) => spawn(folder, args, env);
  return {
    folder,
    start,
    run: async (args, { env = {}, stdin = "" } = {}) => {
      const child = spawn(folder, args, env);
      await child.stdin.write(stdin);
      await child.stdin.end();
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, stdout, stderr };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function spawn(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Bun.Subprocess<"pipe", "pipe", "pipe"> {
  return Bun.spawn([...PROGRAM, ...args], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      // What tests make belongs neither into the home folder nor into the secret store of whoever runs them.
      HOME: folder,
      XDG_CACHE_HOME:
        process.env["XDG_CACHE_HOME"] ?? join(process.env["HOME"] ?? folder, ".cache"),
      XDG_CONFIG_HOME: join(folder, ".config"),
      SVC_KEY_STORE: "file",
      NO_COLOR: "1",
      ...env,
    },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}
