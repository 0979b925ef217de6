/**
 * Measures the organizer: `bun scripts/bench/organizer.ts [--memories 100000] [--keep FILE] [--write]`. One owner with memories of a
 * year; a whole run, a second one, and one after 100 new memories. No model takes part: the vectors are made up. With --write, the
 * page of figures gets them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { planRawNote } from "../../src/engine/write/plan-store.ts";
import { addSeconds, type Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { openStore, turn } from "./fill.ts";
import { type Figure, toMarkdown, writePage } from "./report.ts";
import { createRandom } from "./sentences.ts";
import { digits } from "./stats.ts";

const OWNER = "bench";
const BATCH = 500;
const MIB = 2 ** 20;
const YEAR_SECONDS = 365 * 86_400;
const SETTINGS = toEngineSettings(loadConfig({ environment: {} }).config);
const NOW = createSystemClock().now();

/** Adds memories of the last year, the oldest first, with vectors of which few are near each other. */
async function fillYear(store: Store, from: number, to: number, of: number): Promise<void> {
  const { embedding } = await store.manifest();
  for (let start = from; start < to; start += BATCH) {
    const serials = Array.from({ length: Math.min(BATCH, to - start) }, (_, at) => start + at);
    const events = serials.map((serial) => {
      const age = Math.round(YEAR_SECONDS * (1 - serial / of));
      return { ...turn(OWNER, serial), timestamp: before(age) };
    });
    await store.admit({ events, auditRecords: [], leaseJobs: true });
    await store.materialize(
      events.map((event, at) => ({
        eventId: event.id,
        node: { ...planRawNote(event, SETTINGS), ttlDays: undefined },
        vector: vectorOf(serials[at] ?? 0, embedding.dimension),
        lexical: true,
        failure: undefined,
        at: NOW,
      })),
    );
  }
}

function before(seconds: number): Instant {
  const moment = addSeconds(NOW, -seconds);
  if (moment === undefined) throw new Error("the calendar ends here");
  return moment;
}

function vectorOf(serial: number, dimension: number): Float32Array {
  const random = createRandom(serial);
  const vector = Float32Array.from({ length: dimension }, () => random() - 0.5);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

/** Bytes of this process, without the pages of files that are mapped into memory. */
function ownMemory(): number {
  const [, kilobytes = "0"] =
    /RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** One call, with what it took; each job on standard error. */
async function measured(name: string, engine: MemoryEngine, budgetMs: number): Promise<Figure> {
  Bun.gc(true);
  const memory = ownMemory();
  let most = memory;
  const watch = setInterval(() => {
    most = Math.max(most, ownMemory());
  }, 20);
  const cpu = process.cpuUsage();
  const began = performance.now();
  const result = await engine.organize({ userId: OWNER, budgetMs });
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(watch);
  const cpuMs = (user + system) / 1000;
  const jobs = Object.values(result.perJob);
  for (const { job, durationMs, nodesProcessed, nodesModified } of jobs) {
    console.error(`  ${job}: ${digits(durationMs)} ms, ${nodesModified} of ${nodesProcessed}`);
  }
  const changes = jobs.reduce((sum, { nodesModified }) => sum + nodesModified, 0);
  return {
    what: `${name}, ${changes.toLocaleString("en-US")} changes`,
    figure: `${digits(wallMs)} ms, ${digits(cpuMs)} ms of processor time, +${digits((most - memory) / MIB)} MiB`,
    ratio: "-",
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      memories: { type: "string", default: "100000" },
      keep: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  const count = Number(values.memories);
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-organizer-"));
  try {
    const pack = values.keep ?? join(folder, "year.pack");
    if (!existsSync(pack)) {
      const store = await openStore(pack);
      await fillYear(store, 0, count, count);
      await store.close();
    }
    const open = () =>
      MemoryEngine.create({ pack_path: pack, organizer: { opportunistic_enabled: false } });
    let engine = await open();
    const figures = [
      await measured("a budget of 1,000 ms", engine, 1000),
      await measured("the rest of the first run", engine, 600_000),
      await measured("a second run", engine, 600_000),
    ];
    await engine.close();
    const store = await openStore(pack);
    await fillYear(store, count, count + 100, count);
    await store.close();
    engine = await open();
    figures.push(await measured("after 100 new memories", engine, 600_000));
    await engine.close();
    const section = {
      title: "Organizer",
      command: `bun scripts/bench/organizer.ts --memories ${count}`,
      notes: [
        "One owner with memories of a year, unencrypted, that was never organized before: most become stable in the first run, and most of the old ones are archived. Summaries and groups are skipped, since no language model takes part. Memory: the most that the process grew by, without pages of files that are mapped into it.",
      ],
      figures,
    };
    console.log(toMarkdown(section));
    if (values.write) writePage(join(import.meta.dir, "../../docs/performance.md"), [section]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
