/**
 * Measures counts and sums of stored claims: `bun scripts/bench/aggregation.ts [--claims 100000] [--rounds 5] [--write]`.
 * Prints a table in Markdown and, with --write, puts it into the page of figures. Each query runs in a process of its own, in
 * turns with a bare SQL pass over the same rows.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadSqliteVec } from "../../src/adapters/native/load-library.ts";
import { NODE_COLUMNS } from "../../src/adapters/sql/rows.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { createIdSource, createSystemClock } from "../../src/adapters/system/system.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import {
  aggregateAssertions,
  aggregateQuantities,
} from "../../src/engine/aggregate/aggregations.ts";
import { assertionState } from "../../src/engine/aggregate/state.ts";
import type { EngineDeps } from "../../src/engine/deps.ts";
import { planRawNote } from "../../src/engine/write/plan.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { openStore, turn } from "./fill.ts";
import { type Section, toMarkdown, writePage } from "./report.ts";
import { digits, median, timed } from "./stats.ts";

const OWNER = "bench";
const BATCH = 1000;
const PAGE = 500;
const MIB = 2 ** 20;
const CLOCK = createSystemClock();
const IDS = createIdSource();
const SETTINGS = toEngineSettings(loadConfig({ environment: {} }).config);

const VERBS = ["run", "ran", "spent", "paid", "raised", "completed", "works_at", "lives_in"];
const UNITS = ["kilometers", "$", "miles", "items", "kg"];
const PEOPLE = 500;
const THINGS = 1000;

type Deps = Pick<EngineDeps, "store" | "settings">;
type Query = (deps: Deps) => Promise<{ readonly scannedNodes: number }>;

/** By name, so that a process of its own can be told which to run. */
const QUERIES: Readonly<Record<string, Query>> = {
  "count claims by object": (deps) => aggregateAssertions(deps, { userId: OWNER }),
  "count claims, each a group of its own": (deps) =>
    aggregateAssertions(deps, {
      userId: OWNER,
      groupBy: ["subject", "predicate", "object"],
    }),
  "sum amounts by unit": (deps) => aggregateQuantities(deps, { userId: OWNER, sampleLimit: 100 }),
  "sum amounts, each a group of its own": (deps) =>
    aggregateQuantities(deps, {
      userId: OWNER,
      groupBy: ["subject", "object", "unit"],
    }),
  "state of a subject": (deps) =>
    assertionState(deps, {
      userId: OWNER,
      subject: "person 7",
      predicate: "spent",
      scope: "personal",
      validAt: CLOCK.now(),
    }),
};

type Measured = {
  readonly ms: readonly number[];
  readonly rawMs: readonly number[];
  /** How much the process grew at most while the query ran for the first time. */
  readonly growth: Memory;
};

/** In bytes. */
type Memory = {
  readonly all: number;
  /** Without pages of files that are mapped into memory; undefined where the system does not say. */
  readonly own: number | undefined;
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      claims: { type: "string", default: "100000" },
      rounds: { type: "string", default: "5" },
      write: { type: "boolean", default: false },
      pack: { type: "string" },
      query: { type: "string" },
    },
  });
  const rounds = Number(values.rounds);
  if (values.pack !== undefined && values.query !== undefined) {
    console.log(JSON.stringify(await measure(values.pack, values.query, rounds)));
    return;
  }
  const claims = Number(values.claims);
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-aggregation-"));
  try {
    const pack = join(folder, "claims.pack");
    const store = await openStore(pack);
    const ms = await timed(() => fillClaims(store, claims));
    await store.close();
    console.error(`${claims} claims stored in ${digits(ms / 1000)} s`);
    const section = describe(
      claims,
      rounds,
      Object.keys(QUERIES).map((name) => [name, measureApart(pack, name, rounds)] as const),
    );
    console.log(toMarkdown(section));
    if (values.write) writePage(join(import.meta.dir, "../../docs/performance.md"), [section]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fillClaims(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const serials = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => from + at);
    const events = serials.map((serial) => turn(OWNER, serial));
    const nodes = events.map((event, at) => {
      const node = claim(planRawNote(event, SETTINGS), serials[at] ?? 0);
      return { node, lexical: false };
    });
    await store.admit({ events, auditRecords: [], nodes, leaseJobs: true });
  }
}

/** A fact with an amount, as extraction writes it. */
function claim(note: MemoryNode, serial: number): MemoryNode {
  const unit = UNITS[serial % UNITS.length] ?? "";
  const value = `${serial % 997}.${String(serial % 100).padStart(2, "0")}`;
  const amount = unit === "$" ? `$${value}` : `${value} ${unit}`;
  const verb = VERBS[serial % VERBS.length] ?? "";
  const subject = `Person ${serial % PEOPLE}`;
  const object = `${amount} on thing ${serial % THINGS} of ${Math.floor(serial / THINGS)}`;
  const sentence = `${subject} ${verb} ${object}.`;
  return {
    ...note,
    id: IDS.next(),
    nodeType: "fact",
    content: sentence,
    eventTime: note.createdAt,
    metadata: {
      subject,
      predicate: verb,
      object,
      polarity: "positive",
      extraction_kind: "fact",
      evidence_quote: sentence,
      grounding_method: "claim_sentences_v1",
      temporal_intent: "assertion",
      quantity: { value, unit, source_text: amount, grounding: "object_decimal_v1" },
    },
  };
}

