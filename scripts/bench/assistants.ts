/**
 * Measures several assistants on one pack: `bun scripts/bench/assistants.ts [--rounds 20] [--write]`.
 * Prints a table in Markdown and, with --write, puts it into the page of figures. Build first (`bun scripts/build.ts`), or
 * name an executable in SVC_EXE. Run it on a machine that does nothing else. Needs Linux, which tells the memory of a process.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/library.ts";
import {
  type Assistant,
  AssistantProcess,
  endAllAssistants,
  hasOpen,
  startAssistant,
} from "./assistant-client.ts";
import { type Figure, type Section, toMarkdown, writePage } from "./report.ts";
import { createRandom, question, sentence } from "./sentences.ts";
import { digits, median, quantile, sum, timed } from "./stats.ts";

const OWNER = "bench";
const EIGHT = 8;
const WRITES = 50;
/** Questions that one is asked on end. */
const QUESTIONS = 20;
const QUESTION_ROUNDS = 10;
/** Rounds before those that count, since the first questions load what the others find loaded. */
const WARM_ROUNDS = 2;
const PAGE = join(import.meta.dir, "../../docs/performance.md");
const TARGET = { startMs: 120, addedMs: 3, memory: 2, takeoverMs: 2000 } as const;

let root = "";

function newPack(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name, "memory.pack");
}

const options = (pack: string) => ({
  pack,
  environment: { HOME: root, XDG_CACHE_HOME: join(root, "cache") },
});

/** Milliseconds from the start of a process to its list of tools. */
async function untilTools(pack: string): Promise<number> {
  const start = performance.now();
  const assistant = await new AssistantProcess(options(pack)).open();
  await assistant.ask("tools", "tools/list");
  const ms = performance.now() - start;
  await assistant.leave();
  return ms;
}

async function measureStarts(rounds: number): Promise<Figure[]> {
  const pack = newPack("start");
  const times = { first: [] as number[], second: [] as number[] };
  for (let round = 0; round < rounds + 1; round += 1) {
    const first = await untilTools(pack);
    const host = await startAssistant(options(pack));
    const second = await untilTools(pack);
    await host.leave();
    // The first round fills the page cache.
    if (round === 0) continue;
    times.first.push(first);
    times.second.push(second);
  }
  const line = (what: string, ms: readonly number[]): Figure => ({
    what: `start to tools/list, ${what}`,
    figure: `median ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`,
    ratio: verdict(median(ms), TARGET.startMs, "ms"),
  });
  return [line("first process", times.first), line("second process on the pack", times.second)];
}

function verdict(value: number, target: number, unit: string): string {
  return `target ${target} ${unit}: ${value <= target ? "met" : "missed"}`;
}

async function storeSentences(
  assistant: Assistant,
  from: number,
  count: number,
): Promise<string[]> {
  const random = createRandom(from + 1);
  const ids: string[] = [];
  for (let serial = from; serial < from + count; serial += 1) {
    const content = sentence(random, serial);
    const { isError, value } = await assistant.call("memory_store", { content, user_id: OWNER });
    if (isError) throw new Error(`a store failed: ${JSON.stringify(value)}`);
    ids.push(String(value["event_id"]));
  }
  return ids;
}

async function ask(assistant: Assistant, query: string): Promise<void> {
  const { isError, value } = await assistant.call("memory_retrieve", { query, user_id: OWNER });
  if (isError) throw new Error(`a question failed: ${JSON.stringify(value)}`);
}

async function measureWritesAndQuestions(): Promise<Figure[]> {
  const pack = newPack("calls");
  const all = await startSome(pack, EIGHT);
  const start = performance.now();
  const ids = await Promise.all(
    all.map((assistant, index) => storeSentences(assistant, index * WRITES, WRITES)),
  );
  const seconds = (performance.now() - start) / 1000;
  const [host, guest] = all;
  if (host === undefined || guest === undefined) throw new Error("nobody was started");
  const found = await Promise.all(
    ids
      .flat()
      .map(async (event_id) => !(await guest.call("memory_get_event", { event_id })).isError),
  );
  const present = found.filter(Boolean).length;
  const questions = await measureQuestions(pack, host, guest);
  await leaveAll(all);
  return [
    {
      what: `memory_store, ${EIGHT} clients x ${WRITES} writes`,
      figure: `${present} present, ${new Set(ids.flat()).size} acknowledged, ${digits(ids.flat().length / seconds)} a second`,
      ratio: `target ${EIGHT * WRITES}: ${present === EIGHT * WRITES ? "met" : "missed"}`,
    },
    ...questions,
  ];
}

/**
 * Asks an engine in this process, the process that serves the pack, and one that it serves, each several questions on end:
 * what is done behind an answer delays the next one, whoever is asked.
 */
