/**
 * Makes what the npm package carries beside the source, in `dist/lib`: declarations of what a program may import, and the adapters
 * for frameworks as JavaScript, because they run on Node too. `bun pm pack` and `npm pack` run it first.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeDeclarations } from "./build/declarations.ts";

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist/lib");
const ADAPTERS = ["remote", "ai-sdk", "langchain"].map((name) =>
  join(ROOT, `src/frameworks/${name}.ts`),
);

/** The adapters, which share what they have in common: an error of one is an error of the other. */
async function buildAdapters(): Promise<void> {
  const { logs, success } = await Bun.build({
    entrypoints: ADAPTERS,
    outdir: OUT,
    target: "node",
    format: "esm",
    splitting: true,
    packages: "external",
    throw: false,
  });
  if (!success) throw new Error(logs.join("\n"));
}

try {
  rmSync(OUT, { recursive: true, force: true });
  const count = writeDeclarations({
    root: ROOT,
    entries: [join(ROOT, "src/library.ts"), ...ADAPTERS],
    out: join(OUT, "types"),
  });
  await buildAdapters();
  console.log(`built dist/lib: ${count} declaration files, ${ADAPTERS.length} adapters`);
} catch (error) {
  console.error(`build-library: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
