/**
 * The longest time for which this process does nothing else: `bun scripts/quality/pauses.ts`. Asks questions of 10,000 and 20,000
 * words that the memories have, in a pack of 200 notes and in one with texts of a megabyte, imports a pack, and forgets 1,000
 * memories. Printed are, for each, how long it took and the longest pause between two ticks of a timer.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { exportPack } from "../../src/packs/export-pack.ts";
import { importPack } from "../../src/packs/import-pack.ts";
import { createRandom } from "../bench/sentences.ts";

const OWNER = "ada";
const TICK_MS = 5;
const LONGEST_MS = 250;
const { values: flags } = parseArgs({ options: { megabytes: { type: "string", default: "12" } } });
const folder = mkdtempSync(join(tmpdir(), "svc-pauses-"));
const random = createRandom(11);
const VOCABULARY = Array.from({ length: 20_000 }, (_, at) => `w${at.toString(36)}${at % 7}`);

function words(count: number): string {
  const at = () => Math.floor(random() * VOCABULARY.length);
  return Array.from({ length: count }, () => VOCABULARY[at()]).join(" ");
}

async function longestPause(what: string, work: () => Promise<unknown>): Promise<void> {
  await Bun.sleep(300);
  let [last, longest] = [performance.now(), 0];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last - TICK_MS);
    last = now;
  };
  const timer = setInterval(look, TICK_MS);
  const from = performance.now();
  await work();
  const took = performance.now() - from;
  look();
  clearInterval(timer);
  const mark = longest > LONGEST_MS ? "above the bound" : "";
  console.log(`| ${what} | ${took.toFixed(0)} ms | ${longest.toFixed(0)} ms | ${mark} |`);
}

async function ask(engine: MemoryEngine, pack: string): Promise<void> {
  await engine.retrieve({ query: "anything", userId: OWNER });
  for (const count of [100, 1000, 10_000, 20_000]) {
    const query = VOCABULARY.slice(0, count).join(" ").slice(0, 131_000);
    await longestPause(`${count} words, ${pack}`, () => engine.retrieve({ query, userId: OWNER }));
  }
}

/** Exports and imports 3,000 memories, and forgets 1,000 of them. */
async function copyAndForget(): Promise<void> {
  const pack_path = join(folder, "many.pack");
  const engine = await MemoryEngine.create({ pack_path });
  for (let from = 0; from < 3000; from += 500) {
    const items = Array.from({ length: 500 }, (_, at) => ({
      content: `${from + at} ${words(60)}`,
      role: "user" as const,
      sessionId: `s${Math.floor((from + at) / 1000)}`,
    }));
    await engine.ingestFastMany({ userId: OWNER, items });
  }
  while ((await engine.processPending({ userId: OWNER, budgetMs: 5000 })).pending > 0);
  const { config } = loadConfig({ explicit: { pack_path } });
  const output = join(folder, "many.jsonl");
  const { signal } = new AbortController();
  await exportPack(config, {
    ...{ form: "jsonl", withVectors: true, output, force: false, signal },
    write: async () => {},
  });
  const copy = loadConfig({ explicit: { pack_path: join(folder, "copy.pack") } }).config;
  await longestPause("an import of 3,000 memories", () =>
    importPack(copy, { kind: "plain" }, { file: output, signal, onProgress: () => {} }),
  );
  const question = { userId: OWNER, sessionId: "s0" };
  const { confirm } = await engine.forget({ ...question, mode: "preview" });
  await longestPause("a forget of 1,000 memories", () =>
    engine.forget({ ...question, mode: "erase", confirm }),
  );
  await engine.close();
}

try {
  console.log("| what | took | longest pause | |\n|---|---|---|---|");
  const notes = await MemoryEngine.create({ pack_path: join(folder, "notes.pack") });
  for (let note = 0; note < 200; note += 1) {
    await notes.store({ content: words(200), userId: OWNER });
  }
  await ask(notes, "200 notes");
  await notes.close();
  const texts = await MemoryEngine.create({ pack_path: join(folder, "texts.pack") });
  for (let at = 0; at < Number(flags.megabytes); at += 1) {
    await texts.store({ content: words(180_000), userId: OWNER });
  }
  await ask(texts, `${flags.megabytes} texts of a megabyte`);
  await texts.close();
  await copyAndForget();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
