/** A stage is told where it ran. */
import { describe, expect, test } from "bun:test";
import type { StageName } from "../../../src/engine/retrieve/api.ts";
import { type Memory, put } from "../../contract/samples.ts";
import { testClock, useEngines, wordEmbedder } from "../engines.ts";
import { ask, contentsOf, packing, remember, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const RERANKER = {
  model: "test",
  topK: 10,
  policy: "legacy",
  priorWeight: 0.3,
  timeoutMs: 5000,
} as const;
const REFORMULATION = { count: 1, mergePolicy: "new_only", timeoutMs: 5000 } as const;
const PLAIN: readonly StageName[] = [
  "analyze",
  "candidates",
  "merge",
  "filter",
  "score",
  "expand",
  "select",
  "pack",
];

const ferry = (gate: number) => ({ content: `The ferry leaves at gate ${gate}.`, second: gate });

test("models are stages of their own, with what each took and gave", async () => {
  const opened = await open({ embedder: wordEmbedder() });
  await remember(opened, ferry(1), ferry(2), { content: "A boat has a green hull.", second: 3 });
  const engine = withSettings(
    opened,
    // By words alone, so that other wordings find something else.
    { ...packing({ vectorK: 0 }), reranker: RERANKER, reformulation: REFORMULATION },
    {
      reranker: {
        score: async (_question, texts) => texts.map(() => 0.5),
        close: async () => {},
      },
      languageModel: {
        provider: "test",
        model: "test",
        answer: async () => ({ queries: ["green hull"] }),
      },
    },
  );

  const { metadata } = await ask(engine, "ferry gate");

  expect(metadata.stages.map(({ stage, input, output }) => [stage, input, output])).toEqual([
    ["analyze", 1, 1],
    ["candidates", 1, 2],
    ["merge", 2, 2],
    ["reformulate", 2, 3],
    ["filter", 3, 3],
    ["score", 3, 3],
    ["rerank", 3, 3],
    ["expand", 3, 3],
    ["select", 3, 3],
    ["pack", 3, 3],
  ]);
});

test("a second search without expired memories is a stage of its own", async () => {
  const opened = await open({ embedder: wordEmbedder(), clock: testClock("2026-01-20T00:00:00Z") });
  const expired = Array.from({ length: 400 }, (_, gate) => ({ ...ferry(gate), ttlDays: 1 }));
  await remember(opened, ...expired, { content: "The ferry is green.", second: 500 });

  const { metadata } = await ask(opened.engine, "ferry", { referenceTime: undefined });

  const stages = metadata.stages.map(({ stage }) => stage);
  expect(stages).toEqual([...PLAIN.slice(0, 3), "search_again", ...PLAIN.slice(3)]);
});

const DAY = 86_400;
/** Ends before the question, but nobody archived it yet. */
const OVER = { ttlDays: 1 } as const;

function expired(count: number, given: Memory = {}): Memory[] {
  return Array.from({ length: count }, (_, index) => ({
    content: `The harbour ferry leaves at gate ${index}.`,
    second: index / 1000,
    ...OVER,
    ...given,
  }));
}

const LIVE = { content: "The harbour ferry is painted in a rather unusual green.", second: 5 };
const askedLater = { referenceTime: undefined } as const;

describe("memories whose retention is over", () => {
  test("do not crowd out one that is kept", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await remember(opened, ...expired(400), LIVE);

    const answer = await ask(opened.engine, "When does the harbour ferry leave?", askedLater);

    expect(contentsOf(answer.results)).toEqual([LIVE.content]);
    const left = answer.excluded.filter(({ reason }) => reason === "retention_filtered:expired");
    expect(left.length).toBeGreaterThan(10);
    expect(new Set(left.map(({ nodeId }) => nodeId)).size).toBe(left.length);
  });

  test("do not crowd out an open task", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await put(opened.store, { content: "Water the orchid.", nodeType: "task", second: 0 });
    await put(opened.store, ...expired(500, { nodeType: "task", second: DAY }));

    const answer = await ask(opened.engine, "Which colour is the sea?", askedLater);

    expect(contentsOf(answer.results)).toEqual(["Water the orchid."]);
  });

  test("cost no second search while no search is at its limit", async () => {
    const limits: unknown[] = [];
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
      settings: packing({ vectorK: 50, lexicalK: 50 }),
      alter: (store) => ({
        searchVectors: (vector, filter, k) => {
          limits.push(filter.aliveAt);
          return store.searchVectors(vector, filter, k);
        },
      }),
    });
    await remember(opened, ...expired(10), LIVE);

    const answer = await ask(opened.engine, "harbour ferry", askedLater);

    expect(contentsOf(answer.results)).toEqual([LIVE.content]);
    expect(limits).toEqual([undefined]);
  });

  test("are found in explicit mode as long as they are active", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await remember(opened, ...expired(400), LIVE);
    const retired = {
      content: "The harbour ferry once was red.",
      lifecycleState: "archived",
    } as const;
    await remember(opened, ...expired(1, retired));
    const explicit = { ...askedLater, retrievalMode: "explicit" } as const;

    const { results, excluded } = await ask(opened.engine, "harbour ferry gate 7", explicit);

    expect(contentsOf(results)).toContain("The harbour ferry leaves at gate 7.");
    expect(contentsOf(results)).not.toContain(retired.content);
    expect(excluded.filter(({ reason }) => reason.startsWith("retention"))).toEqual([]);
  });
});
