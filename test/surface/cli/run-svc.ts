import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openKeyStore } from "../../../src/adapters/keystore/key-store.ts";
import { openEngine } from "../../../src/app/open-engine.ts";
import { findKey, isPackEncrypted, saltOf } from "../../../src/app/pack-key.ts";
import { layoutOf, settingsForPath } from "../../../src/app/pack-path.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { startEmbeddingServer } from "../../adapters/embedding/embedding-server.ts";
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
  return deskIn(parent, {}, () => {});
}

/**
 * A desk on which a server of this process embeds texts by their words, for tests in which the model is not the fact: a program that
 * loads the model takes three times as long.
 */
export function createWordDesk(parent = tmpdir()): Desk {
  const server = startEmbeddingServer(DIMENSION);
  const embedding = {
    SVC_EMBEDDING__PROVIDER: "openai",
    SVC_EMBEDDING__MODEL_NAME: "words",
    SVC_EMBEDDING__DIMENSION: String(DIMENSION),
    SVC_EMBEDDING__BASE_URL: `${server.url}/v1`,
    SVC_EMBEDDING_API_KEY: "none",
  };
  return deskIn(parent, embedding, () => server.stop());
}

const DIMENSION = 48;
type Environment = Readonly<Record<string, string>>;

/** @param embedding settings of the model of all its packs; none: that of the program */
function deskIn(parent: string, embedding: Environment, stop: () => void): Desk {
  const folder = realpathSync(mkdtempSync(join(parent, "svc-cli-")));
  const start: Desk["start"] = (args, env = {}, cwd = folder) =>
    spawn(folder, args, { ...embedding, ...env }, cwd);
  const engine: Desk["engine"] = (pack, env = {}) =>
    openPack(folder, join(folder, pack), { ...embedding, ...env });
  return {
    folder,
    start,
    run: async (args, { env = {}, stdin = "" } = {}) => {
      const child = start(args, env);
      await child.stdin.write(stdin);
      await child.stdin.end();
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, stdout, stderr };
    },
    engine,
    store: async (pack, userId, ...texts) => {
      const opened = await engine(pack);
      for (const content of texts) await opened.store({ content, userId });
      await opened.close();
    },
    remove: () => {
      stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where programs keep what belongs to their user, who lives in the folder. */
function homeIn(folder: string): Readonly<Record<string, string>> {
  return { HOME: folder, XDG_CONFIG_HOME: join(folder, ".config"), SVC_KEY_STORE: "file" };
}

async function openPack(
  folder: string,
  path: string,
  environment: Environment,
): Promise<MemoryEngine> {
  const { config } = loadConfig({ explicit: settingsForPath(path), environment });
  const layout = layoutOf(config);
  const salt = isPackEncrypted(layout) ? saltOf(layout) : undefined;
  const keys = openKeyStore({ kind: "file", environment: homeIn(folder) });
  const kept = salt === undefined ? undefined : await keys.find(salt);
  const given = kept?.kind === "found" ? kept.key : undefined;
  const { config: found } = await findKey(config, { given });
  const isHosted = environment["SVC_EMBEDDING__PROVIDER"] !== undefined;
  return await openEngine(found, isHosted ? {} : { embedder: REAL_MODEL });
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
