/**
 * A year of memories that the organizer keeps in order: `bun scripts/quality/organizer.ts [--memories 20000] [--weeks 52] [--follow]
 * [--summaries] [--set second|third|fourth] [--show]`. Six owners say what `year-of-life.ts` makes up, of attributes of the first set of
 * `data/year-attributes.json` or of another one; the clock is simulated, the model is that of the program, and `organize` runs after each
 * week. The same year is stored a second time without it. Prints tables in Markdown. --follow lets the writer name the replaced
 * memory when the answer to a store lists it; --summaries turns extractive summaries on; --show lists what went wrong.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { OrganizeResult } from "../../src/engine/organize/api.ts";
import { digits, median, quantile } from "../bench/stats.ts";
import { createKeepingEmbedder, createSimulation, openSimulated } from "./simulated-engine.ts";
import {
  ATTRIBUTES,
  createYear,
  OWNERS,
  type Said,
  type Topic,
  type Year,
} from "./year-of-life.ts";

const { values: flags } = parseArgs({
  options: {
    memories: { type: "string", default: "20000" },
    weeks: { type: "string", default: "52" },
    follow: { type: "boolean", default: false },
    summaries: { type: "boolean", default: false },
    set: { type: "string", default: "first" },
    show: { type: "boolean", default: false },
  },
});
const MEMORIES = Number(flags.memories);
const WEEKS = Number(flags.weeks);
const SET = (["second", "third", "fourth"] as const).find((set) => set === flags.set) ?? "first";
const FIRST_FEW = 5;
const SETTINGS = {
  enable_store_supersedence: true,
  organizer: {
    opportunistic_enabled: false,
    extractive_summaries: flags.summaries,
    fading: "original" as const,
  },
};

/** What a question about a topic brought. */
type Asked = {
  readonly topic: Topic;
  /** Places of the best memory that says what is true, and what was true; undefined: none is found. */
  readonly current: number | undefined;
  readonly replaced: number | undefined;
};
type RunOfWeek = { readonly wallMs: number; readonly cpuMs: number; readonly modified: number };
type Outcome = {
  readonly stored: number;
  readonly asked: readonly Asked[];
  readonly runs: readonly RunOfWeek[];
  readonly nodes: readonly MemoryNode[];
  readonly topicOf: ReadonlyMap<string, Topic | undefined>;
  /** Moment at the end of the year. */
  readonly end: Date;
};

/** Stores a year, and organizes after each of its weeks if told so. */
async function live(
  path: string,
  embedder: Awaited<ReturnType<typeof createKeepingEmbedder>>,
  isOrganized: boolean,
): Promise<Outcome> {
  const year = createYear(MEMORIES, WEEKS, ATTRIBUTES[SET]);
  const simulation = createSimulation(new Date("2026-01-01T00:00:00Z"));
  const engine = await openSimulated(path, simulation, embedder, SETTINGS);
  const topicOf = new Map<string, Topic | undefined>();
  const runs: RunOfWeek[] = [];
  try {
    for (let week = 0; week < WEEKS; week += 1) {
      for (const { at, said } of year.say(week)) {
        simulation.set(at);
        topicOf.set(await say(engine, said), said.topic);
      }
      simulation.set(year.endOf(week));
      if (isOrganized) runs.push(await measured(() => engine.organize({ budgetMs: 600_000 })));
    }
    const asked = await askAll(engine, year);
    const nodes = await everything(engine);
    return { stored: topicOf.size, asked, runs, nodes, topicOf, end: year.endOf(WEEKS - 1) };
  } finally {
    await engine.close();
  }
}

/** @returns the id of the memory */
async function say(engine: MemoryEngine, { input, topic }: Said): Promise<string> {
  const { nodeId, near } = await engine.storeWithReceipt(input);
  if (!flags.follow || topic === undefined) return nodeId;
  // The week was made up whole: what comes later has not been said yet.
  const own = topic.texts.findIndex((texts) => texts.includes(input.content));
  const replaced = new Set(topic.texts.slice(0, own).flat());
  for (const { node } of near ?? []) {
    if (replaced.has(node.content)) {
      await engine.supersede(node.id, nodeId, { userId: input.userId });
    }
  }
  return nodeId;
}

