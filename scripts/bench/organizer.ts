/**
 * Measures the organizer: `bun scripts/bench/organizer.ts [--memories 100000] [--keep FILE]`. One owner with memories of a year; a
 * whole run, a second one, and one after 100 new memories. No model takes part: the vectors are made up.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { OrganizeResult } from "../../src/engine/organize/api.ts";
import { planRawNote } from "../../src/engine/write/plan-store.ts";
import { addSeconds, type Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { openStore, turn } from "./fill.ts";
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

/** One call, with what it took. */
async function measured(
  name: string,
  engine: MemoryEngine,
  budgetMs: number,
): Promise<OrganizeResult> {
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
  console.log(
    `${name}: ${digits(wallMs)} ms, ${digits((user + system) / 1000)} ms CPU, +${digits((most - memory) / MIB)} MiB, skipped ${JSON.stringify(result.skippedBecause)}`,
  );
  for (const { job, durationMs, nodesProcessed, nodesModified } of Object.values(result.perJob)) {
    console.log(`  ${job}: ${digits(durationMs)} ms, ${nodesModified} of ${nodesProcessed}`);
  }
  return result;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { memories: { type: "string", default: "100000" }, keep: { type: "string" } },
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
    await measured("one second", engine, 1000);
    await measured("everything", engine, 600_000);
    await measured("again", engine, 600_000);
    await engine.close();
    const store = await openStore(pack);
    await fillYear(store, count, count + 100, count);
    await store.close();
    engine = await open();
    await measured("after 100 new ones", engine, 600_000);
    await measured("once more", engine, 600_000);
    await engine.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
