/**
 * Compiles the search library for this machine: `bun scripts/build/kernel-library.ts`.
 * Prints its path. Nothing is done when the library of this very source is there already.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { compiledKernelLibrary, KERNEL_SOURCE } from "../../src/adapters/native/kernel-library.ts";
import { provideTools, run } from "./crypt-library.ts";

const OPTIMIZED = ["-O3", "-Wl,--gc-sections", "-Wl,-s", "-Wl,-z,defs", "-Wl,-z,relro,-z,now"];
const SANITIZED = [
  "-O1",
  "-g",
  "-fno-omit-frame-pointer",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
];

/**
 * The path of the library, compiled when this source has none yet. Several processes may call it at once.
 * @throws Error of one line that names the command which installs what is missing; otherwise with the compiler's words.
 */
export async function kernelLibrary(root: string): Promise<string> {
  const path = compiledKernelLibrary(root);
  if (existsSync(path)) return path;
  await provideTools();
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  try {
    const folder = join(root, KERNEL_SOURCE);
    const sources = [...new Bun.Glob("*.c").scanSync({ cwd: folder })].sort();
    const paths = sources.map((name) => join(folder, name));
    await compile(folder, [...OPTIMIZED, "-shared", ...paths], temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return path;
}

/** Compiles the C program of a test together with the part of the library that needs no SQLite, under the sanitizers. */
export async function compileRankDriver(root: string, source: string, out: string): Promise<void> {
  await provideTools();
  const folder = join(root, KERNEL_SOURCE);
  await compile(folder, [...SANITIZED, `-I${folder}`, source, join(folder, "rank.c")], out);
}

async function compile(folder: string, flags: readonly string[], out: string): Promise<void> {
  const common = readFileSync(join(folder, "compile_flags.txt"), "utf8").trim().split("\n");
  const { exitCode, stderr } = await run([
    "cc",
    ...common,
    ...flags,
    "-Wl,--build-id=none",
    "-lm",
    "-o",
    out,
  ]);
  if (exitCode !== 0) throw new Error(`the search library does not compile:\n${stderr}`);
}

if (import.meta.main) {
  try {
    const path = await kernelLibrary(join(import.meta.dir, "../.."));
    console.log(`${path} (${Math.round(statSync(path).size / 1000)} kB)`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
