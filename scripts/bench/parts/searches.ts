import { join } from "node:path";
import type { Inference } from "../../../src/adapters/embedding/inference.ts";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { everythingOf } from "../../../src/domain/candidate-filter.ts";
import type { NodeKey } from "../../../src/ports/store/search-index.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { openRawModel, openRawSearch } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, question } from "../sentences.ts";
import { digits, median, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const QUERY_PREFIX = "Represent this sentence for searching relevant passages: ";
const CANDIDATES = 50;
const OWNERS = 1_000;
const PER_OWNER = 100;
const WARM_UP = 3;

export type Question = { readonly text: string; readonly vector: Float32Array };

/** A pack: how many owners it has, with how many memories each. */
type Shape = { readonly owners: number; readonly each: number };

/** Milliseconds by what took them. */
type Times = Readonly<
  Record<"vec0" | "fts5" | "vectors" | "words" | "cosines" | "engine", number[]>
>;

/** The two searches of a retrieval by themselves, and the whole retrieval, against plain sqlite-vec in the same run. */
export async function measureSearches(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const figures: Figure[] = [];
  try {
    const vectorOf = await createVectors(model);
    const questions = await makeQuestions(model, repetitions(context, 60, 6) + WARM_UP);
    const shapes = [
      ...context.sizes.map((each) => ({ owners: 1, each })),
      { owners: OWNERS, each: PER_OWNER },
    ];
    for (const shape of shapes) {
      const pack = join(context.folder, `searches-${shape.owners}-${shape.each}.pack`);
      const store = await openStore(pack);
      const ms = await timed(async () => {
        for (let owner = 0; owner < shape.owners; owner += 1) {
          const range = { from: owner * shape.each, to: (owner + 1) * shape.each };
          await fill(store, nameOf(owner), range, vectorOf);
        }
      });
      await store.close();
      const rows = (shape.owners * shape.each * 1000) / ms;
      context.say(`searches: ${labelOf(shape)} filled (${digits(rows)} rows/s)`);
      figures.push(...describe(shape, await measureAt(pack, shape, questions)));
    }
  } finally {
    await model.close();
  }
  return {
    title: "Searches",
    command: `bun scripts/bench/bench.ts searches --sizes ${context.sizes.join(",")}`,
    notes: [
      `k = ${CANDIDATES}. The probe is one plain sqlite-vec query over the whole file for the same vector, through a connection of its own; all take turns with it. Each owner has asked twice before, so that the vectors are in memory. The engine's time is of the whole retrieval, its question embedded before.`,
    ],
    figures,
  };
}

export async function makeQuestions(model: Inference, count: number): Promise<Question[]> {
  const random = createRandom(4);
  const questions: Question[] = [];
  for (let index = 0; index < count; index += 1) {
    const text = question(random);
    questions.push({ text, vector: await model.embed(QUERY_PREFIX + text) });
  }
  return questions;
}

async function measureAt(
  pack: string,
  shape: Shape,
  questions: readonly Question[],
): Promise<Times> {
  const times: Times = { vec0: [], fts5: [], vectors: [], words: [], cosines: [], engine: [] };
  const { config } = loadConfig({ explicit: { pack_path: pack }, environment: {} });
  const engine = await openEngine(config);
  const store = await openStore(pack);
  const raw = openRawSearch(pack);
  try {
    for (const [index, asked] of questions.entries()) {
      const userId = nameOf((index * 7) % shape.owners);
      for (let count = 0; count < 2; count += 1) {
        await engine.retrieve({ query: asked.text, userId });
        await searchBoth(store, userId, asked);
      }
      const measured = {
        vec0: raw.vector(asked.vector),
        fts5: raw.text(asked.text),
        ...(await searchBoth(store, userId, asked)),
        engine: await timed(() => engine.retrieve({ query: asked.text, userId })),
      };
      if (index < WARM_UP) continue;
      times.vec0.push(measured.vec0);
      times.fts5.push(measured.fts5);
      times.vectors.push(measured.vectors);
      times.words.push(measured.words);
      times.cosines.push(measured.cosines);
      times.engine.push(measured.engine);
    }
    return times;
  } finally {
    raw.close();
    await store.close();
    await engine.close();
  }
}

/** The searches as a retrieval makes them: each list is completed with what only the other one found. */
async function searchBoth(
  store: Store,
  userId: string,
  { text, vector }: Question,
): Promise<Pick<Record<keyof Times, number>, "vectors" | "words" | "cosines">> {
  const filter = everythingOf(userId);
  let keys: readonly NodeKey[] = [];
  const vectors = await timed(async () => {
    keys = (await store.searchVectors(vector, filter, CANDIDATES)).map(({ key }) => key);
  });
  const words = await timed(async () => {
    keys = (await store.searchText(text, filter, CANDIDATES, keys)).map(({ key }) => key);
  });
  const cosines = await timed(() => store.cosines(vector, userId, keys));
  return { vectors, words, cosines };
}

function nameOf(owner: number): string {
  return `owner-${owner}`;
}

function labelOf({ owners, each }: Shape): string {
  const count = each.toLocaleString("en-US");
  return owners === 1 ? `${count} memories` : `${owners} owners of ${count} memories`;
}

function describe(shape: Shape, times: Times): Figure[] {
  const probe = median(times.vec0);
  const line = (what: string, ms: readonly number[]): Figure => ({
    what: `${labelOf(shape)}: ${what}`,
    figure: `p50 ${digits(median(ms))} ms`,
    ratio: `${digits(median(ms) / probe)} x sqlite-vec`,
  });
  return [
    { ...line("plain sqlite-vec", times.vec0), ratio: "1" },
    line("plain FTS5", times.fts5),
    line("nearest vectors", times.vectors),
    line("best texts", times.words),
    line("cosines of those", times.cosines),
    line("whole retrieval", times.engine),
  ];
}
