/** Optional models that hang, fail or talk nonsense: the answer is the one without them, and says what happened. */
import { describe, expect, test } from "bun:test";
import type { RetrievalResponse } from "../../src/engine/retrieve/api.ts";
import type { ReformulationSettings, RerankerSettings } from "../../src/engine/settings.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { LanguageModel, ModelRequest, Reranker } from "../../src/ports/models.ts";
import { type OpenedEngine, useEngines } from "../engine/engines.ts";
import {
  ask,
  contentsOf,
  fillWorld,
  packing,
  withSettings,
} from "../engine/retrieve/pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const SECRET = "a text that nobody may see";
const QUESTION = "Which hotel did we choose?";
const NEVER = new Promise<never>(() => {});

const RERANKER: RerankerSettings = {
  model: "m",
  topK: 5,
  policy: "legacy",
  priorWeight: 0.3,
  timeoutMs: 30,
};
const REFORMULATION: ReformulationSettings = { count: 3, mergePolicy: "new_only", timeoutMs: 30 };

/** Few candidates, so that other wordings and another order would show. */
const FEW = packing({ vectorK: 6, lexicalK: 6, sessionContextWindow: 0 });

/** What of an answer a model could have changed. */
function told({ results, bundle, excluded, crossScopeHints }: RetrievalResponse) {
  return { results, context: bundle.renderedContext, excluded, crossScopeHints };
}

async function expectKept(
  opened: OpenedEngine,
  engine: OpenedEngine["engine"],
  answer: RetrievalResponse,
) {
  const kept = await engine.getRetrievalReceipt(answer.metadata.requestId, "ada");
  const { reranker, reformulation } = answer.metadata;
  expect(kept?.record).toMatchObject({ reranker, reformulation });
  expect(JSON.stringify([answer, kept, opened.warnings])).not.toContain(SECRET);
}

function scoring(score: Reranker["score"]): Reranker {
  return { score, close: async () => {} };
}

describe("a reranker", () => {
  test.each<{ name: string; model: Reranker; outcome: "timeout" | "failed" }>([
    { name: "hangs", model: scoring(() => NEVER), outcome: "timeout" },
    {
      name: "blocks its signal and fails late",
      model: scoring(async () => {
        await Bun.sleep(60);
        throw new Error(SECRET);
      }),
      outcome: "timeout",
    },
    { name: "rejects", model: scoring(() => Promise.reject(new Error(SECRET))), outcome: "failed" },
    {
      name: "throws",
      model: scoring(() => {
        throw new TypeError(SECRET);
      }),
      outcome: "failed",
    },
    {
      name: "gives no numbers",
      model: scoring(async (_, texts) => texts.map(() => Number.NaN)),
      outcome: "failed",
    },
    {
      name: "gives one number that is none",
      model: scoring(async (_, texts) => texts.map((_, at) => (at === 2 ? Number.NaN : 0.5))),
      outcome: "failed",
    },
    {
      name: "gives numbers beyond 1",
      model: scoring(async (_, texts) => texts.map(() => 1.5)),
      outcome: "failed",
    },
    { name: "gives too few", model: scoring(async () => [0.5]), outcome: "failed" },
    { name: "gives none", model: scoring(async () => []), outcome: "failed" },
    {
      name: "gives nothing at all",
      // SAFETY: a model that breaks its promise is what is tried.
      model: scoring(async () => undefined as unknown as readonly number[]),
      outcome: "failed",
    },
  ])("that $name changes nothing", async ({ model: reranker, outcome }) => {
    const opened = await open({ settings: FEW });
    await fillWorld(opened);
    const engine = withSettings(opened, { ...FEW, reranker: RERANKER }, { reranker });
    const plain = await ask(opened.engine, QUESTION, { scope: "personal" });

    const answer = await ask(engine, QUESTION, { scope: "personal" });

    expect(plain.metadata.reranker).toBeUndefined();
    expect(answer.metadata.reranker).toBe(outcome);
    expect(told(answer)).toEqual(told(plain));
    expect(answer.results.every(({ rerankerScore }) => rerankerScore === undefined)).toBe(true);
    await expectKept(opened, engine, answer);
  });

  test("that works decides the order of the first ones alone", async () => {
    const opened = await open({ settings: FEW });
    await fillWorld(opened);
    const plain = await ask(opened.engine, QUESTION);
    const asked: (readonly string[])[] = [];
    const engine = withSettings(
      opened,
      { ...FEW, reranker: { ...RERANKER, priorWeight: 0, timeoutMs: 5000 } },
      {
        reranker: scoring(async (_, texts) => {
          asked.push(texts);
          return texts.map((_, index) => index / 10);
        }),
      },
    );

    const answer = await ask(engine, QUESTION);

    const before = contentsOf(plain.results);
    expect(asked).toEqual([before.slice(0, 5)]);
    expect(contentsOf(answer.results)).toEqual([
      ...before.slice(0, 5).toReversed(),
      ...before.slice(5),
    ]);
    expect(answer.metadata.reranker).toBe("applied");
    await expectKept(opened, engine, answer);
  });

  test("gives up with its caller, not with its own limit", async () => {
    const opened = await open({ settings: FEW });
    await fillWorld(opened);
    const caller = new AbortController();
    const engine = withSettings(
      opened,
      { ...FEW, reranker: { ...RERANKER, timeoutMs: 60_000 } },
      {
        reranker: scoring(() => {
          caller.abort(new Error("enough"));
          return NEVER;
        }),
      },
    );

    await expect(ask(engine, QUESTION, { signal: caller.signal })).rejects.toThrow("enough");
  });
});