async function measureQuestions(pack: string, host: Assistant, guest: Assistant) {
  await using engine = await MemoryEngine.create({ pack_path: pack });
  const random = createRandom(7);
  const times = { engine: [] as number[], host: [] as number[], guest: [] as number[] };
  const asked: readonly [number[], (query: string) => Promise<unknown>][] = [
    [times.engine, (query) => engine.retrieve({ query, userId: OWNER })],
    [times.host, (query) => ask(host, query)],
    [times.guest, (query) => ask(guest, query)],
  ];
  for (let round = -WARM_ROUNDS; round < QUESTION_ROUNDS; round += 1) {
    for (const [kept, retrieve] of asked) {
      for (let count = 0; count < QUESTIONS; count += 1) {
        const ms = await timed(() => retrieve(question(random)));
        if (round >= 0) kept.push(ms);
      }
    }
  }
  const own = median(times.engine);
  const line = (what: string, ms: readonly number[]): Figure => {
    const added = median(ms) - own;
    return {
      what: `memory_retrieve over stdio, ${what}`,
      figure: `p50 ${digits(median(ms))} ms, of an engine in the asking process ${digits(own)} ms: ${digits(added)} ms more`,
      ratio: verdict(added, TARGET.addedMs, "ms more"),
    };
  };
  return [
    line("client of the process that serves", times.host),
    line("client of another process", times.guest),
  ];
}

async function startSome(pack: string, count: number): Promise<Assistant[]> {
  const all: Assistant[] = [];
  while (all.length < count) all.push(await startAssistant(options(pack)));
  return all;
}

async function leaveAll(assistants: readonly Assistant[]): Promise<void> {
  // The one that serves leaves last, so that nobody takes over on the way.
  for (const assistant of [...assistants].reverse()) await assistant.leave();
}

/** Megabytes: what a process has in memory, and its share of it when what several have is divided among them. */
function memoryOf({ process: { pid } }: Assistant): { readonly rss: number; readonly pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const read = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) * 1024) / 1e6;
  return { rss: read("Rss"), pss: read("Pss") };
}

async function measureMemory(): Promise<Figure[]> {
  const work = async (pack: string, count: number) => {
    const all = await startSome(pack, count);
    const random = createRandom(11);
    const share = (EIGHT * WRITES) / count;
    for (const [index, assistant] of all.entries()) {
      await storeSentences(assistant, index * share, share);
      for (let asked = 0; asked < share; asked += 1) await ask(assistant, question(random));
    }
    await Bun.sleep(2000);
    const found = all.map(memoryOf);
    await leaveAll(all);
    return { rss: found.map(({ rss }) => rss), pss: found.map(({ pss }) => pss) };
  };
  const one = await work(newPack("one"), 1);
  const eight = await work(newPack("eight"), EIGHT);
  const line = (what: string, key: "rss" | "pss"): Figure => {
    const ratio = sum(eight[key]) / sum(one[key]);
    const [host = 0, ...guests] = eight[key];
    return {
      what: `memory of ${EIGHT} processes, ${what}`,
      figure: `${digits(sum(eight[key]))} MB (${digits(host)} + ${guests.length} x ${digits(median(guests))}), one alone ${digits(sum(one[key]))} MB`,
      ratio: `${digits(ratio)} x; ${verdict(ratio, TARGET.memory, "x")}`,
    };
  };
  return [
    line("pages counted once (PSS)", "pss"),
    line("shared pages counted for each (RSS)", "rss"),
  ];
}

async function measureTakeover(rounds: number): Promise<Figure[]> {
  const pack = newPack("takeover");
  const all = await startSome(pack, 4);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const assistant of all) await storeSentences(assistant, round * 10, 1);
    const host = all.find(({ process }) => hasOpen(process.pid, pack));
    if (host === undefined) throw new Error("nobody has the pack open");
    all.splice(all.indexOf(host), 1);
    const start = performance.now();
    host.process.child.kill("SIGKILL");
    const answered = all.map(async (assistant) => {
      await storeSentences(assistant, round * 10 + 5, 1);
      return performance.now() - start;
    });
    times.push(Math.max(...(await Promise.all(answered))));
    all.push(await startAssistant(options(pack)));
  }
  await leaveAll(all);
  const worst = Math.max(...times);
  return [
    {
      what: `kill -9 of the process that serves to the last of the others' stores, ${rounds} rounds`,
      figure: `median ${digits(median(times))} ms, longest ${digits(worst)} ms`,
      ratio: verdict(worst, TARGET.takeoverMs, "ms"),
    },
  ];
}

async function measure(rounds: number): Promise<Section> {
  const figures = [
    ...(await measureStarts(rounds)),
    ...(await measureWritesAndQuestions()),
    ...(await measureMemory()),
    ...(await measureTakeover(rounds)),
  ];
  return {
    title: "Several assistants on one pack",
    command: "bun scripts/bench/assistants.ts",
    notes: [
      `Each assistant is a process \`svc mcp\` of the built executable, spoken to over stdin and stdout. One of them has the pack open and serves the others. Questions have no limit. Memory is read after ${EIGHT * WRITES} stores and as many questions, by one process or ${EIGHT}. The last column is the target.`,
    ],
    figures,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "20" },
      write: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds: ${values.rounds} is not a whole number from 1`);
  }
  root = mkdtempSync(join(tmpdir(), "svc-assistants-"));
  try {
    const section = await measure(rounds);
    console.log(toMarkdown(section));
    if (values.write) writePage(PAGE, [section]);
  } finally {
    await endAllAssistants();
    rmSync(root, { recursive: true, force: true });
  }
}

await main();
