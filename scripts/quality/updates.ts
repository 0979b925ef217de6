/**
 * Measures whether answers say what is true now: `bun scripts/quality/updates.ts [--json FILE] [--show] [--only endings] [--model multilingual]`. Prints a table in
 * Markdown for the half of each set on which constants were fixed and for the half that was held out. --show also lists
 * what went wrong. Nothing is read but the texts beside this file; the model is that of the program.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import type { ResultCandidate } from "../../src/engine/retrieve/api.ts";
import {
  HALVES,
  type Half,
  type Pair,
  readChanges,
  readEndings,
  readFiller,
  readPairs,
  readUnanswerable,
} from "./sets.ts";

/** Whether something went wrong, of one item of a set. */
type Verdict = {
  readonly half: Half;
  readonly wrong: boolean;
  readonly about: string;
};
type Measure = {
  readonly name: string;
  readonly target: string;
  readonly verdicts: readonly Verdict[];
};

const { values: flags } = parseArgs({
  options: {
    json: { type: "string" },
    model: { type: "string" },
    only: { type: "string" },
    show: { type: "boolean", default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), "svc-updates-"));
const changes = readChanges();
const pairs = readPairs();
const filler = readFiller();

/** Opens a new pack whose owner has these memories, stored in their order. */
async function memoryOf(
  name: string,
  texts: readonly string[],
  newerFirst = true,
): Promise<MemoryEngine> {
  const engine = await MemoryEngine.create({
    pack_path: join(folder, `${name}.pack`),
    newer_first: newerFirst,
    ...(flags.model === undefined ? {} : { embedding: { model_name: flags.model } }),
  });
  for (const content of texts) await engine.store({ content, userId: "owner" });
  return engine;
}

async function ask(engine: MemoryEngine, query: string): Promise<readonly ResultCandidate[]> {
  return (await engine.retrieve({ query, userId: "owner" })).results;
}

const contents = {
  changes: [
    ...changes.map(({ first }) => first),
    ...filler,
    ...changes.map(({ second }) => second),
  ],
  pairs: [...pairs.map(({ first }) => first), ...filler, ...pairs.map(({ second }) => second)],
} as const;

/** Whether the outdated memory of a change is found before the new one, or without it. */
async function outdatedFirst(name: string, engine: MemoryEngine): Promise<Measure> {
  const verdicts: Verdict[] = [];
  for (const change of changes) {
    const results = await ask(engine, change.question);
    const place = (text: string) => results.findIndex(({ node }) => node.content === text);
    const [old, fresh] = [place(change.first), place(change.second)];
    verdicts.push(verdict(change, old !== -1 && (fresh === -1 || old < fresh)));
  }
  return { name, target: "at most 15 %", verdicts };
}

/** Stores the new memories as an assistant does that is told what they may replace, and knows which of it is outdated. */
async function followStore(engine: MemoryEngine): Promise<void> {
  for (const { first, second } of changes) {
    const { nodeId, near } = await engine.storeWithReceipt({ content: second, userId: "owner" });
    const outdated = near?.find(({ node }) => node.content === first);
    if (outdated !== undefined)
      await engine.supersede(outdated.node.id, nodeId, { userId: "owner" });
  }
}

/** Whether one of two memories that are both true is marked as older than another one. */
async function wrongMarks(name: string, engine: MemoryEngine): Promise<Measure> {
  const verdicts: Verdict[] = [];
  for (const pair of pairs) {
    const results = await ask(engine, pair.question);
    const isMarked = results.some(
      ({ node, olderThan }) =>
        olderThan !== undefined && [pair.first, pair.second].includes(node.content),
    );
    verdicts.push(verdict(pair, isMarked));
  }
  return { name, target: "at most 3 %", verdicts };
}

/** Marks of the pairs of `readEndings`, each of an owner who has few other memories. */
async function endings(engine: MemoryEngine): Promise<readonly Measure[]> {
  const marked = new Map<string, Verdict[]>();
  for (const [index, pair] of readEndings().entries()) {
    const userId = `owner ${index}`;
    const texts = [pair.first, ...filler.slice(index % 30, (index % 30) + 4), pair.second];
    for (const content of texts) await engine.store({ content, userId });
    const { results } = await engine.retrieve({ query: pair.question, userId });
    const isMarked = results.some(
      ({ node, olderThan }) =>
        olderThan !== undefined && [pair.first, pair.second].includes(node.content),
    );
    const verdicts = marked.get(pair.kind) ?? [];
    marked.set(pair.kind, [
      ...verdicts,
      verdict(pair, pair.kind === "ended" ? !isMarked : isMarked),
    ]);
  }
  const of = (kind: string) => marked.get(kind) ?? [];
  return [
    {
      name: "something else ended, marked as older",
      target: "at most 1 of 24",
      verdicts: of("other"),
    },
    { name: "it ended, not marked", target: "", verdicts: of("ended") },
    {
      name: "looks like a change, marked as older",
      target: "at most 1 of 30",
      verdicts: of("alike"),
    },
  ];
}

function verdict({ half, first, second }: Pair, wrong: boolean): Verdict {
  return { half, wrong, about: `${first} | ${second}` };
}

async function strengths(engine: MemoryEngine): Promise<readonly Measure[]> {
  const claimed: Verdict[] = [];
  for (const { half, question } of readUnanswerable()) {
    const results = await ask(engine, question);
    claimed.push({
      half,
      wrong: results.some(({ strength }) => strength === "strong"),
      about: question,
    });
  }
  const denied: Verdict[] = [];
  for (const { half, question, first, second } of [...changes, ...pairs]) {
    for (const { node, strength } of await ask(engine, question)) {
      if (node.content !== first && node.content !== second) continue;
      denied.push({
        half,
        wrong: strength === "weak",
        about: `${question} | ${node.content}`,
      });
    }
  }
  return [
    {
      name: "questions without an answer that get a strong hit",
      target: "at most 20 %",
      verdicts: claimed,
    },
    {
      name: "memories that answer a question and are called weak",
      target: "at most 10 %",
      verdicts: denied,
    },
  ];
}

function share(verdicts: readonly Verdict[]): string {
  const wrong = verdicts.filter((one) => one.wrong).length;
  return `${wrong} of ${verdicts.length} (${((100 * wrong) / Math.max(1, verdicts.length)).toFixed(1)} %)`;
}

async function measureAll(): Promise<readonly Measure[]> {
  const measures: Measure[] = [];
  const over = async (
    engine: MemoryEngine,
    measure: (engine: MemoryEngine) => Promise<readonly Measure[]>,
  ) => {
    try {
      measures.push(...(await measure(engine)));
    } finally {
      await engine.close();
    }
  };
  await over(await memoryOf("endings", []), endings);
  if (flags.only === "endings") return measures;
  await over(await memoryOf("off", contents.changes, false), async (engine) => [
    {
      ...(await outdatedFirst("outdated before new, with the setting off", engine)),
      target: "",
    },
  ]);
  await over(await memoryOf("changes", contents.changes), async (engine) => [
    await outdatedFirst("outdated before new, nothing superseded", engine),
  ]);
  await over(
    await memoryOf("followed", [...changes.map(({ first }) => first), ...filler]),
    async (engine) => {
      await followStore(engine);
      const measure = await outdatedFirst("outdated before new, after an assistant", engine);
      return [{ ...measure, target: "0" }];
    },
  );
  await over(await memoryOf("pairs", contents.pairs), async (engine) => [
    await wrongMarks("both true, one marked as older", engine),
  ]);
  await over(await memoryOf("reversed", contents.pairs.toReversed()), async (engine) => [
    await wrongMarks("the same, stored the other way round", engine),
  ]);
  const all = [...contents.changes, ...pairs.flatMap(({ first, second }) => [first, second])];
  await over(await memoryOf("all", all), strengths);
  return measures;
}

try {
  const measures = await measureAll();
  console.log(`| measure | ${HALVES.join(" | ")} | target |\n|---|---|---|---|`);
  for (const { name, target, verdicts } of measures) {
    const cells = HALVES.map((half) => share(verdicts.filter((one) => one.half === half)));
    console.log(`| ${name} | ${cells.join(" | ")} | ${target} |`);
  }
  if (flags.show) {
    for (const { name, verdicts } of measures) {
      console.log(`\n${name}:`);
      for (const { wrong, half, about } of verdicts) if (wrong) console.log(`- ${half}: ${about}`);
    }
  }
  if (flags.json !== undefined) await Bun.write(flags.json, JSON.stringify(measures));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
