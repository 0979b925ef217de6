/**
 * Measures which memories a store names as those that it may replace: `bun scripts/quality/near.ts [--model multilingual]`. Old memories of the
 * changes of mind and unrelated ones are stored; then each new memory is stored beside them, by itself.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEngine } from "../../src/app/open-engine.ts";
import { loadConfig } from "../../src/config/load.ts";

const OWNER = "quality";

/** The lines of a set, in columns. */
function linesOf(name: string): string[][] {
  return readFileSync(join(import.meta.dir, "data", `${name}.txt`), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" | "));
}

function share(part: number, all: number): string {
  return `${part} of ${all} (${((100 * part) / all).toFixed(1)} %)`;
}

const changes = linesOf("changes");
const unrelated = linesOf("filler");
const folder = mkdtempSync(join(tmpdir(), "svc-near-"));
const { values: flags } = parseArgs({ options: { model: { type: "string" } } });
const explicit = {
  pack_path: join(folder, "near.pack"),
  ...(flags.model === undefined ? {} : { embedding: { model_name: flags.model } }),
};
const engine = await openEngine(loadConfig({ explicit, environment: {} }).config);
const store = (content: string) => engine.storeWithReceipt({ userId: OWNER, content });
try {
  const old = new Map<string, string>();
  for (const [, , before = ""] of changes) old.set(before, (await store(before)).nodeId);
  let empty = 0;
  for (const [, content = ""] of unrelated)
    empty += (await store(content)).near?.length === 0 ? 1 : 0;
  let named = 0;
  for (const [kind, language, before = "", after = ""] of changes) {
    const { nodeId, near = [] } = await store(after);
    const isNamed = near.some(({ node }) => node.id === old.get(before));
    named += isNamed ? 1 : 0;
    if (!isNamed) console.log(`not named (${kind}, ${language}): ${before} -> ${after}`);
    await engine.archive(nodeId);
  }
  console.log(`changes of mind that name what they replace: ${share(named, changes.length)}`);
  console.log(`unrelated memories that name nothing: ${share(empty, unrelated.length)}`);
} finally {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}
