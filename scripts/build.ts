/**
 * Builds executables: `bun scripts/build.ts [--target linux-arm64 | --all] [--models english]`.
 * Writes `dist/svc` for this machine, `dist/svc-<target>` for a target that is named, and tries out what runs here. What another
 * platform needs is fetched from the registries once and compared with its checksum.
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
import {
  executableName,
  HOST,
  parseTarget,
  provideRuntime,
  TARGETS,
  type Target,
} from "./build/targets.ts";
import { refuseBuildPaths, smoke } from "./smoke.ts";

const ROOT = join(import.meta.dir, "..");

/** Megabytes that a program may have, with the model that every program has and with all of them: people download it. */
const LIMITS: Readonly<Record<Target, { readonly one: number; readonly all: number }>> = {
  "linux-x64": { one: 172, all: 239 },
  "linux-arm64": { one: 167, all: 239 },
  "darwin-arm64": { one: 150, all: 239 },
  "windows-x64": { one: 172, all: 239 },
};

type Models = readonly EmbeddingModel[] | undefined;

/** Reads `--models`, names separated by commas. @throws Error that names the possible ones */
function parseModels(text: string | undefined): Models {
  const models = text?.split(",").map((name) => {
    const model = findModel(name);
    if (model !== undefined) return model;
    const known = EMBEDDING_MODELS.map(({ alias }) => alias).join(", ");
    throw new Error(`there is no embedding model ${name}: choose from ${known}`);
  });
  if (models === undefined || models.includes(DEFAULT_MODEL)) return models;
  throw new Error(`new packs need ${DEFAULT_MODEL.alias} when nothing else is said: add it`);
}

async function build(target: Target, isHost: boolean, models: Models): Promise<void> {
  const outfile = join(ROOT, "dist", executableName(target, isHost));
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const runtime = isHost ? undefined : await provideRuntime(ROOT, target);
  const main = join(ROOT, "src/main.ts");
  await buildExecutable({ root: ROOT, main, target, models, outfile, runtime });
  const megabytes = statSync(outfile).size / 1e6;
  console.log(`built ${outfile.slice(ROOT.length + 1)} for ${target}, ${megabytes.toFixed(1)} MB`);
  const limit = LIMITS[target][models?.length === 1 ? "one" : "all"];
  if (megabytes > limit) throw new Error(`it has more than ${limit} MB: look what has grown`);
  refuseBuildPaths(outfile, ROOT);
  if (target === HOST) await smoke({ command: [outfile] }, ROOT);
  else console.log("not tried out: it is for another platform");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      target: { type: "string" },
      all: { type: "boolean", default: false },
      models: { type: "string" },
    },
  });
  const models = parseModels(values.models);
  if (values.all) for (const target of TARGETS) await build(target, false, models);
  else await build(parseTarget(values.target ?? HOST), values.target === undefined, models);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `build: ${error.message}` : error);
  if (error instanceof AggregateError) for (const cause of error.errors) console.error(cause);
  process.exitCode = 1;
}
