/**
 * Measures whether a question for a time and nothing else brings what is of that time, in eight languages:
 * `bun scripts/quality/days.ts [--show]`. 24 memories of one person lie 0 to 400 days back.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../src/app/memory-engine.ts";

const NOW = "2026-11-27T12:00:00Z";
const DAY_MS = 86_400_000;
/** Days back, and what happened. */
const LIFE: readonly (readonly [number, string])[] = [
  [0, "Bought tomatoes and basil at the market"],
  [1, "The boiler was repaired by a plumber"],
  [2, "Finished the report on sales"],
  [3, "Went running along the river"],
  [4, "Called the bank about the loan"],
  [5, "Paul baked a cheesecake"],
  [6, "The cat threw up on the carpet"],
  [8, "Installed the new printer"],
  [9, "Watched a film about whales"],
  [11, "Sorted the photos from Norway"],
  [13, "Paid the electricity bill"],
  [16, "Had lunch with a recruiter"],
  [19, "Planted tulips in the garden"],
  [24, "Read half of a novel by Woolf"],
  [29, "The car failed its inspection"],
  [34, "Booked flights to Lisbon"],
  [40, "Painted the kitchen wall yellow"],
  [48, "Helped Eva with her homework"],
  [55, "Lost my umbrella in the tram"],
  [63, "Cooked lentil soup for six"],
  [80, "Deployed version 3 of the shop"],
  [110, "Visited the dentist"],
  [200, "Repaired the bicycle chain"],
  [400, "Signed the new lease"],
];

const questions = (await Bun.file(join(import.meta.dir, "data/days.txt")).text())
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [language = "", from = "", to = "", query = ""] = line.split("|");
    return { language, from: Number(from), to: Number(to), query };
  });
const folder = mkdtempSync(join(tmpdir(), "svc-days-"));
const engine = await MemoryEngine.create({ pack_path: join(folder, "life.pack") });
for (const [days, content] of LIFE) {
  const eventTime = new Date(Date.parse(NOW) - days * DAY_MS - DAY_MS / 12).toISOString();
  await engine.store({ content, userId: "owner", eventTime });
}
const right = new Map<string, [number, number]>();
for (const { language, from, to, query } of questions) {
  const { results } = await engine.retrieve({ query, userId: "owner", referenceTime: NOW });
  const [first] = results;
  const days = LIFE.find(([, content]) => content === first?.node.content)?.[0] ?? -1;
  const isRight = days >= from && days <= to && first?.strength === "strong";
  const [found, all] = right.get(language) ?? [0, 0];
  right.set(language, [found + (isRight ? 1 : 0), all + 1]);
  if (!isRight && process.argv.includes("--show")) console.log(`${language} ${query} ${days}`);
}
await engine.close();
rmSync(folder, { recursive: true });
console.log("| language | of the time that is asked for, first and strong |\n|---|---|");
for (const [language, [found, all]] of right) console.log(`| ${language} | ${found} of ${all} |`);
const total = [...right.values()].reduce((sum, [found]) => sum + found, 0);
console.log(`| all | ${total} of ${questions.length} |`);