async function measured(work: () => Promise<OrganizeResult>): Promise<RunOfWeek> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  const { perJob } = await work();
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  const modified = Object.values(perJob).reduce((sum, job) => sum + job.nodesModified, 0);
  return { wallMs, cpuMs: (user + system) / 1000, modified };
}

async function askAll(engine: MemoryEngine, { topics }: Year): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const topic of topics) {
    const { owner: userId, question: query, texts } = topic;
    const { results } = await engine.retrieve({ query, userId, keepReceipt: false });
    const contents = results.map(({ node }) => node.content);
    const placeOf = (wanted: readonly string[]) => {
      const place = contents.findIndex((content) => wanted.includes(content));
      return place === -1 ? undefined : place;
    };
    const current = placeOf(texts.at(-1) ?? []);
    asked.push({ topic, current, replaced: placeOf(texts.slice(0, -1).flat()) });
  }
  return asked;
}

async function everything(engine: MemoryEngine): Promise<readonly MemoryNode[]> {
  const nodes: MemoryNode[] = [];
  for (const userId of OWNERS) {
    for (let cursor: string | undefined, more = true; more; ) {
      const filters = { userId, lifecycleStates: LIFECYCLE_STATES, limit: 1000 };
      const page = await engine.browse({ ...filters, cursor });
      nodes.push(...page.nodes);
      cursor = page.nextCursor;
      more = cursor !== undefined;
    }
  }
  return nodes;
}

/** How well a reader can know that a fact was replaced. Each topic that changed is of one kind. */
const HOW_CHANGED: readonly { readonly name: string; readonly has: (topic: Topic) => boolean }[] = [
  {
    name: "each change says what was given up",
    has: ({ forms }) => forms.every((form) => form === "named"),
  },
  {
    name: "each change has a word of change, some do not say what was given up",
    has: ({ forms }) => forms.includes("worded") && !forms.some(isBare),
  },
  { name: "some change is a sentence like the one before", has: ({ forms }) => forms.some(isBare) },
];
const isBare = (form: Topic["forms"][number]) => form === "number" || form === "restated";

const isStaleFirst = ({ current, replaced }: Asked) =>
  replaced !== undefined && (current === undefined || replaced < current);
const isActive = ({ lifecycleState }: MemoryNode) =>
  lifecycleState === "tentative" || lifecycleState === "stable";
/** What the policy takes for one memory that was stored twice. */
const circumstances = (node: MemoryNode) =>
  JSON.stringify([node.userId, node.nodeType, node.sessionId, node.validFrom, node.eventTime]);

/** Memories that the organizer or the store retired in favour of one that says something else about something else. */
function wronglyRetired({ nodes, topicOf }: Outcome): {
  readonly merged: readonly string[];
  readonly given: readonly string[];
} {
  const byId = new Map<string, MemoryNode>(nodes.map((node) => [node.id, node]));
  const merged: string[] = [];
  const given: string[] = [];
  for (const node of nodes) {
    const successor = byId.get(node.supersededBy ?? "");
    if (successor === undefined) continue;
    const isMerge = circumstances(node) === circumstances(successor);
    const about = `${node.content} -> ${successor.content}`;
    if (isMerge && node.content !== successor.content) merged.push(about);
    if (!isMerge && topicOf.get(node.id) !== topicOf.get(successor.id)) given.push(about);
  }
  return { merged, given };
}

