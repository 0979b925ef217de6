import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openKeyStore } from "../../../src/adapters/keystore/key-store.ts";
import { openEngine } from "../../../src/app/open-engine.ts";
import { findKey, isPackEncrypted, saltOf } from "../../../src/app/pack-key.ts";
import { layoutOf, settingsForPath } from "../../../src/app/pack-path.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { REAL_MODEL } from "../../engine/engines.ts";

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
    cwd?: string,
  ): Bun.Subprocess<"pipe", "pipe", "pipe">;
  /** Stores memories as `svc store` does, with the model that is loaded once for all tests. */
  store(pack: string, userId: string, ...texts: readonly string[]): Promise<void>;
  /** Opens a pack in this process, with that model; the caller closes it. */
  engine(pack: string, env?: Readonly<Record<string, string>>): Promise<MemoryEngine>;
  remove(): void;
};

export type RunExtra = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
};

/** Makes a desk; the caller removes it. */
export function createDesk(parent = tmpdir()): Desk {
  const folder = realpathSync(mkdtempSync(join(parent, "svc-cli-")));
  const start: Desk["start"] = (args, env = {}, cwd = folder) => spawn(folder, args, env, cwd);
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
    engine: (pack, env = {}) => openPack(folder, join(folder, pack), env),
    store: async (pack, userId, ...texts) => {
      const engine = await openPack(folder, join(folder, pack), {});
      for (const content of texts) await engine.store({ content, userId });
      await engine.close();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Where programs keep what belongs to their user, who lives in the folder. */
function homeIn(folder: string): Readonly<Record<string, string>> {
  return { HOME: folder, XDG_CONFIG_HOME: join(folder, ".config"), SVC_KEY_STORE: "file" };
}

async function openPack(
  folder: string,
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<MemoryEngine> {
  const { config } = loadConfig({ explicit: settingsForPath(path), environment });
  const layout = layoutOf(config);
  const salt = isPackEncrypted(layout) ? saltOf(layout) : undefined;
  const keys = openKeyStore({ kind: "file", environment: homeIn(folder) });
  const kept = salt === undefined ? undefined : await keys.find(salt);
  const given = kept?.kind === "found" ? kept.key : undefined;
  return await openEngine((await findKey(config, { given })).config, { embedder: REAL_MODEL });
}

function spawn(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = folder,
): Bun.Subprocess<"pipe", "pipe", "pipe"> {
  return Bun.spawn([...PROGRAM, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"] ?? "",
      // What tests make belongs neither into the home folder nor into the secret store of whoever runs them.
      ...homeIn(folder),
      XDG_CACHE_HOME:
        process.env["XDG_CACHE_HOME"] ?? join(process.env["HOME"] ?? folder, ".cache"),
      NO_COLOR: "1",
      ...env,
    },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}
