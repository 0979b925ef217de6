/**
 * Makes what the npm package carries beside the source, in `dist/lib`: declarations of what a program may import, and the
 * native libraries for this machine. `bun pm pack` and `npm pack` run it first.
 */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { packagedCryptLibrary } from "../src/adapters/native/crypt-library.ts";
import { packagedKernelLibrary } from "../src/adapters/native/kernel-library.ts";
import { cryptLibrary } from "./build/crypt-library.ts";
import { writeDeclarations } from "./build/declarations.ts";
import { kernelLibrary } from "./build/kernel-library.ts";

const ROOT = join(import.meta.dir, "..");

function copyTo(path: string, from: string): void {
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(from, path);
}

try {
  rmSync(join(ROOT, "dist/lib"), { recursive: true, force: true });
  copyTo(packagedCryptLibrary(ROOT), await cryptLibrary(ROOT, "release"));
  copyTo(packagedKernelLibrary(ROOT), await kernelLibrary(ROOT));
  const count = writeDeclarations({
    root: ROOT,
    entry: join(ROOT, "src/library.ts"),
    out: join(ROOT, "dist/lib/types"),
  });
  console.log(`built dist/lib: ${count} declaration files, native libraries for this machine`);
} catch (error) {
  console.error(`build-library: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
