/** A stage is told where it ran. */
import { expect, test } from "bun:test";
import type { StageName } from "../../../src/engine/retrieve/api.ts";
import { testClock, useEngines, wordEmbedder } from "../engines.ts";
import { ask, packing, remember, withSettings } from "./pipeline-world.ts";

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
