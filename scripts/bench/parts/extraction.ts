import { join } from "node:path";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import { createCl100kTokenizer } from "../../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { readBatchAnswer } from "../../../src/domain/extraction/read-answer.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { createGate } from "../../../src/engine/concurrency.ts";
import { flush } from "../../../src/engine/extract/extractions.ts";
import type { ExtractDeps } from "../../../src/engine/extract/extractor.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Embedder } from "../../../src/ports/models.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { createVectors, fill, openStore, turn } from "../fill.ts";
import { openRawInserts, openRawModel, type RawInserts } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { digits, median, sum } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const OWNER = "bench";
const VECTORS = 1000;
const PEOPLE = 400;
const WARM_UP = 100;
/** In which pipeline and probe are measured in turns. */
const ROUNDS = 4;

/** What extraction costs a turn besides model and embedding: both answer at once here. */
export async function measureExtraction(context: PartContext): Promise<Section> {
  const figures: Figure[] = [];
  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const vectors = Array.from({ length: VECTORS }, (_, serial) => vectorOf(serial));
  for (const size of context.sizes) {
    const pack = join(context.folder, `extraction-${size}.pack`);
    const store = await openStore(pack);
    await fill(store, OWNER, { from: 0, to: size }, vectorOf);
    const { dimension } = (await store.manifest()).embedding;
    const probe = openRawInserts(pack, context.folder, dimension);
    const turns = Math.ceil(repetitions(context, 2000, 200) / ROUNDS);
    figures.push(...(await measureAt(await depsFor(store, vectors), probe, size, turns)));
    probe.close();
    await store.close();
    context.say(`extraction: ${size} measured`);
  }
  return {
    title: "Extraction",
    command: `bun scripts/bench/bench.ts extraction --sizes ${context.sizes.join(",")}`,
    notes: [
      "Processor time of the whole process for each turn of about 40 tokens with two facts: reading and checking the answer, finding entities and claims, plan, publication. The model and the embedder are replaced by ones that answer at once.",
      "The probe inserts as many rows of the same bytes (memories, edges, audit records, vectors) into a table of a plain SQLite file without indexes, one durable transaction a turn. Ratio: median over the rounds.",
    ],
    figures,
  };
}

async function measureAt(
  deps: Awaited<ReturnType<typeof depsFor>>,
  probe: RawInserts,
  size: number,
  turns: number,
): Promise<readonly Figure[]> {
  await extract(deps, size, WARM_UP);
  const requests = deps.requests();
  const times: number[] = [];
  const probes: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    probe.skip();
    const before = process.cpuUsage();
    await extract(deps, size + WARM_UP + round * turns, turns);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000 / turns);
    probes.push(probe.insert(turns) / turns);
  }
  const { pending, failed } = await deps.store.countExtractions(OWNER);
  if (pending + failed > 0) throw new Error(`${pending} turns are left, ${failed} failed`);
  const label = `${size.toLocaleString("en-US")} memories`;
  const ratio = median(times.map((time, round) => time / (probes[round] ?? 0)));
  return [
    {
      what: `${label}: processor time a turn`,
      figure: `${digits(sum(times) / ROUNDS)} ms`,
      ratio: `${digits(ratio)} x raw inserts (${digits(sum(probes) / ROUNDS)} ms)`,
    },
    {
      what: `${label}: requests for 100 turns of one session`,
      figure: digits(((deps.requests() - requests) / turns / ROUNDS) * 100),
      ratio: "-",
    },
  ];
}

/** Admits and extracts turns. */
async function extract(deps: ExtractDeps, from: number, turns: number): Promise<void> {
  const { store } = deps;
  const events = Array.from({ length: turns }, (_, index) => statement(from + index));
  await (store as Store).admit({ events, auditRecords: [], leaseJobs: false, extracts: true });
  const { signal } = new AbortController();
  const done = await flush(deps, { userId: OWNER, upTo: undefined, isDueOnly: true, signal });
  const [bad] = [...done.values()].filter(({ kind }) => kind !== "complete");
  if (bad !== undefined) throw new Error(`a turn ended as ${JSON.stringify(bad)}`);
}

const nameOf = (serial: number): string => `Person ${"ABCDEFGHIJ"[serial % 10]}${serial % PEOPLE}`;
const placeOf = (serial: number): string => `Town ${serial % 97}`;
const firmOf = (serial: number): string => `Firm ${serial % 61}`;

/** A turn that states two facts. */
function statement(serial: number): MemoryEvent {
  const content = `${nameOf(serial)} lives in ${placeOf(serial)}. ${nameOf(serial)} works at ${firmOf(serial)}. Otherwise it was a quiet week, and nothing else happened that anybody would want to write down.`;
  const contentHash = sha256Hex(content);
  return { ...turn(OWNER, serial), sessionId: "extraction", content, contentHash };
}

/** What a model would answer about a text of `statement`. */
function answerOf(content: string, index: number) {
  const [home = "", work = ""] = content.split(". ");
  const [name = "", place = ""] = home.split(" lives in ");
  const firm = work.split(" works at ")[1] ?? "";
  const fact = (predicate: string, object: string, quote: string) => ({
    ...{ subject: name, predicate, object, evidence_quote: quote, polarity: "positive" },
    ...{ confidence: 0.9, fact_type: "fact", epistemic_type: "asserted" },
  });
  return {
    turn: index + 1,
    entities: [
      { name, entity_type: "person" },
      { name: place, entity_type: "location" },
      { name: firm, entity_type: "organization" },
    ],
    facts: [fact("lives_in", place, `${home}.`), fact("works_at", firm, `${work}.`)],
    relationships: [],
  };
}

async function depsFor(
  store: Store,
  vectors: readonly Float32Array[],
): Promise<ExtractDeps & { readonly requests: () => number }> {
  const settings = toEngineSettings(loadConfig({ environment: {} }).config);
  let requests = 0;
  let embedded = 0;
  const { embedding } = await store.manifest();
  const embedder: Pick<Embedder, "identity" | "embedDocument"> = {
    identity: embedding,
    embedDocument: async () => vectors[embedded++ % VECTORS] ?? new Float32Array(0),
  };
  const unused = async (): Promise<never> => {
    throw new Error("this measures requests of several turns");
  };
  return {
    store,
    clock: createSystemClock(),
    tokenizer: createCl100kTokenizer(),
    dates: createChronoDateReader({ languages: ["en"], warn: (message) => console.error(message) }),
    // SAFETY: extraction embeds documents only.
    embedder: embedder as Embedder,
    warn: (message) => console.error(message),
    settings: { ...settings.extraction, confidenceOverrides: settings.confidenceOverrides },
    gate: createGate(1),
    requests: () => requests,
    extractor: {
      ...{ provider: "none", model: "none", promptVersion: "none", isTrusted: false, one: unused },
      several: async (turns) => {
        requests += 1;
        const answer = { turns: turns.map(({ content }, index) => answerOf(content, index)) };
        const read = readBatchAnswer(JSON.stringify(answer), turns.length);
        if (read === undefined) throw new Error("the answer was not read");
        return read;
      },
    },
  };
}