/** Runs one query in a new process, so that what another left behind does not hide how much it needs. */
function measureApart(pack: string, query: string, rounds: number): Measured {
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    process.execPath,
    import.meta.path,
    ...["--pack", pack, "--query", query, "--rounds", String(rounds)],
  ]);
  if (exitCode !== 0) throw new Error(`${query}: ${stderr.toString()}`);
  // SAFETY: the line is written by this file.
  const measured = JSON.parse(stdout.toString()) as Measured;
  console.error(`${query}: ${measured.ms.map(digits).join(", ")} ms`);
  return measured;
}

async function measure(pack: string, name: string, rounds: number): Promise<Measured> {
  const query = QUERIES[name];
  if (query === undefined) throw new Error(`${name}: no such query`);
  const store = await openStore(pack);
  const deps = { store, settings: SETTINGS };
  try {
    await store.scanNodes({
      userId: OWNER,
      nodeType: "fact",
      lifecycleStates: ["tentative"],
      limit: 1,
    });
    const ms: number[] = [];
    const rawMs: number[] = [];
    const growth = await growthIn(async () => ms.push(await timed(() => query(deps))));
    for (let round = 0; round < rounds; round += 1) {
      rawMs.push(await timed(() => readRows(pack)));
      ms.push(await timed(() => query(deps)));
    }
    return { ms: ms.slice(1), rawMs, growth };
  } finally {
    await store.close();
  }
}

/** The most that the process grows while `work` runs. */
async function growthIn(work: () => Promise<unknown>): Promise<Memory> {
  Bun.gc(true);
  const before = memory();
  const seen: Memory[] = [];
  const timer = setInterval(() => seen.push(memory()), 5);
  await work();
  seen.push(memory());
  clearInterval(timer);
  const most = (of: (memory: Memory) => number) => Math.max(...seen.map(of)) - of(before);
  return {
    all: most(({ all }) => all),
    own: before.own === undefined ? undefined : most(({ own = 0 }) => own),
  };
}

function memory(): Memory {
  const status = "/proc/self/status";
  const own = existsSync(status)
    ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1]
    : undefined;
  return {
    all: process.memoryUsage.rss(),
    own: own === undefined ? undefined : Number(own) * 1024,
  };
}

/** Reads what the queries read, page by page, and nothing else. */
function readRows(pack: string): void {
  const database = openDatabase({
    layout: { kind: "file", path: pack },
    mode: "read-only",
    synchronous: "full",
    busyTimeoutMs: 5_000,
    vecExtensionPath: loadSqliteVec(),
  });
  try {
    const page = database.query<{ id: string }, [string, number]>(
      `SELECT ${NODE_COLUMNS} FROM owners o CROSS JOIN nodes n ON n.owner = o.owner
       WHERE o.user_id = '${OWNER}' AND n.node_type = 'fact' AND n.id > ? ORDER BY n.id LIMIT ?`,
    );
    let after = "";
    let rows = page.all(after, PAGE);
    while (rows.length > 0) {
      after = rows.at(-1)?.id ?? "";
      rows = page.all(after, PAGE);
    }
  } finally {
    database.close();
  }
}

function inMib({ all, own }: Memory): string {
  const without = own === undefined ? "" : ` (${digits(own / MIB)} without the mapped file)`;
  return `${digits(all / MIB)} MiB${without}`;
}

function describe(
  claims: number,
  rounds: number,
  results: readonly (readonly [string, Measured])[],
): Section {
  const raw = results.flatMap(([, { rawMs }]) => rawMs);
  const what = (name: string) => `${claims.toLocaleString("en-US")} claims: ${name}`;
  return {
    title: "Counts and sums",
    command: `bun scripts/bench/aggregation.ts --claims ${claims} --rounds ${rounds}`,
    notes: [
      "Facts with subject, predicate, object and an amount, of one owner; each query reads all of them. The probe is one bare SQL pass that reads the same rows page by page, in turns with the query. Memory: the most that a new process grew by while the query ran for the first time; pages of the pack that are mapped into memory are part of it, and the system takes them back when it needs them.",
    ],
    figures: [
      { what: what("bare SQL pass"), figure: `p50 ${digits(median(raw))} ms`, ratio: "1" },
      ...results.map(([name, { ms, rawMs, growth }]) => ({
        what: what(name),
        figure: `p50 ${digits(median(ms))} ms, ${inMib(growth)}`,
        ratio: `${digits(median(ms) / median(rawMs))} x bare SQL`,
      })),
    ],
  };
}

await main();
