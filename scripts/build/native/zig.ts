import { existsSync } from "node:fs";
import { join } from "node:path";
import { installByPip } from "../pip.ts";
import { run } from "../run.ts";

/** The compiler of the native libraries, as the Python package `ziglang`. Another version makes other bytes. */
export const ZIG_VERSION = "0.17.1";

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
  const hindrance = await installByPip(join(import.meta.dir, "ziglang.txt"), folder);
  const installed = hindrance === undefined ? await findZig(root) : undefined;
  if (installed !== undefined) return installed;
  throw new Error(
    `ziglang ${ZIG_VERSION} cannot be installed by pip: ${hindrance ?? "it is not there"}`,
  );
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
