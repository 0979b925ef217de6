import { join } from "node:path";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { createLocalEmbedder } from "../../../src/adapters/embedding/local-embedder.ts";
import { openPostgresStore } from "../../../src/adapters/postgres/open-store.ts";
import { pastIndexes } from "../../../src/adapters/sqlite/past-index.ts";
import { createIdSource, createSystemClock } from "../../../src/adapters/system/system.ts";
import { createCl100kTokenizer } from "../../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { everythingOf } from "../../../src/domain/candidate-filter.ts";
import type { EngineDeps } from "../../../src/engine/deps.ts";
import { retrieve } from "../../../src/engine/retrieve/pipeline.ts";
import type { Embedder } from "../../../src/ports/models.ts";
import type { NodeKey } from "../../../src/ports/store/search-index.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { startPostgres } from "../../check/postgres.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, question } from "../sentences.ts";
import { digits, median, quantile, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const ROOT = join(import.meta.dir, "../../..");
const CANDIDATES = 50;
const OWNERS = 1_000;
const PER_OWNER = 100;
const WARM_UP = 5;

/** How many owners, with how many memories each. */
type Shape = { readonly owners: number; readonly each: number };

/** The two stores that hold the same memories. */
type Pair = { readonly pack: Store; readonly database: Store };
type Side = keyof Pair;

/** Milliseconds on each side. */
type Times = Readonly<Record<Side, number[]>>;
const WHATS = ["nearest vectors", "best texts", "cosines of those", "whole retrieval"] as const;
type Measured = Readonly<Record<(typeof WHATS)[number], Times>>;

/** Searches and retrieval on one PostgreSQL server of this machine, in turns with a pack that holds the same memories. */
export async function measureDatabases(context: PartContext): Promise<Section> {
  const server = await serverOf();
  const figures: Figure[] = [];
  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const embedder = createLocalEmbedder();
  try {
    const shapes = [
      ...context.sizes.map((each) => ({ owners: 1, each })),
      { owners: OWNERS, each: PER_OWNER },
    ];
    for (const shape of shapes) {
      figures.push(...(await measureAt(context, shape, { server, embedder, vectorOf })));
    }
  } finally {
    await embedder.close();
    await server.stop();
  }
  return {
    title: "Databases",
    command: `bun scripts/bench/bench.ts databases --sizes ${context.sizes.join(",")}`,
    notes: [
      "One PostgreSQL with pgvector on the same machine, over the loopback, and a pack with the same memories: each question goes to both in turns. The question is embedded before. Ratios are to the pack.",
    ],
    figures,
  };
}

type Server = { readonly url: string; readonly stop: () => Promise<void> };

async function serverOf(): Promise<Server> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} };
  // Its user may not read the folder of the measurement.
  const server = await startPostgres(ROOT);
  if (typeof server === "string") throw new Error(`there is no server: ${server}`);
  return server;
}

type Setting = {
  readonly server: Server;
  readonly embedder: Embedder;
  readonly vectorOf: (serial: number) => Float32Array;
};

async function measureAt(
  context: PartContext,
  shape: Shape,
  { server, embedder, vectorOf }: Setting,
): Promise<readonly Figure[]> {
  const pair = await openPair(context, shape, server, embedder);
  const name = labelOf(shape);
  try {
    const filled: Figure[] = [];
    for (const side of ["pack", "database"] as const) {
      const ms = await timed(async () => {
        for (let owner = 0; owner < shape.owners; owner += 1) {
          const range = { from: owner * shape.each, to: (owner + 1) * shape.each };
          await fill(pair[side], nameOf(owner), range, vectorOf);
        }
      });
      const rows = (shape.owners * shape.each * 1000) / ms;
      context.say(`databases: ${name} in the ${side} (${digits(rows)} rows/s)`);
      filled.push({
        what: `${name}: filling the ${side}`,
        figure: `${digits(rows)} rows/s`,
        ratio: "-",
      });
    }
    const measured = await measurePair(context, shape, pair, embedder);
    const figures = [...filled, ...WHATS.flatMap((what) => describe(name, what, measured[what]))];
    for (const { what, figure, ratio } of figures) context.say(`${what}: ${figure} (${ratio})`);
    return figures;
  } finally {
    await pair.pack.close();
    await pair.database.close();
  }
}

