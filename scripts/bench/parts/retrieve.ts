import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { type Client, createClient, type RetrieveAnswer, unwrap } from "../http-client.ts";
import { openRawModel, openRawSearch, type RawSearch } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { startServer } from "../server.ts";
import { digits, median, quantile, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";
import { makeQuestions, type Question } from "./searches.ts";

const OWNER = "bench";
const WARM_UP = 5;

type Times = {
  readonly engine: number[];
  readonly http: number[];
  /** Of each HTTP call, what is not the time that its own answer tells of the engine. */
  readonly beyond: number[];
  /** Of each call of the engine, what is not the time that its own answer tells. */
  readonly untold: number[];
  /** The same question and answer with a server that only gives it back. */
  readonly bare: number[];
  readonly vector: number[];
  readonly text: number[];
  readonly stages: Map<string, number[]>;
};

/** How long a question takes at several numbers of memories of one owner, without the embedding of the question. */
export async function measureRetrieve(context: PartContext): Promise<Section> {
  const pack = join(context.folder, "retrieve.pack");
  const model = await openRawModel();
  const figures: Figure[] = [];
  try {
    const vectorOf = await createVectors(model);
    const questions = await makeQuestions(model, repetitions(context, 100, 10));
    let filled = 0;
    for (const size of context.sizes) {
      const store = await openStore(pack);
      const ms = await timed(() => fill(store, OWNER, { from: filled, to: size }, vectorOf));
      await store.close();
      context.say(`retrieve: filled to ${size} (${digits(((size - filled) * 1000) / ms)} rows/s)`);
      filled = size;
      figures.push(...describe(size, await measureAt(pack, questions)));
      context.say(`retrieve: measured at ${size}`);
    }
  } finally {
    await model.close();
  }
  return {
    title: "Retrieve",
    command: `bun scripts/bench/bench.ts retrieve --sizes ${context.sizes.join(",")}`,
    notes: [
      "All memories belong to one owner, in conversations of 25 turns. Each question is asked twice and the second answer is timed, so that its vector comes from the cache; engine and HTTP times are of the whole call, packing of 4,096 tokens included. What HTTP takes beyond the engine is the whole call, its answer read and parsed, less the `metrics.timing_ms` of the same answer. Part of it is the engine: its clock starts after the pack was read for the first time since the last receipt. A bare server gives the same answer back to the same question: what that takes is the client's and the system's share. The probe is one plain sqlite-vec query (k = 50) on the same vectors in a file of its own, with its default layout, plus one plain FTS5 query (best 50, same words) on the pack, asked in turns with ours. The vectors of the memories scatter around those of 200 real sentences; the vectors of the questions are real.",
    ],
    figures,
  };
}

async function measureAt(pack: string, questions: readonly Question[]): Promise<Times> {
  const times: Times = {
    engine: [],
    http: [],
    beyond: [],
    untold: [],
    bare: [],
    vector: [],
    text: [],
    stages: new Map(),
  };
  const { config } = loadConfig({ explicit: { pack_path: pack }, environment: {} });
  const server = await startServer({ pack });
  const bare = await startServer({
    pack,
    logFile: `${pack}.bare.log`,
    command: [process.execPath, join(import.meta.dir, "../bare-server.ts")],
    args: [],
  });
  const engine = await openEngine(config);
  const raw = openRawSearch(pack);
  try {
    const client = createClient(server.url, OWNER);
    const echo = { url: bare.url, client: createClient(bare.url, OWNER) };
    for (const [index, asked] of questions.entries()) {
      // The first ones load model, tokenizer and page cache.
      const isCounted = index >= Math.min(WARM_UP, questions.length / 2);
      await ask(asked, { engine, client, echo, raw }, isCounted ? times : undefined);
    }
    return times;
  } finally {
    raw.close();
    await engine.close();
    await bare.end("SIGTERM");
    await server.end("SIGTERM");
  }
}

type Asked = {
  readonly engine: MemoryEngine;
  readonly client: Client;
  readonly echo: { readonly url: string; readonly client: Client };
  readonly raw: RawSearch;
};

async function ask(
  { text, vector }: Question,
  { engine, client, echo, raw }: Asked,
  times: Times | undefined,
): Promise<void> {
  await engine.retrieve({ query: text, userId: OWNER });
  await client.retrieve(text);
  const vectorMs = raw.vector(vector);
  const textMs = raw.text(text);
  let toldByEngine = 0;
  const engineMs = await timed(async () => {
    const { metadata } = await engine.retrieve({ query: text, userId: OWNER });
    toldByEngine = metadata.timingMs;
    for (const { stage, timingMs } of metadata.stages) {
      if (times === undefined) continue;
      times.stages.set(stage, [...(times.stages.get(stage) ?? []), timingMs]);
    }
  });
  let answer: RetrieveAnswer | undefined;
  const httpMs = await timed(async () => {
    answer = unwrap(await client.retrieve(text));
  });
  const told = answer?.metrics.timing_ms ?? Number.NaN;
  await fetch(echo.url, { method: "PUT", body: JSON.stringify(answer) });
  const bareMs = await timed(async () => unwrap(await echo.client.retrieve(text)));
  if (times === undefined) return;
  times.vector.push(vectorMs);
  times.text.push(textMs);
  times.engine.push(engineMs);
  times.http.push(httpMs);
  times.beyond.push(httpMs - told);
  times.untold.push(engineMs - toldByEngine);
  times.bare.push(bareMs);
}

function describe(size: number, times: Times): Figure[] {
  const { vector, text } = times;
  const probes = vector.map((ms, index) => ms + (text[index] ?? 0));
  const least = (ms: readonly number[]) => `${digits(Math.min(...ms))} ms`;
  const count = size.toLocaleString("en-US");
  const spread = (ms: readonly number[]) =>
    `p50 ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`;
  const against = (ms: readonly number[]) =>
    `p50 ${digits(median(ms) / median(probes))} x, p95 ${digits(quantile(ms, 0.95) / quantile(probes, 0.95))} x`;
  const stages = [...times.stages].map(([stage, ms]) => `${stage} ${digits(median(ms))}`);
  return [
    {
      what: `${count} memories: engine`,
      figure: spread(times.engine),
      ratio: `${against(times.engine)} (probe: ${spread(probes)})`,
    },
    { what: `${count} memories: HTTP`, figure: spread(times.http), ratio: against(times.http) },
    {
      what: `${count} memories: HTTP beyond the engine`,
      figure: spread(times.beyond),
      ratio: `least ${least(times.beyond)} (the engine beyond its own clock: p50 ${digits(median(times.untold))} ms, least ${least(times.untold)}; the same answer from a bare server: p50 ${digits(median(times.bare))} ms, least ${least(times.bare)})`,
    },
    {
      what: `${count} memories: stages, p50 ms`,
      figure: stages.join(", "),
      ratio: `sqlite-vec ${digits(median(vector))} ms, FTS5 ${digits(median(text))} ms`,
    },
  ];
}
