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
} finally {
  rmSync(folder, { recursive: true, force: true });
}
