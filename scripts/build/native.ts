/**
 * The native libraries of our own for every platform, which are kept in the repository so that nobody needs a compiler:
 *
 * - `bun scripts/build/native.ts` makes them again from their C source. Run it after every change there, and commit the
 *   libraries with it. It needs Python with pip, which brings the compiler into the cache of the project (440 MB), and cargo,
 *   which brings SQLite's source. The first time takes four minutes.
 * - `--check` compares the kept libraries with the source that they were made from. It needs no compiler.
 * - `--compare` makes those again elsewhere that take seconds, and compares byte for byte; with `--all`, every one.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { compile, isHeavy, KEPT, PREBUILT } from "./native/libraries.ts";
import { findings, REBUILD, writeRecord } from "./native/record.ts";
import { provideZig } from "./native/zig.ts";

const ROOT = join(import.meta.dir, "../..");

const CACHE = join(ROOT, "node_modules/.cache/ziglang/cache");

async function rebuild(): Promise<void> {
  const tools = { zig: await provideZig(ROOT), cache: CACHE, scratch: CACHE };
  for (const kept of KEPT) {
    const path = join(ROOT, PREBUILT, kept.path);
    mkdirSync(dirname(path), { recursive: true });
    await compile(ROOT, tools, kept, path);
    console.log(`built ${PREBUILT}/${kept.path}`);
  }
  writeRecord(ROOT);
}

/** What differs from the kept libraries, one line each. */
async function differences(isAll: boolean): Promise<readonly string[]> {
  const zig = await provideZig(ROOT);
  const folder = mkdtempSync(join(tmpdir(), "svc-native-"));
  const tools = { zig, cache: CACHE, scratch: join(folder, "scratch") };
  try {
    const lines: string[] = [];
    for (const kept of KEPT) {
      if (isHeavy(kept) && !isAll) {
        console.log(`left out: ${kept.path} takes minutes; --compare --all makes it again`);
        continue;
      }
      // A signature for macOS names the file.
      const again = join(folder, basename(kept.path));
      await compile(ROOT, tools, kept, again);
      const isEqual = readFileSync(join(ROOT, PREBUILT, kept.path)).equals(readFileSync(again));
      if (!isEqual) lines.push(`${kept.path} differs from what its source makes; run: ${REBUILD}`);
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean", default: false },
      compare: { type: "boolean", default: false },
      all: { type: "boolean", default: false },
    },
  });
  if (!values.check && !values.compare) await rebuild();
  const lines = values.compare ? await differences(values.all) : findings(ROOT);
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
