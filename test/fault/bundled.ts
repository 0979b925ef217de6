import { symlinkSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/**
 * Makes one file of a worker and all that it imports, for tests that start it hundreds of times: a process reads it in half the
 * time.
 * @param name of the worker's file in this folder
 * @param folder where the file comes to lie; native libraries and packages are found from there as from the source
 * @returns its path
 */
export async function bundled(name: string, folder: string): Promise<string> {
  symlinkSync(join(ROOT, "src/adapters/native/prebuilt"), join(folder, "prebuilt"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await Bun.build({
    entrypoints: [join(import.meta.dir, name)],
    outdir: folder,
    target: "bun",
    packages: "external",
  });
  return join(folder, `${basename(name, ".ts")}.js`);
}
