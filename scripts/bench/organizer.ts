/**
 * Measures the organizer: `bun scripts/bench/organizer.ts [--memories 100000] [--keep FOLDER] [--write]`. One owner with memories of
 * a year; a whole run, a second one, and one after 100 new memories; the last once more with memories of 60 days, of which all are
 * active. No model takes part: the vectors are made up. With --keep, packs are filled once and copied from there; with --write, the
 * page of figures gets what was measured.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { openStore } from "./fill.ts";
import { fillDays, type Span } from "./fill-days.ts";
import { type Figure, toMarkdown, writePage } from "./report.ts";
import { digits } from "./stats.ts";

const OWNER = "bench";
const MIB = 2 ** 20;
const LONG_MS = 600_000;
/** Nothing fades within that time. */
const RECENT_DAYS = 60;

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

/** A pack with memories of some days. */
async function filled(
  folder: string,
  { days, count }: { readonly days: number; readonly count: number },
): Promise<string> {
  const pack = join(folder, `${count}-memories-of-${days}-days.pack`);
  if (existsSync(pack)) return pack;
  const store = await openStore(pack);
  await fillDays(store, { userId: OWNER, from: 0, to: count, of: count, days });
  await store.close();
  return pack;
}

/** A copy of a pack, and how it is opened and added to. */
function copied(pack: string, folder: string) {
  const place = join(mkdtempSync(join(folder, "copy-")), "copy.pack");
  copyFileSync(pack, place);
  return {
    open: () =>
      MemoryEngine.create({
        pack_path: place,
        organizer: { opportunistic_enabled: false, fading: "original" },
      }),
    add: async (span: Span): Promise<void> => {
      const store = await openStore(place);
      await fillDays(store, span);
      await store.close();
    },
  };
}

/** The first run over a year, a second one, and one after new memories. */
async function measureYear(folder: string, kept: string, count: number): Promise<Figure[]> {
  const { open, add } = copied(await filled(kept, { days: 365, count }), folder);
  let engine = await open();
  const figures = [
    await measured("a year: a budget of 1,000 ms", engine, 1000),
    await measured("a year: the rest of the first run", engine, LONG_MS),
    await measured("a year: a second run", engine, LONG_MS),
  ];
  await engine.close();
  await add({ userId: OWNER, from: count, to: count + 100, of: count, days: 365 });
  engine = await open();
  figures.push(await measured("a year: after 100 new memories", engine, LONG_MS));
  await engine.close();
  return figures;
}

/** A run after new memories, as long as nothing has faded, and one more. */
async function measureRecent(folder: string, kept: string, count: number): Promise<Figure[]> {
  const { open, add } = copied(await filled(kept, { days: RECENT_DAYS, count }), folder);
  let engine = await open();
  await measured("60 days: a first run", engine, LONG_MS);
  await engine.close();
  await add({ userId: OWNER, from: count, to: count + 100, of: count, days: RECENT_DAYS });
  engine = await open();
  const figures = [
    await measured("all active: after 100 new memories, just opened", engine, LONG_MS),
    await measured("all active: again", engine, LONG_MS),
  ];
  await engine.close();
  return figures;
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
  const kept = values.keep ?? folder;
  mkdirSync(kept, { recursive: true });
  try {
    const section = {
      title: "Organizer",
      command: `bun scripts/bench/organizer.ts --memories ${count}`,
      notes: [
        "One owner, unencrypted, whose memories were never organized before. Of those of a year most become stable in the first run, and most of the old ones are archived; of those of 60 days all stay active. Summaries and groups are skipped, since no language model takes part. Memory: the most that the process grew by, without pages of files that are mapped into it. Of a busy machine compare the processor time.",
      ],
      figures: [
        ...(await measureYear(folder, kept, count)),
        ...(await measureRecent(folder, kept, count)),
      ],
    };
    console.log(toMarkdown(section));
    if (values.write) writePage(join(import.meta.dir, "../../docs/performance.md"), [section]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
