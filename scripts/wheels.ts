/**
 * Makes the packages for Python: `bun scripts/wheels.ts [--target linux-x64 ...] [--folder dist/wheels] [--level 9]`.
 * `svc-memory` is the client, a wheel of `svc-memory-bin` has the program of one platform with the one model that every program has.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DEFAULT_MODEL } from "../src/domain/embedding-models.ts";
import { buildExecutable } from "./build/executable.ts";
import { executableName, parseTarget, provideRuntime, TARGETS } from "./build/targets.ts";
import { productOf } from "./bundle/bundle.ts";
import { clientWheel } from "./python.ts";
import { wheel } from "./release/wheel.ts";

const ROOT = join(import.meta.dir, "..");

try {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true },
      folder: { type: "string", default: join(ROOT, "dist/wheels") },
      level: { type: "string", default: "9" },
    },
  });
  const folder = resolve(values.folder);
  mkdirSync(folder, { recursive: true });
  await clientWheel(folder);
  const product = await productOf(ROOT);
  const papers = ["LICENSE", "NOTICE"].map((name) => ({
    name,
    bytes: readFileSync(join(ROOT, name)),
  }));
  for (const target of values.target?.map(parseTarget) ?? TARGETS) {
    const outfile = join(folder, executableName(target, false));
    const runtime = await provideRuntime(ROOT, target);
    const main = join(ROOT, "src/main.ts");
    await buildExecutable({ root: ROOT, main, target, models: [DEFAULT_MODEL], outfile, runtime });
    const program = readFileSync(outfile);
    const made = wheel({ product, target, program, papers, level: Number(values.level) });
    writeFileSync(join(folder, made.name), made.bytes);
    const megabytes = [made.bytes.byteLength, statSync(outfile).size].map((n) =>
      (n / 1e6).toFixed(1),
    );
    console.log(`wrote ${made.name}, ${megabytes[0]} MB, installed ${megabytes[1]} MB`);
    rmSync(outfile);
  }
} catch (error) {
  console.error(error instanceof Error ? `wheels: ${error.message}` : error);
  process.exitCode = 1;
}
