/**
 * Tries the built executable out as a stranger would meet it: `bun scripts/smoke.ts [dist/svc]`.
 * Empty working directory, empty home folder, empty PATH, no node_modules in reach.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const FACT = "The spare key lies under the blue flower pot";
const QUESTION = "where is the spare key";
const TIME_LIMIT_MS = 120_000;

/** A program and how it is started. */
export type Program = {
  /** The program, or what starts it, as an emulator does. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it can start itself again, as `svc doctor` does. Default true. */
  readonly startsItself?: boolean;
};

type Result = { readonly stdout: string; readonly ms: number };
type Run = (...args: readonly string[]) => Result;

/** Runs every step. @throws Error that names the first one that failed and shows what it printed. */
export async function smoke(program: Program, root: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "svc-smoke-"));
  try {
    const home = join(place, "home");
    const work = join(place, "work");
    mkdirSync(home);
    mkdirSync(work);
    const run: Run = (...args) => runOnce(program, args, work, { HOME: home });
    await steps(run, root, program.startsItself ?? true);
    refuseStrayFiles(home);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function steps(run: Run, root: string, startsItself: boolean): Promise<void> {
  const manifest: { readonly version: string } = await Bun.file(join(root, "package.json")).json();
  const version = run("--version");
  expectIncludes("--version", version.stdout, manifest.version);
  run("--help");
  run("init", "smoke.pack");
  run("store", "smoke.pack", FACT);
  expectIncludes("info", run("info", "smoke.pack").stdout, "AES-256-GCM");
  const found = run("search", "smoke.pack", QUESTION, "--format", "json");
  expectIncludes("search", found.stdout, FACT);
  if (startsItself) JSON.parse(run("doctor", "smoke.pack", "--format", "json").stdout);
  run("compact", "smoke.pack");
  run("demo");
}

/** Runs a program once, with next to no environment. @throws Error that shows what it printed when it failed */
export function runOnce(
  { command, env }: Program,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>>,
): Result {
  const started = performance.now();
  const child = Bun.spawnSync([...command, ...args], {
    cwd,
    // The key belongs into the empty home folder, not into the secret store of whoever builds.
    env: { PATH: "", SVC_KEY_STORE: "file", ...env, ...more },
    timeout: TIME_LIMIT_MS,
  });
  const ms = Math.round(performance.now() - started);
  const stdout = child.stdout.toString();
  if (!child.success) {
    const ending = child.signalCode ?? `exit code ${child.exitCode}`;
    throw new Error(
      `svc ${args.join(" ")} failed (${ending}) after ${ms} ms\n${stdout}${child.stderr.toString()}`,
    );
  }
  console.log(`  ok  svc ${args.join(" ")} (${ms} ms)`);
  return { stdout, ms };
}

function expectIncludes(step: string, output: string, expected: string): void {
  if (!output.includes(expected)) throw new Error(`${step}: "${expected}" is not in:\n${output}`);
}

/** A path of the build machine inside the executable would be a file that it looks for in vain elsewhere. */
export function refuseBuildPaths(executable: string, root: string): void {
  const at = readFileSync(executable).indexOf(`${root}/`);
  if (at >= 0) throw new Error(`the executable names the folder of the build, at byte ${at}`);
}

/** Nothing but our own cache and keys belongs into the home folder: a library that reports home leaves its traces there. */
function refuseStrayFiles(home: string): void {
  const ours = [".cache", ".config"];
  const stray = [
    ...readdirSync(home).filter((name) => !ours.includes(name)),
    ...ours
      .map((name) => join(home, name))
      .flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []))
      .filter((name) => name !== "svc"),
  ];
  if (stray.length > 0) throw new Error(`unexpected in the home folder: ${stray.join(", ")}`);
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, "..");
  const program = resolve(process.argv[2] ?? join(root, "dist/svc"));
  refuseBuildPaths(program, root);
  await smoke({ command: [program] }, root);
}
