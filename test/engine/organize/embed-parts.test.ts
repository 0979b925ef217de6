import { expect, test } from "bun:test";
import { partsOf } from "../../../src/domain/search/turns.ts";
import type { Embedder } from "../../../src/ports/models.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { until } from "../../until.ts";
import { type OpenedEngine, testClock, useEngines, wordEmbedder } from "../engines.ts";

const { open, newPack } = useEngines();

const FILLER = "The list was read aloud and nobody objected to it. ";
const LONG = `${FILLER.repeat(180)}A heron sleeps on the roof.`;

/** A model that reads the first 900 characters. @param isTold whether it says so */
function reader(isTold: boolean): Embedder {
  const words = wordEmbedder(isTold ? { maxTokens: 256 } : {});
  return { ...words, embedDocument: (text) => words.embedDocument(text.slice(0, 900)) };
}

async function nearest({ store }: OpenedEngine): Promise<string | undefined> {
  const vector = await wordEmbedder().embedQuery("heron sleeps");
  return (await contentsOf(store, await store.searchVectors(vector, ANYTHING, 1)))[0];
}

async function remember({ engine }: OpenedEngine): Promise<void> {
  for (const content of [LONG, "A duck swims", "Tea at four"]) {
    await engine.store({ userId: "ada", content });
  }
}

test("a long text is found by its last part as soon as it is stored or ingested", async () => {
  const opened = await open({ embedder: reader(true) });
  await remember(opened);
  expect(await nearest(opened)).toBe(LONG);

  const other = await open({ embedder: reader(true) });
  await other.engine.ingestFast({ userId: "ada", content: LONG, role: "user" });
  await other.engine.processPending({ userId: "ada" });
  expect(await nearest(other)).toBe(LONG);
});

test("a long text is found by its last part as soon as it is restored, alone or with all that has faded", async () => {
  const ttlDefaults = { note: 90 } as const;
  const clock = testClock();
  const opened = await open({
    embedder: reader(true),
    clock,
    settings: { upkeep: undefined, ttlDefaults },
  });
  await remember(opened);
  const { engine, store } = opened;
  const [long] = await engine.queryNodes({ userId: "ada", contentContainsAny: ["heron"] });
  await engine.archive(long?.id ?? "");
  expect(await nearest(opened)).not.toBe(LONG);

  await engine.restore(long?.id ?? "");

  expect(await nearest(opened)).toBe(LONG);
  // A restored memory keeps a retention that has not ended.
  clock.set("2026-09-01T00:00:00Z");
  await engine.organize({ jobs: ["tombstone_sweep"] });
  expect(await nearest(opened)).toBeUndefined();

  expect(await engine.restoreFaded({ userId: "ada" })).toMatchObject({ restored: 3 });

  expect(await nearest(opened)).toBe(LONG);
  expect(await store.textsWithoutParts(1000, 9)).toEqual([]);
});

test("a long text of an earlier version gets the vectors of its parts beside the calls", async () => {
  const pack = newPack();
  // It embeds the beginning alone.
  const former = await open({ pack, embedder: reader(false) });
  await remember(former);
  expect(await former.store.textsWithoutParts(1000, 9)).toHaveLength(1);
  await former.engine.close();

  const opened = await open({ pack, embedder: reader(true) });
  await until(async () => (await opened.store.textsWithoutParts(1000, 9)).length === 0);

  expect(await nearest(opened)).toBe(LONG);
  await opened.engine.rebuildIndexes({ all: true });
  await until(async () => (await opened.store.textsWithoutParts(1000, 9)).length === 0);
  expect(await nearest(opened)).toBe(LONG);
});

test("a long turn of a conversation has no parts, and is not asked for again", async () => {
  const opened = await open({ embedder: reader(true) });
  await opened.engine.store({ userId: "ada", content: LONG, sessionId: "s" });
  await opened.engine.close();

  const again = await open({ pack: opened.pack, embedder: reader(true) });
  await until(async () => (await again.store.textsWithoutParts(1000, 9)).length === 0);

  const plain = await open({ embedder: reader(false) });
  await plain.engine.store({ userId: "ada", content: LONG, sessionId: "s" });
  const vector = await wordEmbedder().embedQuery("heron sleeps");
  const [one, other] = await Promise.all(
    [again, plain].map(({ store }) => store.searchVectors(vector, ANYTHING, 1)),
  );
  expect(one?.[0]?.score).toBe(other?.[0]?.score);
});

test("a memory whose parts cannot be embedded is stored, and found by its beginning", async () => {
  const words = reader(true);
  const embedder: Embedder = {
    ...words,
    embedDocument: async (text: string) => {
      if (text !== LONG) throw new Error("no model");
      return await words.embedDocument(text);
    },
  };
  const opened = await open({ embedder });

  await opened.engine.store({ userId: "ada", content: LONG });

  expect(await opened.store.textsWithoutParts(1000, 9)).toHaveLength(1);
});

test("the parts of a text reach to its end, are as many as are worth it, and none where all is read", () => {
  expect(partsOf(FILLER.repeat(100), 256)).toEqual([]);
  const parts = partsOf(LONG, 256);
  expect(parts.at(-1)).toEndWith("A heron sleeps on the roof.");
  expect(parts.join("").length).toBeGreaterThan(LONG.length - 900);
  for (const text of ["ä".repeat(100_000), "👍".repeat(50_000), `${LONG} `.repeat(100)]) {
    expect(partsOf(text, 256)).toHaveLength(64);
    for (const part of partsOf(text, 256)) expect(part.isWellFormed()).toBeTrue();
  }
});
