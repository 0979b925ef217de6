/**
 * Compiles the search library for this machine: `bun scripts/build/kernel-library.ts [--sanitize]`.
 * Prints its path. Nothing is done when the library of this very source is there already.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import {
  compiledKernelLibrary,
  KERNEL_SOURCE,
  type KernelVariant,
} from "../../src/adapters/native/kernel-library.ts";
import { provideTools, run } from "./crypt-library.ts";

const FLAGS: Readonly<Record<KernelVariant, readonly string[]>> = {
  release: ["-O3", "-Wl,--gc-sections", "-Wl,-s", "-Wl,-z,defs", "-Wl,-z,relro,-z,now"],
  sanitize: [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
  ],
};

/**
 * The path of the library, compiled when this source has none yet. Several processes may call it at once.
 * @throws Error of one line that names the command which installs what is missing; otherwise with the compiler's words.
 */
export async function kernelLibrary(root: string, variant: KernelVariant): Promise<string> {
  const path = compiledKernelLibrary(root, variant);
  if (existsSync(path)) return path;
  await provideTools();
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  try {
    await compile(join(root, KERNEL_SOURCE), variant, temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return path;
}

async function compile(folder: string, variant: KernelVariant, out: string): Promise<void> {
  const common = readFileSync(join(folder, "compile_flags.txt"), "utf8").trim().split("\n");
  const sources = [...new Bun.Glob("*.c").scanSync({ cwd: folder })].sort();
  const { exitCode, stderr } = await run([
    "cc",
    ...common,
    ...FLAGS[variant],
    "-shared",
    ...sources.map((name) => join(folder, name)),
    "-Wl,--build-id=none",
    "-lm",
    "-o",
    out,
  ]);
  if (exitCode !== 0) throw new Error(`the search library does not compile:\n${stderr}`);
}

if (import.meta.main) {
  try {
    const { values } = parseArgs({ options: { sanitize: { type: "boolean", default: false } } });
    const variant = values.sanitize ? "sanitize" : "release";
    const path = await kernelLibrary(join(import.meta.dir, "../.."), variant);
    console.log(`${path} (${Math.round(statSync(path).size / 1000)} kB)`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
