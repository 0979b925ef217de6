/**
 * Makes the package `clients/js` ready to be packed, in its `dist`: JavaScript for Node and Bun with what it takes of `src`,
 * declarations, and the licence. `bun pm pack` and `npm pack` run it first.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeFlatDeclarations } from "./build/flat-types.ts";

const ROOT = join(import.meta.dir, "..");
const CLIENT = join(ROOT, "clients/js");
const OUT = join(CLIENT, "dist");
const ENTRIES = ["remote", "local", "ai-sdk", "langchain", "openai-agents", "mastra"].map((name) =>
  join(CLIENT, `src/${name}.ts`),
);

/** Without forms of photos and videos, of which a client has no errors, and without what says whether a call may be repeated. */
const lean: Bun.BunPlugin = {
  name: "lean",
  setup: (build) => {
    build.onLoad({ filter: /\/src\/domain\/records\/observation\.ts$/ }, () => ({
      contents: "export const observationReportForm = { read: (json) => json };",
      loader: "js",
    }));
    build.onLoad({ filter: /\/src\/domain\/errors\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replaceAll(/\{ retry: (true|false), /g, "{ "),
      loader: "ts",
    }));
  },
};

try {
  rmSync(OUT, { recursive: true, force: true });
  const count = writeFlatDeclarations({
    root: ROOT,
    base: join(CLIENT, "src"),
    entries: ENTRIES,
    // Beside the modules, where compilers look for them.
    out: OUT,
    flattened: join(ROOT, "src"),
  });
  // In parts, for what the modules share: an error of one is an error of the other.
  const { logs, success } = await Bun.build({
    entrypoints: ENTRIES,
    outdir: OUT,
    target: "node",
    format: "esm",
    splitting: true,
    minify: true,
    plugins: [lean],
    packages: "external",
    throw: false,
  });
  if (!success) throw new Error(logs.join("\n"));
  // Its terms, without what tells how to apply them to other works, and without indents.
  const [terms = ""] = readFileSync(join(ROOT, "LICENSE"), "utf8").split(/^ *APPENDIX:/m);
  writeFileSync(join(OUT, "LICENSE"), `${terms.replaceAll(/^ +/gm, "").trim()}\n`);
  console.log(`built clients/js/dist: ${count} declaration files, ${ENTRIES.length} modules`);
} catch (error) {
  console.error(`build-client: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
