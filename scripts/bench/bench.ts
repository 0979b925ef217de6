/**
 * Measures the program: `bun scripts/bench/bench.ts [part …] [--sizes 1000,10000,100000] [--effort 1] [--write]`.
 * Parts: store, bulk, near, extraction, admission, retrieve, searches, receipts, owners, start, disk, databases; none named: all. `--effort 0.2` repeats less
 * often, for a quick look.
 * `--write` builds the program of this commit, measures it and puts the result, with the commit, into docs/performance.md; a part is
 * written once it is measured. Otherwise build first (`bun scripts/build.ts`), or name an executable in SVC_EXE. Run it on a machine that
 * does nothing else. Before a release, 10 to 15 minutes: `bun scripts/bench/bench.ts store retrieve searches receipts start --effort 0.4 --write`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureAdmission } from "./parts/admission.ts";
import { measureBulk } from "./parts/bulk.ts";
import type { PartContext } from "./parts/context.ts";
import { measureDatabases } from "./parts/databases.ts";
import { measureDisk } from "./parts/disk.ts";
import { measureExtraction } from "./parts/extraction.ts";
import { measureNear } from "./parts/near.ts";
import { measureOwners } from "./parts/owners.ts";
import { measureReceipts } from "./parts/receipts.ts";
import { measureRetrieve } from "./parts/retrieve.ts";
import { measureSearches } from "./parts/searches.ts";
import { measureStart } from "./parts/start.ts";
import { measureStore } from "./parts/store.ts";
import { commitOfProgram, type Section, toMarkdown, writePage } from "./report.ts";
import { endAllServers } from "./server.ts";

const PARTS: Readonly<Record<string, (context: PartContext) => Promise<Section>>> = {
  store: measureStore,
  bulk: measureBulk,
  near: measureNear,
  extraction: measureExtraction,
  admission: measureAdmission,
  retrieve: measureRetrieve,
  searches: measureSearches,
  receipts: measureReceipts,
  owners: measureOwners,
  start: measureStart,
  disk: measureDisk,
  databases: measureDatabases,
};
const PAGE = join(import.meta.dir, "../../docs/performance.md");

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sizes: { type: "string", default: "1000,10000,100000" },
      effort: { type: "string", default: "1" },
      write: { type: "boolean", default: false },
    },
  });
  const sizes = values.sizes.split(",").map(Number);
  const effort = Number(values.effort);
  if (sizes.some((size) => !Number.isInteger(size) || size < 100)) {
    throw new Error(`--sizes: ${values.sizes} is not a list of whole numbers from 100`);
  }
  if (!(effort > 0)) throw new Error(`--effort: ${values.effort} is not a number above 0`);
  if (values.write) await buildProgram();
  for (const name of positionals.length === 0 ? Object.keys(PARTS) : positionals) {
    const section = await runPart(name, sizes, effort);
    console.log(toMarkdown(section));
    if (values.write) writePage(PAGE, [section]);
  }
}

/** So that the figures are of the commit that the page names. */
async function buildProgram(): Promise<void> {
  commitOfProgram();
  if (process.env["SVC_EXE"] !== undefined) throw new Error("--write measures its own build");
  await Bun.$`${process.execPath} scripts/build.ts`.cwd(join(import.meta.dir, "../..")).quiet();
}

async function runPart(name: string, sizes: readonly number[], effort: number): Promise<Section> {
  const part = PARTS[name];
  if (part === undefined) {
    throw new Error(`${name}: no such part; use ${Object.keys(PARTS).join(", ")}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    return await part({ folder, sizes, effort, say: (text) => console.error(text) });
  } finally {
    await endAllServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
