/**
 * Makes what the npm package carries beside the source, in `dist/lib`: declarations of what a program may import. `bun pm pack`
 * and `npm pack` run it first.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeDeclarations } from "./build/declarations.ts";

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist/lib");

try {
  rmSync(OUT, { recursive: true, force: true });
  const count = writeDeclarations({
    root: ROOT,
    base: join(ROOT, "src"),
    entries: [join(ROOT, "src/library.ts")],
    out: join(OUT, "types"),
  });
  console.log(`built dist/lib: ${count} declaration files`);
} catch (error) {
  console.error(`build-library: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
