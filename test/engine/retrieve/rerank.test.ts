import { describe, expect, test } from "bun:test";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import { mergeNeuralScores, rerank } from "../../../src/engine/retrieve/models.ts";
import type { RerankerPolicy, RerankerSettings } from "../../../src/engine/settings.ts";
import type { Reranker } from "../../../src/ports/models.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { aResult } from "./pool.ts";

const SETTINGS: RerankerSettings = {
  model: "test",
  topK: 100,
  policy: "legacy",
  priorWeight: 0.3,
  timeoutMs: 5000,
};

/** Four candidates that several searches found, best first. */
const RANKING = [0.9, 0.8, 0.6, 0.5].map((score, at) =>
  aResult(at + 1, score, { content: `text ${at + 1}` }),
);
const NEURAL = [0.1, 0.9, 0.2, 0.95];

const keysOf = (ranking: readonly ResultCandidate[]) => ranking.map(({ key }) => key);
const scoresOf = (ranking: readonly ResultCandidate[]) =>
  ranking.map(({ compositeScore }) => Number(compositeScore.toFixed(10)));

const merged = (policy: RerankerPolicy, scores = NEURAL, ranking = RANKING, priorWeight = 0.3) =>
  mergeNeuralScores(ranking, scores, { policy, priorWeight });

/** A reranker that says what it is told to. */
const saying = (scores: readonly number[]): Reranker => ({
  score: async (_question, texts) => scores.slice(0, texts.length),
  close: async () => {},
});

const run = (reranker: Reranker, more: Partial<RerankerSettings> = {}, signal?: AbortSignal) => {
  const warnings: string[] = [];
  const deps = {
    reranker,
    settings: { ...SETTINGS, ...more },
    warn: (line: string) => void warnings.push(line),
  };
  return rerank(deps, "the question", RANKING, signal).then((result) => ({ ...result, warnings }));
};

describe("the policy legacy", () => {
  test("gives each candidate 0.7 of the model's score and 0.3 of its own", () => {
    const result = merged("legacy");
    expect(keysOf(result)).toEqual(nodeKeys(2, 4, 1, 3));
    expect(scoresOf(result)).toEqual([0.87, 0.815, 0.34, 0.32]);
    expect(result.map(({ rerankerScore }) => rerankerScore)).toEqual([0.9, 0.95, 0.1, 0.2]);
  });

  test("leaves the candidates beyond the prefix their scores and places", () => {
    const result = merged("legacy", [0, 0.1]);
    expect(keysOf(result)).toEqual(nodeKeys(2, 1, 3, 4));
    expect(scoresOf(result)).toEqual([0.31, 0.27, 0.6, 0.5]);
    expect(result[2]).toBe(RANKING[2]!);
    expect(result[2]?.rerankerScore).toBeUndefined();
  });

  test("orders equal scores by id", () => {
    const twins = [aResult(1, 0.5), aResult(2, 0.5), aResult(3, 0.5)];
    const ids = merged("legacy", [0.5, 0.5, 0.5], twins).map(({ node }) => node.id);
    expect(ids).toEqual([...ids].sort());
  });
});

describe("the policy score_envelope", () => {
  test("hands out the former scores of the prefix in the model's order", () => {
    const result = merged("score_envelope");
    expect(keysOf(result)).toEqual(nodeKeys(2, 4, 1, 3));
    expect(scoresOf(result)).toEqual([0.9, 0.8, 0.6, 0.5]);
  });

  test("touches no score beyond the prefix", () => {
    const result = merged("score_envelope", [0.1, 0.9]);
    expect(keysOf(result)).toEqual(nodeKeys(2, 1, 3, 4));
    expect(scoresOf(result)).toEqual([0.9, 0.8, 0.6, 0.5]);
  });

  test("heeds the share of the former score", () => {
    expect(keysOf(merged("score_envelope", NEURAL, RANKING, 1))).toEqual(nodeKeys(1, 2, 3, 4));
    expect(keysOf(merged("score_envelope", NEURAL, RANKING, 0))).toEqual(nodeKeys(4, 2, 3, 1));
  });
});

test("an envelope orders candidates of equal former scores by id, whatever the model says", () => {
  const twins = [aResult(1, 0.5), aResult(2, 0.5), aResult(3, 0.5)];
  for (const policy of ["score_envelope", "anchored_score_envelope"] as const) {
    const ids = merged(policy, [0.1, 0.9, 0.5], twins).map(({ node }) => node.id);
    expect(ids).toEqual([...ids].sort());
  }
});

