/**
 * Makes what the npm package carries beside the source, in `dist/lib`: declarations of what a program may import.
 * `bun pm pack` and `npm pack` run it first.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeDeclarations } from "./build/declarations.ts";

const ROOT = join(import.meta.dir, "..");

try {
  rmSync(join(ROOT, "dist/lib"), { recursive: true, force: true });
  const count = writeDeclarations({
    root: ROOT,
    entry: join(ROOT, "src/library.ts"),
    out: join(ROOT, "dist/lib/types"),
  });
  console.log(`built dist/lib: ${count} declaration files`);
} catch (error) {
  console.error(`build-library: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
