import { statSync } from "node:fs";
import { join } from "node:path";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { createLocalEmbedder } from "../../../src/adapters/embedding/local-embedder.ts";
import { pastIndexes } from "../../../src/adapters/sqlite/past-index.ts";
import { createIdSource, createSystemClock } from "../../../src/adapters/system/system.ts";
import { createCl100kTokenizer } from "../../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { EngineDeps } from "../../../src/engine/deps.ts";
import type { ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import { createReceiptKeeper } from "../../../src/engine/receipts/keep.ts";
import { retrieve } from "../../../src/engine/retrieve/pipeline.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, question } from "../sentences.ts";
import { digits, median, quantile, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const OWNER = "bench";
const WARM_UP = 20;

/** What packing and the receipt take of a retrieval, and what a receipt adds to the pack. */
export async function measureReceipts(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const figures: Figure[] = [];
  for (const size of context.sizes) {
    const pack = join(context.folder, `receipts-${size}.pack`);
    const store = await openStore(pack);
    await fill(store, OWNER, { from: 0, to: size }, vectorOf);
    await store.close();
    context.say(`receipts: ${size} memories filled`);
    const count = repetitions(context, 100, 10);
    figures.push(...(await measureTimes(pack, size, count)), await measureBytes(pack, size, count));
  }
  return {
    title: "Packing and receipts",
    command: `bun scripts/bench/bench.ts receipts --sizes ${context.sizes.join(",")}`,
    notes: [
      "Each question is asked twice and the second retrieval is timed, so that its vector comes from the cache. A receipt is built, encoded and on disk before the answer: the same question is asked with and without, in turns. Bytes: growth of the file over the retrievals, divided by their number.",
    ],
    figures,
  };
}

async function measureTimes(pack: string, size: number, count: number): Promise<Figure[]> {
  const { config } = loadConfig({ environment: {} });
  const embedder = createLocalEmbedder();
  const store = await openStore(pack);
  const deps: EngineDeps = {
    store,
    packLock: store,
    pastIndex: pastIndexes(createSystemClock()),
    embedder,
    tokenizer: createCl100kTokenizer(),
    dates: createChronoDateReader({ languages: ["en"], warn: () => {} }),
    clock: createSystemClock(),
    ids: createIdSource(),
    settings: toEngineSettings(config),
    features: { svc: "bench" },
    warn: () => {},
  };
  const kept: ReceiptMaterial[] = [];
  const nowhere = createReceiptKeeper({
    ...deps,
    store: {
      saveReceipt: async () => true,
      noteContexts: async () => {},
      receipt: async () => undefined,
      owners: { names: async () => [] },
    },
  });
  const onDisk = createReceiptKeeper(deps);
  const context = {
    comparable: true,
    drain: async () => {},
    explain: () => {
      throw new Error("nothing is explained here");
    },
  };
  // As the engine asks: one question at a time.
  const ask = (query: string, keep: (material: ReceiptMaterial) => Promise<boolean>) =>
    onDisk.answering(() => retrieve(deps, { query, userId: OWNER }, { ...context, keep }));
  const without = async (material: ReceiptMaterial) => kept.push(material) > 0;
  const times: Times = { retrieve: [], pack: [], receipt: [], durable: [] };
  const random = createRandom(9);
  for (let index = 0; index < WARM_UP + count; index += 1) {
    const query = question(random);
    const { stages } = (await ask(query, without)).metadata;
    // The two are compared, so that neither is always the first.
    const timeBare = () => timed(() => ask(query, without));
    const timeDurable = () => timed(() => ask(query, onDisk.keep));
    const durableFirst = index % 2 === 0 ? await timeDurable() : undefined;
    const ms = await timeBare();
    const durable = durableFirst ?? (await timeDurable());
    const material = kept.pop();
    const receipt = await timed(async () => {
      if (material !== undefined) await nowhere.keep(material);
    });
    if (index < WARM_UP) continue;
    times.retrieve.push(ms);
    times.durable.push(durable);
    times.pack.push(stages.find(({ stage }) => stage === "pack")?.timingMs ?? 0);
    times.receipt.push(receipt);
  }
  await Promise.all([nowhere.close(), onDisk.close()]);
  await deps.store.close();
  await embedder.close();
  const whole = median(times.retrieve);
  const line = (what: string, ms: readonly number[]): Figure => ({
    what: `${size.toLocaleString("en-US")} memories: ${what}`,
    figure: `p50 ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`,
    ratio: `${digits(median(ms) / whole)} of the retrieval`,
  });
  return [
    { ...line("retrieval without a receipt", times.retrieve), ratio: "1" },
    line("retrieval with its receipt on disk before it ends", times.durable),
    line("packing and rendering in it", times.pack),
    line("making the receipt, without writing it", times.receipt),
  ];
}

type Times = Record<"retrieve" | "pack" | "receipt" | "durable", number[]>;

async function measureBytes(pack: string, size: number, count: number): Promise<Figure> {
  const { config } = loadConfig({ explicit: { pack_path: pack }, environment: {} });
  const random = createRandom(10);
  const bytesBefore = statSync(pack).size;
  const engine = await openEngine(config);
  for (let index = 0; index < count; index += 1) {
    await engine.retrieve({ query: question(random), userId: OWNER });
  }
  await engine.close();
  const each = (statSync(pack).size - bytesBefore) / count;
  return {
    what: `${size.toLocaleString("en-US")} memories: bytes that a receipt adds to the pack`,
    figure: `${digits(each)} bytes, mean of ${count}`,
    ratio: "",
  };
}