function model(answer: (request: ModelRequest) => Promise<JsonObject>): LanguageModel {
  return { provider: "test", model: "m", answer };
}

describe("a language model that puts the question in other words", () => {
  test.each<{
    name: string;
    languageModel: LanguageModel;
    outcome: "timeout" | "failed" | "applied";
  }>([
    { name: "hangs", languageModel: model(() => NEVER), outcome: "timeout" },
    {
      name: "rejects",
      languageModel: model(() => Promise.reject(new Error(SECRET))),
      outcome: "failed",
    },
    {
      name: "throws",
      languageModel: model(() => {
        throw new Error(SECRET);
      }),
      outcome: "failed",
    },
    { name: "answers another question", languageModel: model(async () => ({})), outcome: "failed" },
    {
      name: "answers with text",
      languageModel: model(async () => ({ queries: SECRET })),
      outcome: "failed",
    },
    {
      name: "answers with numbers",
      languageModel: model(async () => ({ queries: [1, null] })),
      outcome: "failed",
    },
    {
      name: "answers with nothing",
      // SAFETY: a model that breaks its promise is what is tried.
      languageModel: model(async () => undefined as unknown as JsonObject),
      outcome: "failed",
    },
    {
      name: "repeats the question",
      languageModel: model(async () => ({
        queries: [QUESTION, ` ${QUESTION.toUpperCase()} `, ""],
      })),
      outcome: "applied",
    },
  ])("and $name changes nothing", async ({ languageModel, outcome }) => {
    const opened = await open({ settings: FEW });
    await fillWorld(opened);
    const plain = await ask(opened.engine, QUESTION, { scope: "personal" });
    for (const mergePolicy of ["new_only", "max_signals"] as const) {
      const reformulation = { ...REFORMULATION, mergePolicy };
      const engine = withSettings(opened, { ...FEW, reformulation }, { languageModel });

      const answer = await ask(engine, QUESTION, { scope: "personal" });

      expect(answer.metadata.reformulation).toBe(outcome);
      expect(answer.metadata.candidatesGenerated).toEqual(plain.metadata.candidatesGenerated);
      expect(withoutPathOrder(answer)).toEqual(withoutPathOrder(plain));
      await expectKept(opened, engine, answer);
    }
  });

  test("is searched for with the filters of the question, whatever it says", async () => {
    const opened = await open({ settings: FEW });
    await fillWorld(opened);
    const queries = ["passport", '" * NEAR (', "\u0000", "Marta speaks Portuguese", "项目"];
    const engine = withSettings(
      opened,
      { ...FEW, reformulation: { ...REFORMULATION, count: 5, timeoutMs: 5000 } },
      { languageModel: model(async () => ({ queries })) },
    );

    const answer = await ask(engine, "river", { scope: "personal", excludeNodeTypes: ["fact"] });

    expect(answer.metadata.reformulation).toBe("applied");
    expect(answer.metadata.backendFailures).toEqual({});
    expect(contentsOf(answer.results)).toContain("Renew the passport.");
    for (const { node } of answer.results) {
      expect([node.userId, node.scope, node.nodeType === "fact"]).toEqual([
        "ada",
        "personal",
        false,
      ]);
    }
    await expectKept(opened, engine, answer);
  });

  test.each(["new_only", "max_signals"] as const)(
    "whose wordings cannot be searched for leaves the answer to the question (%s)",
    async (mergePolicy) => {
      let isBroken = false;
      const opened = await open({
        settings: FEW,
        alter: (store) => ({
          nodesByKey: (...args) =>
            isBroken ? Promise.reject(new Error(SECRET)) : store.nodesByKey(...args),
          searchText: (query, ...rest) => {
            isBroken ||= query === "passport";
            return store.searchText(query, ...rest);
          },
        }),
      });
      await fillWorld(opened);
      const plain = await ask(opened.engine, QUESTION);
      const engine = withSettings(
        opened,
        { ...FEW, reformulation: { ...REFORMULATION, mergePolicy, timeoutMs: 5000 } },
        { languageModel: model(async () => ({ queries: ["passport"] })) },
      );

      const answer = await ask(engine, QUESTION);

      expect(told(answer)).toEqual(told(plain));
      expect(answer.metadata.reformulation).toBe("failed");
      expect(JSON.stringify([answer, opened.warnings])).not.toContain(SECRET);
    },
  );
});

/** Joining signals sorts the paths of a candidate. */
function withoutPathOrder(answer: RetrievalResponse) {
  const { results, ...rest } = told(answer);
  return {
    ...rest,
    results: results.map((result) => ({ ...result, paths: result.paths.toSorted() })),
  };
}
