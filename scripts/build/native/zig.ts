import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** The compiler of the native libraries, as the Python package `ziglang`. Another version makes other bytes. */
export const ZIG_VERSION = "0.17.1";

const INSTALL_LIMIT_MS = 150_000;

type Env = Readonly<Record<string, string>>;

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** Runs a command in the C locale and waits for its end. A command that is not there ends like one that failed. */
export async function run(
  command: readonly string[],
  options: { readonly cwd?: string; readonly limitMs?: number; readonly env?: Env } = {},
): Promise<Ran> {
  if (Bun.which(command[0] ?? "") === null) {
    return { exitCode: 127, stdout: "", stderr: `${command[0]} is not installed` };
  }
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? process.cwd(),
    timeout: options.limitMs ?? 0,
    env: { ...process.env, ...options.env, LC_ALL: "C" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

function cacheFolder(root: string): string {
  return join(root, "node_modules/.cache/ziglang", ZIG_VERSION);
}

/** The compiler, where it is there already: in the cache of the project, or importable by Python. */
export async function findZig(root: string): Promise<string | undefined> {
  const cached = join(cacheFolder(root), "ziglang/zig");
  if (existsSync(cached)) return cached;
  const look =
    "import importlib.metadata as m, ziglang; print(m.version('ziglang'), ziglang.__path__[0])";
  const { exitCode, stdout } = await run(["python3", "-c", look]);
  const [version, folder] = stdout.trim().split(" ");
  return exitCode === 0 && version === ZIG_VERSION ? `${folder}/zig` : undefined;
}

/**
 * The compiler, installed into the cache of the project by pip when it is not there: 100 MB to download, 440 MB on disk.
 * Nothing is installed into the system.
 * @throws Error of one line that says why it cannot be had
 */
export async function provideZig(root: string): Promise<string> {
  const found = await findZig(root);
  if (found !== undefined) return found;
  const folder = cacheFolder(root);
  mkdirSync(folder, { recursive: true });
  const requirements = join(import.meta.dir, "ziglang.txt");
  const pip = ["python3", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
  const { exitCode, stderr } = await run(
    [
      ...pip,
      "--retries",
      "1",
      "--no-deps",
      "--require-hashes",
      "--target",
      folder,
      "-r",
      requirements,
    ],
    { limitMs: INSTALL_LIMIT_MS },
  );
  const installed = exitCode === 0 ? await findZig(root) : undefined;
  if (installed !== undefined) return installed;
  const reason = stderr.trim().split("\n").at(-1) || "it took too long";
  throw new Error(`ziglang ${ZIG_VERSION} cannot be installed by pip: ${reason}`);
}

/**
 * Why the compiler cannot be used for a check: it is not there and nobody wants it installed (`CI` set does), or it cannot
 * be installed. Undefined when it is there.
 */
export async function whyNoCompiler(root: string): Promise<string | undefined> {
  if ((await findZig(root)) !== undefined) return undefined;
  if (process.env["CI"] === undefined) {
    return `ziglang ${ZIG_VERSION} is not installed; set CI=true to have it installed below node_modules`;
  }
  try {
    await provideZig(root);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
