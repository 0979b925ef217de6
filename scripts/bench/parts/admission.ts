import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createClient, unwrap } from "../http-client.ts";
import { probeSync } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, sentences } from "../sentences.ts";
import { startServer } from "../server.ts";
import { digits, median, quantile } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const BATCH = 100;
const ROUND_MS = 700;

/** Admits some texts durably. */
type Admit = (contents: readonly string[]) => Promise<unknown>;
type Round = { readonly itemsPerSecond: number; readonly callMs: readonly number[] };

/** How fast texts are admitted durably, without being embedded, and what a group of callers gains over one. */
export async function measureAdmission(context: PartContext): Promise<Section> {
  const figures = [...(await throughServer(context)), ...(await throughEngine(context))];
  return {
    title: "Admission",
    command: "bun scripts/bench/bench.ts admission",
    notes: [
      "Durable, not yet indexed. The probe of a time is one write of 4 KiB with `fdatasync` on the same disk; the probe of 8 clients is 1 client. Clients over HTTP run in one process on the same cores as the server.",
    ],
    figures,
  };
}

async function throughServer(context: PartContext): Promise<Figure[]> {
  const pack = join(context.folder, "admission-http.pack");
  const server = await startServer({ pack, logLevel: "info" });
  try {
    const client = createClient(server.url, "bench");
    return await measure(context, "HTTP", async (contents) =>
      unwrap(await client.ingest(contents)),
    );
  } finally {
    await server.end("SIGTERM");
  }
}

async function throughEngine(context: PartContext): Promise<Figure[]> {
  const explicit = { pack_path: join(context.folder, "admission-engine.pack") };
  const engine = await openEngine(loadConfig({ explicit, environment: {} }).config);
  try {
    return await measure(context, "engine", (contents) =>
      engine.ingestFastMany({
        items: contents.map((content) => ({ content })),
        userId: "bench",
      }),
    );
  } finally {
    await engine.close();
  }
}

async function measure(context: PartContext, way: string, admit: Admit): Promise<Figure[]> {
  const random = createRandom(2);
  // Made beforehand, so that making texts is not measured.
  const texts = sentences(random, 0, 20_000);
  const run = (size: number, clients: number) => admitFor(admit, texts, size, clients);
  await run(1, 8);
  const syncs: number[] = [];
  const rounds = { one: [] as Round[], eight: [] as Round[], batch: [] as Round[] };
  for (let turn = 0; turn < repetitions(context, 6); turn += 1) {
    syncs.push(...probeSync(context.folder, 200));
    rounds.one.push(await run(1, 1));
    rounds.eight.push(await run(1, 8));
    rounds.batch.push(await run(BATCH, 1));
    context.say(`admission (${way}): turn ${turn + 1}`);
  }
  const sync = median(syncs);
  const rate = (measured: readonly Round[]) =>
    median(measured.map(({ itemsPerSecond }) => itemsPerSecond));
  const calls = (measured: readonly Round[]) => measured.flatMap(({ callMs }) => callMs);
  const gains = rounds.eight.map(
    ({ itemsPerSecond }, turn) => itemsPerSecond / (rounds.one[turn]?.itemsPerSecond ?? 0),
  );
  return [
    {
      what: `${way}: batches of ${BATCH}, 1 client`,
      figure: `${digits(rate(rounds.batch))} items/s, p50 ${digits(median(calls(rounds.batch)))} ms, p95 ${digits(quantile(calls(rounds.batch), 0.95))} ms a batch`,
      ratio: `${digits(median(calls(rounds.batch)) / sync)} x one sync (${digits(sync)} ms) a batch`,
    },
    {
      what: `${way}: single items, 1 client`,
      figure: `${digits(rate(rounds.one))} items/s, p50 ${digits(median(calls(rounds.one)))} ms`,
      ratio: `${digits(median(calls(rounds.one)) / sync)} x one sync`,
    },
    {
      what: `${way}: single items, 8 clients`,
      figure: `${digits(rate(rounds.eight))} items/s`,
      ratio: `${digits(median(gains))} x 1 client`,
    },
  ];
}

/** Calls `admit` from several callers at once for a while. */
async function admitFor(
  admit: Admit,
  texts: readonly string[],
  size: number,
  clients: number,
): Promise<Round> {
  const callMs: number[] = [];
  const start = performance.now();
  const work = async (client: number): Promise<void> => {
    for (let at = client * size; performance.now() - start < ROUND_MS; at += clients * size) {
      const from = at % (texts.length - size);
      const began = performance.now();
      await admit(texts.slice(from, from + size));
      callMs.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  const seconds = (performance.now() - start) / 1000;
  return { itemsPerSecond: (callMs.length * size) / seconds, callMs };
}
