import { readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Client, createClient, unwrap } from "../http-client.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, sentences } from "../sentences.ts";
import { type ServerProcess, startServer } from "../server.ts";
import { digits, median, quantile, sum, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const TEXTS = 2000;
const ADMITTED_AT_ONCE = 100;
const STORES = 150;
const PROCESS_MS = 60_000;
/** Memories from which a million is reckoned. */
const TAKEN_IN = 20_000;
const MILLION = 1_000_000;
const KEY = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
/** What a busy core of a laptop draws, about, and the price of a kilowatt-hour in Europe, about. */
const WATTS = 10;
const EUROS = 0.3;
/** Clock ticks a second in `/proc`. */
const TICKS = 100;

/** Texts that nobody waits for: how fast they are embedded, and what they cost a call. */
export async function measureBulk(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const server = await startServer({ pack: join(context.folder, "bulk.pack") });
  const client = createClient(server.url, "bench");
  const random = createRandom(1);
  let serial = 0;
  const next = (count: number): string[] => {
    serial += count;
    return sentences(random, serial - count, count);
  };
  const admitAll = async (texts: readonly string[]): Promise<void> => {
    for (let at = 0; at < texts.length; at += ADMITTED_AT_ONCE) {
      unwrap(await client.ingest(texts.slice(at, at + ADMITTED_AT_ONCE)));
    }
  };
  const raw = { ms: [] as number[], cpu: [] as number[] };
  const bulk = { ms: [] as number[], cpu: [] as number[] };
  const idle: number[] = [];
  const busy: number[] = [];
  const storeAll = async (into: number[], turn: number): Promise<void> => {
    const texts = next(Math.ceil(STORES / repetitions(context, 4)));
    for (const text of texts) into.push(await timed(async () => unwrap(await client.store(text))));
    context.say(`bulk: turn ${turn + 1}, ${into.length} stores`);
  };
  try {
    await admitAll(next(300));
    await settled(client);
    for (const text of next(40)) await model.embed(text);
    for (let turn = 0; turn < repetitions(context, 4); turn += 1) {
      const texts = next(TEXTS);
      const runs = [
        async () => {
          const before = process.cpuUsage();
          raw.ms.push(
            await timed(async () => {
              for (const text of texts) await model.embed(text);
            }),
          );
          const { user, system } = process.cpuUsage(before);
          raw.cpu.push((user + system) / 1000);
        },
        async () => {
          const before = processorMs(server);
          bulk.ms.push(
            await timed(async () => {
              await admitAll(texts);
              await settled(client);
            }),
          );
          bulk.cpu.push(processorMs(server) - before);
        },
      ];
      for (const run of turn % 2 === 0 ? runs : runs.reverse()) await run();
      await storeAll(idle, turn);
      await admitAll(next(TEXTS));
      let isOver = false;
      const backlog = settled(client).finally(() => {
        isOver = true;
      });
      await storeAll(busy, turn);
      if (isOver) throw new Error("the backlog was over before the stores");
      await backlog;
    }
    return {
      title: "Backlog",
      command: "bun scripts/bench/bench.ts bulk",
      notes: [
        `Each turn: ${TEXTS} texts of about 20 words, admitted over HTTP in batches of ${ADMITTED_AT_ONCE}, until both indexes have them. The probe is the model alone on one thread, on the same texts. Ratio: median over the turns. Stores: one client, waiting for both indexes, alone and beside a backlog. ${availableParallelism()} cores.`,
      ],
      figures: [speed(raw, bulk), ...stores(idle, busy), ...(await takeIn(context))],
    };
  } finally {
    await server.end("SIGTERM");
    await model.close();
  }
}

/** A new encrypted pack, and what a million memories take if the rest goes on like this. */
async function takeIn(context: PartContext): Promise<Figure[]> {
  const pack = join(context.folder, "million.pack");
  const environment = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: KEY };
  const server = await startServer({ pack, environment });
  const client = createClient(server.url, "bench");
  const count = Math.ceil((TAKEN_IN * Math.min(1, context.effort)) / (2 * ADMITTED_AT_ONCE));
  const half = count * ADMITTED_AT_ONCE;
  const random = createRandom(2);
  const points: { readonly ms: number; readonly cpu: number }[] = [];
  const start = performance.now();
  for (let batch = 0; batch < 2 * count; batch += 1) {
    const texts = sentences(random, batch * ADMITTED_AT_ONCE, ADMITTED_AT_ONCE);
    unwrap(await client.ingest(texts));
    if (batch !== count - 1 && batch !== 2 * count - 1) continue;
    await settled(client);
    const ms = performance.now() - start;
    points.push({ ms, cpu: processorMs(server) });
    context.say(`bulk: ${(batch + 1) * ADMITTED_AT_ONCE} taken in`);
  }
  // Closing writes the log into the pack.
  await server.end("SIGTERM");
  const { size } = statSync(pack);
  const [before, after] = points;
  if (before === undefined || after === undefined) throw new Error("nothing was taken in");
  const hours = (ms: number) => ((ms / half) * MILLION) / 3_600_000;
  const cpu = hours(after.cpu - before.cpu);
  const cost = (cpu * WATTS * EUROS) / 1000;
  return [
    {
      what: `${digits(2 * half)} memories taken into a new encrypted pack`,
      figure: `${digits(after.ms / 1000)} s, ${digits(after.cpu / 1000)} s of processor time, ${digits(size / 1e6)} MB`,
      ratio: "",
    },
    {
      what: "a million, reckoned from these, times from their second half",
      figure: `${digits(hours(after.ms - before.ms))} hours, ${digits(cpu)} of processor time, ${digits((size / (2 * half)) * (MILLION / 1e9))} GB`,
      ratio: `about ${digits(cost * 100)} cents of electricity (${WATTS} W a core, ${EUROS} EUR a kWh)`,
    },
  ];
}

async function settled(client: Client): Promise<void> {
  while (unwrap(await client.process(PROCESS_MS)).pending > 0);
}

/** Milliseconds of the processor that a process and its threads have used. */
function processorMs({ pid }: ServerProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

type Runs = { readonly ms: readonly number[]; readonly cpu: readonly number[] };

function speed(raw: Runs, bulk: Runs): Figure {
  const perSecond = ({ ms }: Runs) => digits((TEXTS * ms.length * 1000) / sum(ms));
  const cpu = (of: Runs) => digits(sum(of.cpu) / (TEXTS * of.cpu.length));
  const ratio = median(bulk.ms.map((ms, index) => (raw.ms[index] ?? 0) / ms));
  return {
    what: "a backlog, until both indexes have it",
    figure: `${perSecond(bulk)} texts/s, ${cpu(bulk)} ms of processor time each`,
    ratio: `${digits(ratio)} of one bare model thread (${perSecond(raw)} texts/s, ${cpu(raw)} ms)`,
  };
}

function stores(idle: readonly number[], busy: readonly number[]): Figure[] {
  const line = (what: string, ms: readonly number[]): Figure => ({
    what: `store over HTTP, 1 client, ${what}`,
    figure: `p50 ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`,
    ratio: `p50 ${digits(median(ms) / median(idle))} x, p95 ${digits(quantile(ms, 0.95) / quantile(idle, 0.95))} x alone`,
  });
  return [line("alone", idle), line("beside a backlog", busy)];
}
