/**
 * Measures whether answers get worse when the organizer has run: `bun scripts/quality/organized.ts FILE.json.gz [--conversations N]
 * [--days 0] [--as-said] [--summaries]`. `conversations.ts` says what the file holds. Each conversation is stored in a pack of its own the day
 * after it ended, or with --as-said each session at its time; so many days later all questions are asked, `organize` runs, and they
 * are asked again. The settings are the defaults but for upkeep beside calls, which would run before.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { type Conversation, readConversations, remember } from "./conversations.ts";
import { createKeepingEmbedder, createSimulation, openSimulated } from "./simulated-engine.ts";

const { values: flags, positionals } = parseArgs({
  options: {
    conversations: { type: "string" },
    days: { type: "string", default: "0" },
    "as-said": { type: "boolean", default: false },
    summaries: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const FIRST = [5, 10, 50] as const;
const DAY_MS = 86_400_000;
/** Where a session has no time. */
const SOME_DAY = "2026-01-01T00:00:00Z";

/** Of one question: the share of its evidence among the first results, and whether the context has all of it. */
type Answer = { readonly found: readonly number[]; readonly packed: boolean };

async function askAll(
  engine: MemoryEngine,
  { id: userId, questions }: Conversation,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { question: query, evidence } of questions) {
    if (evidence.length === 0) continue;
    const { results, bundle } = await engine.retrieve({ query, userId, keepReceipt: false });
    const turns = results.map(({ node }) => String(node.metadata?.["turn_id"]));
    const part = (most: number) => {
      const first = new Set(turns.slice(0, most));
      return evidence.filter((turn) => first.has(turn)).length / evidence.length;
    };
    const packed = new Set(
      [...bundle.sections.values()]
        .flat()
        .map(({ candidate }) => String(candidate.node.metadata?.["turn_id"])),
    );
    answers.push({
      found: FIRST.map(part),
      packed: evidence.every((turn) => packed.has(turn)),
    });
  }
  return answers;
}

/** What became of one conversation. */
type Outcome = {
  readonly turns: number;
  readonly before: readonly Answer[];
  readonly after: readonly Answer[];
  /** Changes of each job. */
  readonly changes: Readonly<Record<string, number>>;
};

async function live(
  path: string,
  embedder: ReturnType<typeof createKeepingEmbedder>,
  conversation: Conversation,
): Promise<Outcome> {
  const times = conversation.sessions.map(({ time }) => Date.parse(time ?? SOME_DAY));
  const end = Math.max(...times) + DAY_MS;
  const simulation = createSimulation(new Date(flags["as-said"] ? Math.min(...times) : end));
  const engine = await openSimulated(path, simulation, embedder, {
    organizer: {
      opportunistic_enabled: false,
      extractive_summaries: flags.summaries,
      fading: "original",
    },
  });
  try {
    if (flags["as-said"]) {
      for (const session of conversation.sessions) {
        simulation.set(new Date(session.time ?? SOME_DAY));
        await remember(engine, { id: conversation.id, sessions: [session] });
      }
    } else await remember(engine, conversation);
    simulation.set(new Date(end + Number(flags.days) * DAY_MS));
    const before = await askAll(engine, conversation);
    const { perJob, jobsSkipped } = await engine.organize({ budgetMs: 600_000 });
    const after = await askAll(engine, conversation);
    const jobs = Object.values(perJob).map(({ job, nodesModified }) => [job, nodesModified]);
    console.error(`${conversation.id}: ${jobs.join(" ")}; skipped: ${jobsSkipped.join(" ")}`);
    const turns = conversation.sessions.reduce((sum, session) => sum + session.turns.length, 0);
    return { turns, before, after, changes: Object.fromEntries(jobs) };
  } finally {
    await engine.close();
  }
}

function percent(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(2)} %`;
}

function print(outcomes: readonly Outcome[]): void {
  const before = outcomes.flatMap((one) => one.before);
  const after = outcomes.flatMap((one) => one.after);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const row = (name: string, value: (answer: Answer) => number) => {
    const of = (answers: readonly Answer[]) => percent(sum(answers.map(value)), answers.length);
    const pairs = before.map((answer, at) => [answer, after[at] ?? answer] as const);
    const better = pairs.filter(([old, fresh]) => value(fresh) > value(old)).length;
    const worse = pairs.filter(([old, fresh]) => value(fresh) < value(old)).length;
    console.log(`| ${name} | ${of(before)} | ${of(after)} | ${better}, ${worse} |`);
  };
  const turns = sum(outcomes.map((one) => one.turns));
  const jobs = [...new Set(outcomes.flatMap(({ changes }) => Object.keys(changes)))];
  const changed = jobs.map((job) => [job, sum(outcomes.map(({ changes }) => changes[job] ?? 0))]);
  console.log(`${outcomes.length} conversations, ${turns} memories, ${before.length} questions`);
  console.log(`changes: ${changed.map(([job, count]) => `${job} ${count}`).join(", ")}\n`);
  console.log("| measure | before | after | questions better, worse |\n|---|---|---|---|");
  for (const [at, most] of FIRST.entries()) {
    row(`evidence among the first ${most}`, ({ found }) => found[at] ?? 0);
  }
  row("whole evidence in the context", ({ packed }) => Number(packed));
}

async function main(): Promise<void> {
  const [path] = positionals;
  if (path === undefined) throw new Error("usage: bun scripts/quality/organized.ts FILE.json.gz");
  const folder = mkdtempSync(join(tmpdir(), "svc-organized-"));
  const embedder = createKeepingEmbedder();
  try {
    const outcomes: Outcome[] = [];
    for (const conversation of await readConversations(path, flags.conversations)) {
      const pack = join(folder, `${outcomes.length}.pack`);
      outcomes.push(await live(pack, embedder, conversation));
      embedder.keep();
    }
    print(outcomes);
  } finally {
    await embedder.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