describe("the policy anchored_score_envelope", () => {
  test("keeps the former best candidate of two searches in front", () => {
    const result = merged("anchored_score_envelope");
    expect(keysOf(result)).toEqual(nodeKeys(1, 2, 4, 3));
    expect(scoresOf(result)).toEqual([0.9, 0.8, 0.6, 0.5]);
  });

  test.each([
    { name: "only one search found", given: {}, more: { pathCount: 1 } },
    { name: "are instructions", given: { nodeType: "instruction" as const }, more: {} },
    { name: "are pinned", given: { pinned: true }, more: {} },
    { name: "have full salience", given: { salience: 1, salienceBase: 1 }, more: {} },
    {
      name: "are open tasks",
      given: { nodeType: "task" as const, lifecycleState: "stable" as const },
      more: {},
    },
  ])("passes over candidates that $name", ({ given, more }) => {
    const [, ...rest] = RANKING;
    const ranking = [aResult(1, 0.9, given, more), ...rest];
    expect(keysOf(merged("anchored_score_envelope", [0.9, 0.1, 0.2, 0.95], ranking))[0]).toBe(
      nodeKey(2),
    );
  });

  test("anchors nothing when that candidate stands beyond the prefix", () => {
    const lonely = RANKING.map((candidate, at) =>
      at < 2 ? { ...candidate, pathCount: 1 } : candidate,
    );
    expect(keysOf(merged("anchored_score_envelope", [0.1, 0.9], lonely))).toEqual(
      nodeKeys(2, 1, 3, 4),
    );
  });
});

describe("rerank", () => {
  test("asks with the question and the texts of the best candidates", async () => {
    const asked: unknown[] = [];
    const reranker: Reranker = {
      score: async (question, texts) => {
        asked.push({ question, texts });
        return [0.1, 0.9];
      },
      close: async () => {},
    };
    const { ranking, outcome, rerankedPrefix, warnings } = await run(reranker, { topK: 2 });
    expect(asked).toEqual([{ question: "the question", texts: ["text 1", "text 2"] }]);
    expect(keysOf(ranking)).toEqual(nodeKeys(2, 1, 3, 4));
    expect({ outcome, rerankedPrefix, warnings }).toEqual({
      outcome: "applied",
      rerankedPrefix: true,
      warnings: [],
    });
  });

  test("changes nothing and asks nobody for no candidates", async () => {
    const refusing: Reranker = {
      score: async () => {
        throw new Error("asked");
      },
      close: async () => {},
    };
    const { ranking, outcome, rerankedPrefix } = await run(refusing, { topK: 0 });
    expect(ranking).toBe(RANKING);
    expect({ outcome, rerankedPrefix }).toEqual({ outcome: "applied", rerankedPrefix: false });
  });

  test.each([
    { name: "too few scores", scores: [0.5, 0.5] },
    { name: "a score above 1", scores: [0.5, 1.01, 0.5, 0.5] },
    { name: "a score below 0", scores: [0.5, -0.01, 0.5, 0.5] },
    { name: "no number", scores: [0.5, Number.NaN, 0.5, 0.5] },
    { name: "an infinite score", scores: [Number.POSITIVE_INFINITY, 0, 0, 0] },
  ])("keeps the former order when the model gives $name", async ({ scores }) => {
    const { ranking, outcome, rerankedPrefix, warnings } = await run(saying(scores));
    expect(ranking).toBe(RANKING);
    expect({ outcome, rerankedPrefix }).toEqual({ outcome: "failed", rerankedPrefix: false });
    expect(warnings).toEqual(["the reranker changed nothing (failed: model_failed)"]);
  });

  test("keeps the former order when the model throws, and tells no text of it", async () => {
    const reranker: Reranker = {
      score: async () => {
        throw new Error("text 1 is secret");
      },
      close: async () => {},
    };
    const { ranking, outcome, warnings } = await run(reranker);
    expect(ranking).toBe(RANKING);
    expect(outcome).toBe("failed");
    expect(warnings).toEqual(["the reranker changed nothing (failed: Error)"]);
  });

  test.each([
    {
      name: "heeds its signal",
      score: (signal: AbortSignal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    },
    { name: "heeds nothing", score: () => new Promise<never>(() => {}) },
  ])("keeps the former order when a model that $name takes too long", async ({ score }) => {
    const reranker: Reranker = { score: (_q, _t, signal) => score(signal), close: async () => {} };
    const { ranking, outcome, rerankedPrefix } = await run(reranker, { timeoutMs: 50 });
    expect(ranking).toBe(RANKING);
    expect({ outcome, rerankedPrefix }).toEqual({ outcome: "timeout", rerankedPrefix: false });
  });

  test("ends with the caller's reason when the caller gives up", async () => {
    const reranker: Reranker = { score: () => new Promise<never>(() => {}), close: async () => {} };
    const stop = new AbortController();
    const reason = new Error("no longer wanted");
    setTimeout(() => stop.abort(reason), 20);
    const ending = await run(reranker, {}, stop.signal).catch((error: unknown) => error);
    expect(ending).toBe(reason);
  });
});
