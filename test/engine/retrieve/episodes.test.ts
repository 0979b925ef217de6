import { describe, expect, test } from "bun:test";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import { type EpisodeRules, routeEpisodes } from "../../../src/engine/retrieve/context/expand.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { aProvenance, aResult } from "./pool.ts";

const RULES: EpisodeRules = {
  episodeContextTopK: 1,
  episodeContextLocalK: 8,
  episodeContextScoreDecay: 0.95,
};

function turn(key: number, score: number, content: string, sessionId = "walk"): ResultCandidate {
  return aResult(key, score, { content, sessionId }, { semanticRelevance: score });
}

function routed(
  ranking: readonly ResultCandidate[],
  query: string,
  rules: Partial<EpisodeRules> = {},
) {
  const step = routeEpisodes(ranking, query, { ...RULES, ...rules });
  const marked = step.ranking.filter(({ paths }) => paths.includes("EPISODE_CONTEXT"));
  return { ...step, marked: marked.map(({ key }) => key).sort((a, b) => a - b) };
}

describe("an episode", () => {
  test("is a session with two candidates or more, in one scope", () => {
    const alone = [turn(1, 0.9, "lake", "a"), ...[2, 3].map((key) => aResult(key, 0.5))];
    const apart = [
      turn(1, 0.9, "lake"),
      aResult(2, 0.5, { content: "lake", sessionId: "walk", scope: "project" }),
    ];

    expect(routed(alone, "lake").marked).toEqual([]);
    expect(routed(apart, "lake").marked).toEqual([]);
    expect(routed([turn(1, 0.9, "lake"), turn(2, 0.5, "hill")], "lake").marked).toEqual(
      nodeKeys(1, 2),
    );
  });

  test("without a word of the question is not chosen", () => {
    const ranking = [turn(1, 0.9, "tea"), turn(2, 0.8, "cake")];

    expect(routeEpisodes(ranking, "lakes", RULES)).toEqual({ ranking, changed: false });
  });

  test("is chosen by the rarity of its words among the episodes", () => {
    const ranking = [
      turn(1, 0.9, "the walk", "a"),
      turn(2, 0.8, "the walk again", "a"),
      turn(3, 0.7, "the walk", "b"),
      turn(4, 0.6, "the heron", "b"),
      turn(5, 0.5, "the walk", "c"),
      turn(6, 0.4, "the walk", "c"),
    ];

    expect(routed(ranking, "the heron").marked).toEqual(nodeKeys(3, 4));
    expect(routed(ranking, "THE HERON", { episodeContextTopK: 2 }).marked).toHaveLength(4);
  });

  test("is the shorter one where two hold the same word", () => {
    const ranking = [
      turn(1, 0.9, "a heron and many other birds of the northern hills", "a"),
      turn(2, 0.8, "they flew", "a"),
      turn(3, 0.7, "a heron", "b"),
      turn(4, 0.6, "it flew", "b"),
    ];

    expect(routed(ranking, "heron").marked).toEqual(nodeKeys(3, 4));
  });

  test("gains nothing from a word that the question repeats", () => {
    const ranking = [
      turn(1, 0.9, "heron", "a"),
      turn(2, 0.8, "lake", "a"),
      turn(3, 0.7, "robin", "b"),
      turn(4, 0.6, "lake", "b"),
    ];

    expect(routed(ranking, "heron robin robin").marked).toEqual(nodeKeys(1, 2));
    expect(routed(ranking, "robin").marked).toEqual(nodeKeys(3, 4));
  });

  test("comes first by scope and session where two are equal", () => {
    const ranking = [
      turn(1, 0.9, "lake", "b"),
      turn(2, 0.8, "lake", "b"),
      turn(3, 0.7, "lake", "a"),
      turn(4, 0.6, "lake", "a"),
    ];

    expect(routed(ranking, "lake").marked).toEqual(nodeKeys(3, 4));
  });
});

describe("the members of a chosen episode", () => {
  const ranking = [
    turn(1, 1, "about the weather"),
    turn(2, 0.2, "a heron at the lake"),
    turn(3, 0.97, "the lake was cold"),
    turn(4, 0.1, "goodbye"),
  ];

  test("are raised nearly to the best of them, and keep what is more", () => {
    const { ranking: after, changed } = routed(ranking, "heron lake");

    expect(changed).toBe(true);
    expect(after.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 1],
      [3, 0.97],
      [2, 0.95],
      [4, 0.95],
    ]);
    expect(after.map(({ semanticRelevance }) => semanticRelevance)).toEqual([1, 1, 1, 1]);
    expect(after[2]).toMatchObject({
      paths: ["VECTOR", "LEXICAL", "EPISODE_CONTEXT"],
      pathCount: 3,
    });
  });

  test("are the best by words, then by their own score", () => {
    expect(routed(ranking, "heron lake", { episodeContextLocalK: 1 }).marked).toEqual(nodeKeys(2));
    expect(routed(ranking, "heron lake", { episodeContextLocalK: 3 }).marked).toEqual(
      nodeKeys(1, 2, 3),
    );
  });

  test("record where a raised score came from, and lose the trace of their own", () => {
    const [best] = ranking;
    const scored = ranking.map((candidate) => ({
      ...candidate,
      trace: aProvenance(candidate.node.id, candidate.compositeScore).trace,
    }));
    const { ranking: after } = routed(scored, "heron lake");
    const raised = after.find(({ key }) => key === nodeKey(2));

    expect(raised?.provenance.adjustments.at(-1)).toEqual({
      kind: "episode_decay",
      coefficient: 0.95,
      neuralScore: undefined,
      sourceNodeId: best?.node.id,
    });
    expect(raised?.trace).toBeUndefined();
    expect(after.find(({ key }) => key === nodeKey(3))?.trace).toBeDefined();
    for (const { provenance, compositeScore } of after) {
      expect(replayScore(provenance)).toBe(compositeScore);
    }
  });

  test("change no order when no score rises", () => {
    const close = [turn(2, 0.9, "lake"), turn(1, 0.9, "lake")];

    expect(routed(close, "lake")).toMatchObject({ changed: false, marked: [1, 2] });
    expect(routed(close, "lake").ranking.map(({ key }) => key)).toEqual(nodeKeys(2, 1));
  });
});
