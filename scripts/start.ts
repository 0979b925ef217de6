/**
 * What `npm start` runs after the installation: builds the program, shows what it does, makes `./memory.pack` with a key
 * of its own when it is missing, then serves it.
 */
import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const EXECUTABLE = join(ROOT, "dist/svc");
const PACK = "./memory.pack";
const HOST = "127.0.0.1";
const PORT = 8000;
const BUN_SERIES = "1.4.";
const BUILD_BYTES = 1e9;
const INTERRUPTED = 130;

/** What is missing for a build, one line each, with the command that mends it. */
function missing(): string[] {
  const lines: string[] = [];
  if (!existsSync(join(ROOT, "node_modules/commander"))) {
    lines.push("the packages are not installed; run: npm start (it installs them first)");
  }
  if (!Bun.version.startsWith(BUN_SERIES)) {
    lines.push(
      `this is Bun ${Bun.version}, the build needs ${BUN_SERIES}x; run: npm start (it brings its own)`,
    );
  }
  const { bavail, bsize } = statfsSync(ROOT);
  if (bavail * bsize < BUILD_BYTES) {
    lines.push(`less than ${BUILD_BYTES / 1e6} MB are free in ${ROOT}; make room`);
  }
  return lines;
}

async function isPortFree(): Promise<boolean> {
  return await new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(PORT, HOST, () => server.close(() => done(true)));
  });
}

/** Runs a command in the foreground and gives its exit code. A request to stop is passed on; the command decides how. */
async function run(
  command: readonly [string, ...string[]],
  stdin: "inherit" | "ignore" = "inherit",
): Promise<number> {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    stdin,
    stdout: "inherit",
    stderr: "inherit",
  });
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    // Harmless where the terminal has sent Ctrl-C to the child as well: it stops once.
    child.kill("SIGTERM");
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  const code = await child.exited;
  process.off("SIGTERM", stop).off("SIGINT", stop);
  return isStopped && code !== 0 ? INTERRUPTED : code;
}

async function start(): Promise<number> {
  const problems = missing();
  if (problems.length > 0) {
    for (const problem of problems) console.error(`start: ${problem}`);
    return 1;
  }
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const built = await run([process.execPath, join(ROOT, "scripts/build.ts")]);
  if (built !== 0) return built;
  const shown = await run([EXECUTABLE, "demo"]);
  if (shown !== 0) return shown;
  if (!(await isPortFree())) {
    console.error(
      `\nstart: port ${PORT} is taken by another program; stop it, or run: dist/svc serve --db-path ./memory.pack --port ${PORT + 1}`,
    );
    return 1;
  }
  if (!existsSync(join(ROOT, PACK))) {
    console.log("");
    // Without a keyboard it asks for no passphrase, so that nothing keeps the server waiting.
    const made = await run([EXECUTABLE, "init", PACK], "ignore");
    if (made !== 0) return made;
  }
  console.log("\nServing ./memory.pack; Ctrl-C ends it.\n");
  return await run([EXECUTABLE, "serve", "--db-path", PACK]);
}

process.exitCode = await start();
