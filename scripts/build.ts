/**
 * Builds the executable: `bun scripts/build.ts [--target linux-x64] [--models english]`.
 * Writes `dist/svc` for this machine, `dist/svc-<target>` for another one, and tries the former out.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  type EmbeddingModel,
  findModel,
} from "../src/domain/embedding-models.ts";
import { buildExecutable } from "./build/executable.ts";
import { parseTarget } from "./build/targets.ts";
import { smoke } from "./smoke.ts";

const ROOT = join(import.meta.dir, "..");
const HOST = `${process.platform}-${process.arch}`;

/** Reads `--models`, names separated by commas. @throws Error that names the possible ones */
function parseModels(text: string | undefined): readonly EmbeddingModel[] | undefined {
  const models = text?.split(",").map((name) => {
    const model = findModel(name);
    if (model !== undefined) return model;
    const known = EMBEDDING_MODELS.map(({ alias }) => alias).join(", ");
    throw new Error(`there is no embedding model ${name}: choose from ${known}`);
  });
  if (models === undefined || models.includes(DEFAULT_MODEL)) return models;
  throw new Error(`new packs need ${DEFAULT_MODEL.alias} when nothing else is said: add it`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { target: { type: "string", default: HOST }, models: { type: "string" } },
  });
  const models = parseModels(values.models);
  const target = parseTarget(values.target);
  const outfile = join(ROOT, "dist", target === HOST ? "svc" : `svc-${target}`);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await buildExecutable({ root: ROOT, main: join(ROOT, "src/main.ts"), target, models, outfile });
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