async function openPair(
  { folder }: PartContext,
  { owners, each }: Shape,
  server: Server,
  embedder: Embedder,
): Promise<Pair> {
  const { config } = loadConfig({ environment: {} });
  const name = `svc_bench_${process.pid}_${owners}_${each}`;
  const sql = new Bun.SQL({ url: server.url, max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.close();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const database = await openPostgresStore({
    url: url.href,
    poolSize: 10,
    prepare: config.database_prepare,
    statementTimeoutMs: 60_000,
    createIfMissing: true,
    embedding: embedder.identity,
    softwareVersion: "bench",
    scoringVersion: toEngineSettings(config).scoringVersion,
    clock: createSystemClock(),
  });
  // SAFETY: the key of a node is a number that nobody else makes or does anything with.
  const store = database as unknown as Store;
  return { pack: await openStore(join(folder, `${name}.pack`)), database: store };
}

async function measurePair(
  context: PartContext,
  shape: Shape,
  pair: Pair,
  embedder: Embedder,
): Promise<Measured> {
  const { config } = loadConfig({ environment: {} });
  const settings = toEngineSettings(config);
  const shared: Omit<EngineDeps, "store"> = {
    // SAFETY: a retrieval locks nothing.
    packLock: undefined as unknown as EngineDeps["packLock"],
    pastIndex: pastIndexes(createSystemClock()),
    embedder,
    tokenizer: createCl100kTokenizer(),
    dates: createChronoDateReader({ languages: ["en"], warn: () => {} }),
    clock: createSystemClock(),
    ids: createIdSource(),
    settings,
    features: { svc: "bench" },
    warn: () => {},
  };
  const ask = async (side: Side, query: string, userId: string): Promise<void> => {
    const deps: EngineDeps = { ...shared, store: pair[side] };
    const nowhere = {
      comparable: true,
      drain: async () => {},
      keep: async () => false,
      explain: () => {
        throw new Error("nothing is explained here");
      },
    };
    await retrieve(deps, { query, userId }, nowhere);
  };
  const measured: Measured = {
    "nearest vectors": { pack: [], database: [] },
    "best texts": { pack: [], database: [] },
    "cosines of those": { pack: [], database: [] },
    "whole retrieval": { pack: [], database: [] },
  };
  const random = createRandom(4);
  const count = repetitions(context, 60, 6) + WARM_UP;
  for (let index = 0; index < count; index += 1) {
    const query = question(random);
    const vector = await embedder.embedQuery(query);
    const userId = nameOf((index * 7) % shape.owners);
    const sides =
      index % 2 === 0 ? (["pack", "database"] as const) : (["database", "pack"] as const);
    for (const side of sides) {
      // Asked before, so that what is kept in memory is there.
      await ask(side, query, userId);
      const searches = await searchBoth(pair[side], userId, query, vector);
      const whole = await timed(() => ask(side, query, userId));
      if (index < WARM_UP) continue;
      measured["nearest vectors"][side].push(searches.vectors);
      measured["best texts"][side].push(searches.words);
      measured["cosines of those"][side].push(searches.cosines);
      measured["whole retrieval"][side].push(whole);
    }
  }
  return measured;
}

/** The searches as a retrieval makes them: each list is completed with what only the other one found. */
async function searchBoth(
  store: Store,
  userId: string,
  text: string,
  vector: Float32Array,
): Promise<Readonly<Record<"vectors" | "words" | "cosines", number>>> {
  const filter = { ...everythingOf(userId), aliveAt: createSystemClock().now() };
  let keys: readonly NodeKey[] = [];
  const vectors = await timed(async () => {
    keys = (await store.searchVectors(vector, filter, CANDIDATES)).map(({ key }) => key);
  });
  const words = await timed(async () => {
    keys = (await store.searchText(text, filter, CANDIDATES, keys)).map(({ key }) => key);
  });
  return { vectors, words, cosines: await timed(() => store.cosines(vector, userId, keys)) };
}

function nameOf(owner: number): string {
  return `owner-${owner}`;
}

function labelOf({ owners, each }: Shape): string {
  const count = each.toLocaleString("en-US");
  return owners === 1 ? `${count} memories` : `${owners} owners of ${count} memories`;
}

function describe(name: string, what: string, { pack, database }: Times): readonly Figure[] {
  const figureOf = (ms: readonly number[]): string =>
    `p50 ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`;
  const ratio = `${digits(median(database) / median(pack))} x the pack`;
  return [
    { what: `${name}: ${what}, pack`, figure: figureOf(pack), ratio: "1" },
    { what: `${name}: ${what}, database`, figure: figureOf(database), ratio },
  ];
}
