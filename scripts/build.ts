/**
 * Builds the executable: `bun scripts/build.ts [--target linux-x64]`.
 * Writes `dist/svc` for this machine, `dist/svc-<target>` for another one, and tries the former out.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable } from "./build/executable.ts";
import { parseTarget } from "./build/targets.ts";
import { smoke } from "./smoke.ts";

const ROOT = join(import.meta.dir, "..");
const HOST = `${process.platform}-${process.arch}`;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { target: { type: "string", default: HOST } } });
  const target = parseTarget(values.target);
  const outfile = join(ROOT, "dist", target === HOST ? "svc" : `svc-${target}`);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await buildExecutable({ root: ROOT, main: join(ROOT, "src/main.ts"), target, outfile });
  const megabytes = (statSync(outfile).size / 1e6).toFixed(0);
  console.log(`built ${outfile.slice(ROOT.length + 1)} for ${target}, ${megabytes} MB`);
  if (target === HOST) await smoke(outfile, ROOT);
  else console.log("not tried out: it is for another platform");
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `build: ${error.message}` : error);
  if (error instanceof AggregateError) for (const cause of error.errors) console.error(cause);
  process.exitCode = 1;
}