function duplicatesLeft(nodes: readonly MemoryNode[]): {
  readonly same: number;
  readonly repeats: number;
} {
  const active = nodes.filter(isActive);
  const distinct = (keyOf: (node: MemoryNode) => string) => new Set(active.map(keyOf)).size;
  const same = active.length - distinct((node) => circumstances(node) + node.content);
  const all = active.length - distinct(({ userId, content }) => `${userId} ${content}`);
  return { same, repeats: all - same };
}

function expiredLeft({ nodes, end }: Outcome): number {
  return nodes.filter(
    ({ ttlDays, createdAt, lifecycleState }) =>
      ttlDays !== undefined &&
      Date.parse(createdAt) + ttlDays * 86_400_000 < end.getTime() &&
      lifecycleState !== "archived" &&
      lifecycleState !== "superseded",
  ).length;
}

const share = (part: number, of: number) =>
  `${part} of ${of} (${((100 * part) / Math.max(1, of)).toFixed(1)} %)`;

function rowsOf(outcome: Outcome): readonly (readonly [string, string])[] {
  const { asked, nodes } = outcome;
  const changed = asked.filter(({ topic }) => topic.forms.length > 0);
  const within = (few: number) =>
    asked.filter(({ current }) => current !== undefined && current < few).length;
  const { same, repeats } = duplicatesLeft(nodes);
  const { merged, given } = wronglyRetired(outcome);
  return [
    [
      "replaced fact before its successor",
      share(changed.filter(isStaleFirst).length, changed.length),
    ],
    ...HOW_CHANGED.map(({ name, has }): [string, string] => {
      const of = changed.filter(({ topic }) => has(topic));
      return [`- ${name}`, share(of.filter(isStaleFirst).length, of.length)];
    }),
    ["present fact first", share(within(1), asked.length)],
    [`present fact in the first ${FIRST_FEW}`, share(within(FIRST_FEW), asked.length)],
    ["active memories", `${nodes.filter(isActive).length} of ${nodes.length}`],
    ["same memory twice, in the same circumstances", `${same}`],
    ["same words, said at another time", `${repeats}`],
    ["active after the end of their retention", `${expiredLeft(outcome)}`],
    ["wrong merges", `${merged.length}`],
    ["retired by a store about something else", `${given.length}`],
  ];
}

function printTimes(name: string, values: readonly number[]): void {
  const parts = [median(values), quantile(values, 0.95), Math.max(...values)].map(digits);
  console.log(`- ${name}, median / p95 / most: ${parts.join(" / ")} ms`);
}

function show(outcome: Outcome): void {
  const { merged, given } = wronglyRetired(outcome);
  for (const about of merged) console.log(`wrong merge: ${about}`);
  for (const about of given.slice(0, 40)) console.log(`retired: ${about}`);
  for (const one of outcome.asked.filter(isStaleFirst)) {
    const { forms, owner, question, texts } = one.topic;
    console.log(
      `stale (${forms.join(", ")}): ${owner}: ${question} ${JSON.stringify(texts.at(-1))}`,
    );
  }
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-year-"));
  const embedder = createKeepingEmbedder();
  try {
    const organized = await live(join(folder, "organized.pack"), embedder, true);
    embedder.keep();
    const left = await live(join(folder, "left.pack"), embedder, false);
    const others = rowsOf(left);
    console.log(
      `${organized.stored} memories of ${OWNERS.length} owners, ${WEEKS} weeks\n\n| measure | organized | left alone |\n|---|---|---|`,
    );
    for (const [at, [name, value]] of rowsOf(organized).entries()) {
      console.log(`| ${name} | ${value} | ${others[at]?.[1] ?? ""} |`);
    }
    const { runs } = organized;
    console.log("");
    printTimes(
      "a run",
      runs.map(({ wallMs }) => wallMs),
    );
    printTimes(
      "processor time of a run",
      runs.map(({ cpuMs }) => cpuMs),
    );
    console.log(`- changes: ${runs.reduce((sum, { modified }) => sum + modified, 0)}`);
    if (flags.show) show(organized);
  } finally {
    embedder.keep();
    await embedder.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
