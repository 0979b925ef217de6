import { afterAll, describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { put } from "../../contract/samples.ts";
import {
  DEFAULT_SETTINGS,
  expectInvalid,
  REAL_MODEL,
  testClock,
  tokenizer,
  useEngines,
  wordEmbedder,
} from "../engines.ts";

const { open } = useEngines();

async function ask(engine: MemoryEngine, query: string, given: Partial<RetrieveInput> = {}) {
  return engine.retrieve({ query, userId: "ada", ...given });
}

async function contents(engine: MemoryEngine, query: string, given: Partial<RetrieveInput> = {}) {
  return (await ask(engine, query, given)).results.map(({ node }) => node.content).sort();
}

async function storeAll(engine: MemoryEngine, ...items: readonly Partial<StoreInput>[]) {
  for (const item of items) await engine.store({ content: "tea", userId: "ada", ...item });
}

describe("retrieval with the model that ships with the program", () => {
  afterAll(() => tokenizer.ready());

  const SENTENCES = [
    "My dog Biscuit is afraid of thunder.",
    "The quarterly report is due on the fifth of April.",
    "I moved to Lisbon last autumn and rent a flat near the river.",
    "Ann is allergic to peanuts.",
    "We decided to use PostgreSQL for the billing service.",
  ];

  test.each([
    ["What does my puppy fear?", 0],
    ["By when must I hand in the report?", 1],
    ["Which city do I live in?", 2],
    ["Who cannot eat nuts?", 3],
    ["Which database did the team choose?", 4],
  ] as const)("answers %j with the right memory first", async (query, index) => {
    const { engine } = await open({ embedder: REAL_MODEL });
    await storeAll(engine, ...SENTENCES.map((content) => ({ content })));

    const { results, metadata } = await ask(engine, query);

    expect(results[0]?.node.content).toBe(SENTENCES[index]);
    expect(results[0]?.paths).toContain("VECTOR");
    expect(results[0]?.semanticRelevance).toBeWithin(0.4, 1.000001);
    expect(metadata.candidatesGenerated["VECTOR"]).toBe(5);
  });
});

describe("the filters of a question", () => {
  test("by validity keep entities and preferences", async () => {
    const { engine } = await open();
    const past = { validFrom: "2020-01-01T00:00Z", validTo: "2021-01-01T00:00Z" };
    const future = { validFrom: "2030-01-01T00:00Z" };
    await storeAll(
      engine,
      { content: "past tea", ...past },
      { content: "past entity tea", nodeType: "entity", ...past },
      { content: "future tea", ...future },
      { content: "future preference tea", nodeType: "preference", ...future },
      { content: "present tea" },
    );

    expect(await contents(engine, "tea", { timeFrom: "2021-01-01T00:00Z" })).toEqual([
      "future preference tea",
      "future tea",
      "past entity tea",
      "present tea",
    ]);
    expect(await contents(engine, "tea", { timeFrom: "2020-12-31T23:59:59Z" })).toHaveLength(5);
    expect(await contents(engine, "tea", { timeTo: "2029-12-31T00:00Z" })).toEqual([
      "future preference tea",
      "past entity tea",
      "past tea",
      "present tea",
    ]);
    expect(await contents(engine, "tea", { timeTo: "2030-01-01T01:00+01:00" })).toHaveLength(5);
  });

  test("by creation and by stated time, inclusive at both ends", async () => {
    const clock = testClock();
    const { engine } = await open({ clock });
    clock.set("2026-01-01T00:00:00Z");
    await storeAll(
      engine,
      { content: "old tea" },
      { content: "told tea", eventTime: "2025-06-01T00:00Z" },
    );
    clock.set("2026-02-01T00:00:00Z");
    await storeAll(engine, { content: "new tea" });
    const [newest] = await engine.queryNodes({ userId: "ada", limit: 1 });
    const created = newest?.createdAt ?? "";

    expect(await contents(engine, "tea", { knowledgeAt: "2026-01-15T00:00Z" })).toEqual([
      "old tea",
      "told tea",
    ]);
    expect(await contents(engine, "tea", { knowledgeAt: created })).toHaveLength(3);
    expect(await contents(engine, "tea", { eventTimeTo: "2025-06-01T00:00Z" })).toEqual([
      "told tea",
    ]);
    expect(await contents(engine, "tea", { eventTimeFrom: created })).toEqual(["new tea"]);
    expect(
      await contents(engine, "tea", {
        eventTimeFrom: "2025-06-01T00:00:00.000001Z",
        eventTimeTo: "2026-01-15T00:00Z",
      }),
    ).toEqual(["old tea"]);
  });

  test("leave out what is not known to be so, unless everything is asked for", async () => {
    const { engine } = await open();
    await storeAll(
      engine,
      { content: "plain tea" },
      { content: "hypothetical tea", epistemicType: "hypothetical" },
      { content: "conditional tea", epistemicType: "conditional", metadata: { condition: "rain" } },
      { content: "unverified tea", epistemicType: "unverified", confidence: 0.1 },
    );

    const byDefault = await ask(engine, "tea");
    const explicit = await ask(engine, "tea", { retrievalMode: "explicit" });

    expect(byDefault.results.map(({ node }) => node.content)).toEqual(["plain tea"]);
    expect(byDefault.excluded.map(({ reason }) => reason).sort()).toEqual([
      "condition_filtered:unknown",
      "epistemic_filtered:hypothetical",
      "unverified_below_threshold:0.10<=0.30",
    ]);
    expect(byDefault.metadata.candidatesFiltered).toBe(3);
    expect(explicit.results).toHaveLength(4);
    expect(explicit.excluded).toEqual([]);
    expect(explicit.filterMetadata.retrievalMode).toBe("explicit");
  });

  test("hold for the neighbours of what was found too", async () => {
    const { engine } = await open({
      settings: { packing: { ...DEFAULT_SETTINGS.packing, vectorK: 1, lexicalK: 1 } },
    });
    await storeAll(
      engine,
      { content: "one", sessionId: "s", epistemicType: "hypothetical" },
      { content: "two", sessionId: "s", role: "tool" },
      { content: "the golden tea pot", sessionId: "s" },
      { content: "four", sessionId: "s" },
      { content: "five", sessionId: "s", scope: "agent" },
    );

    const all = await ask(engine, "golden tea pot");
    const narrowed = await contents(engine, "golden tea pot", { sourceTypes: ["user_stated"] });

    expect(all.results.map(({ node, paths }) => [node.content, paths])).toEqual([
      ["the golden tea pot", ["VECTOR", "LEXICAL"]],
      ["two", ["SESSION_CONTEXT"]],
      ["four", ["SESSION_CONTEXT"]],
    ]);
    expect(all.results.map(({ compositeScore }) => compositeScore)).toEqual([1, 0.6, 0.6]);
    expect(narrowed).toEqual(["four", "the golden tea pot"]);
  });
});

describe("an answer", () => {
  test("never shows inactive or foreign memories", async () => {
    const { engine, store } = await open();
    const vector = await wordEmbedder().embedDocument("tea");
    await put(
      store,
      { content: "tea", vector },
      { content: "superseded tea", vector, lifecycleState: "superseded" },
      { content: "foreign tea", vector, userId: "bob" },
    );

    expect(await contents(engine, "tea", { retrievalMode: "explicit" })).toEqual(["tea"]);
    expect(await contents(engine, "tea", { userId: "bob" })).toEqual(["foreign tea"]);
    expect(await contents(engine, "tea", { userId: "nobody" })).toEqual([]);
  });

  test("tells of its stages in their order, with what each took and gave", async () => {
    const { engine } = await open();
    await storeAll(
      engine,
      { content: "green tea" },
      { content: "black tea" },
      { content: "hypothetical tea", epistemicType: "hypothetical" },
    );

    const { metadata } = await ask(engine, "What is green tea?", { limit: 1 });

    expect(metadata.stages.map(({ stage, input, output }) => [stage, input, output])).toEqual([
      ["analyze", 1, 1],
      ["candidates", 1, 3],
      ["merge", 3, 3],
      ["filter", 3, 2],
      ["score", 2, 2],
      ["expand", 2, 2],
      ["select", 2, 1],
      ["pack", 1, 1],
    ]);
    expect(metadata.stages.every(({ timingMs }) => timingMs >= 0)).toBe(true);
    expect(metadata).toMatchObject({
      intent: "entity_lookup",
      candidatesGenerated: { GRAPH: 0, VECTOR: 3, LEXICAL: 3, PINNED: 0 },
      candidatesFiltered: 2,
      candidatesIncluded: 1,
      backendsUsed: ["GRAPH", "VECTOR", "LEXICAL", "PINNED"],
      backendFailures: {},
      embeddingMismatch: false,
      resultLimit: 1,
      minScore: undefined,
      minScoreSkipped: false,
      scoringConfigVersion: DEFAULT_SETTINGS.scoringVersion,
    });
  });

  test("shows the bindings whose short form stands in the context", async () => {
    const { engine } = await open();
    const { node } = await engine.storeWithReceipt({
      content: "Read the tea guide and the tea list.",
      userId: "ada",
      valueBindings: [
        { reference: "b", kind: "link", presentation: "tea list", lookup: "https://l.example" },
        { reference: "a", kind: "link", presentation: "tea guide", lookup: "https://g.example" },
      ],
    });

    const { valueBindings } = await ask(engine, "tea guide");
    const unseen = await ask(engine, "tea guide", { tokenBudget: 0 });

    const common = {
      contextRef: node.id,
      nodeId: node.id,
      kind: "link",
      lookupAuthority: "caller",
    };
    expect(valueBindings).toEqual([
      { ...common, reference: "a", presentation: "tea guide", lookup: "https://g.example" },
      { ...common, reference: "b", presentation: "tea list", lookup: "https://l.example" },
    ] as never);
    expect(unseen.valueBindings).toEqual([]);
  });

  test("names the moment it was asked for, or now", async () => {
    const clock = testClock("2026-03-18T12:00:00Z");
    const { engine } = await open({ clock });

    const given = await ask(engine, "tea", { referenceTime: "2026-01-01T01:00+01:00" });
    const now = await ask(engine, "tea");

    expect(given.metadata.referenceTime as string).toBe("2026-01-01T00:00:00.000000Z");
    expect(now.metadata.referenceTime).toStartWith("2026-03-18T12:00:00.");
  });
});

describe("a search that fails", () => {
  test.each([
    { name: "model", identity: { model: "other", version: "1", dimension: 64 } },
    { name: "version", identity: { model: "words", version: "2", dimension: 64 } },
    { name: "dimension", identity: { model: "words", version: "1", dimension: 32 } },
  ])("because the pack has vectors of another $name is reported as that", async ({ identity }) => {
    const first = await open();
    await storeAll(first.engine, { content: "green tea" });
    await first.engine.close();
    let asked = 0;
    const other = wordEmbedder({
      identity,
      embedQuery: async () => {
        asked += 1;
        return new Float32Array(identity.dimension);
      },
    });

    const { engine } = await open({ pack: first.pack, embedder: other });
    const { results, metadata } = await ask(engine, "tea", { minScore: 0.9 });

    expect(results.map(({ paths }) => paths)).toEqual([["LEXICAL"]]);
    expect(metadata).toMatchObject({
      embeddingMismatch: true,
      backendFailures: { VECTOR: "embedding_mismatch" },
      backendsUsed: ["GRAPH", "LEXICAL", "PINNED"],
      minScoreSkipped: true,
    });
    expect(asked).toBe(0);
  });
});

describe("a question that is refused", () => {
  test("is refused by the name of its field before any work", async () => {
    let worked = false;
    const { engine } = await open({
      alter: (store) => ({
        searchText: (...args) => {
          worked = true;
          return store.searchText(...args);
        },
      }),
    });
    await expectInvalid(ask(engine, "tea", { tokenBudget: -1 }), { field: "token_budget" });
    expect(worked).toBe(false);
  });

  test("ends early when its caller gives up", async () => {
    const { engine } = await open();

    const outcome = await ask(engine, "tea", { signal: AbortSignal.abort() }).catch(
      (error: Error) => error.name,
    );

    expect(outcome).toBe("AbortError");
  });
});
