import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { competitionRanks, type ScoreRules, score } from "../../../src/engine/retrieve/score.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { at, freshId } from "../../contract/samples.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";
import { aCandidate } from "./pool.ts";

const RULES: ScoreRules = {
  scoring: { ...DEFAULT_SETTINGS.scoring, rrfK: 60, rrfTieBreak: "event_time", nodeTypeBoost: {} },
  epistemicWeights: DEFAULT_SETTINGS.epistemicWeights,
};
const NO_TIES: ScoreRules = { ...RULES, scoring: { ...RULES.scoring, rrfTieBreak: undefined } };

function day(date: string) {
  return asInstant(`${date}T00:00:00.000000Z`);
}

describe("competition ranks", () => {
  test("give equal signals the better rank and skip the places they take", () => {
    const items = [0.9, 0.5, 0.5, 0.1].map((signal, key) => ({ key, signal }));

    expect([...competitionRanks(items, ({ signal }) => signal)]).toEqual([
      [0, 1],
      [1, 2],
      [2, 2],
      [3, 4],
    ]);
  });

  test("leave out what has no signal, and count zero as one", () => {
    const items = [undefined, 0, 1].map((signal, key) => ({ key, signal }));

    expect([...competitionRanks(items, ({ signal }) => signal)]).toEqual([
      [2, 1],
      [1, 2],
    ]);
  });
});

describe("rank fusion", () => {
  test("gives the worked values of four memories about an API region", () => {
    const pool = [
      aCandidate(1, { semantic: 0.8, lexical: 1 }, { content: "A", createdAt: day("2026-03-08") }),
      aCandidate(
        2,
        { semantic: 0.7, lexical: 0.5 },
        { content: "B", createdAt: day("2026-03-16") },
      ),
      aCandidate(3, { semantic: 0.3 }, { content: "C", createdAt: day("2026-03-17") }),
      aCandidate(
        4,
        { lexical: 0 },
        { content: "D", createdAt: day("2026-03-13"), nodeType: "fact" },
      ),
    ];

    const ranking = score(pool, {
      ...RULES,
      scoring: DEFAULT_SETTINGS.scoring,
    });

    expect(ranking.map(({ node, compositeScore }) => [node.content, compositeScore])).toEqual([
      ["A", 0.8695652173925],
      ["B", 0.8555399718975],
      ["D", 0.484126984095],
      ["C", 0.4209799862],
    ]);
  });

  test("gives 1 to the first of both lists, at most one half to the first of one", () => {
    const ranking = score(
      [
        aCandidate(1, { semantic: 0.9, lexical: 1 }),
        aCandidate(2, { semantic: 0.8 }),
        aCandidate(3, { lexical: 0.8 }),
      ],
      NO_TIES,
    );

    expect(ranking.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 1],
      [2, 0.4919354839],
      [3, 0.4919354839],
    ]);
  });

  test("gives nothing to what no search found", () => {
    expect(score([aCandidate(1, {})], RULES)).toEqual([]);
    expect(score([], RULES)).toEqual([]);
  });

  test("weighs what is known relative to the best known of the pool", () => {
    const pool = [
      aCandidate(1, { semantic: 0.9, lexical: 1 }, { epistemicType: "inferred" }),
      aCandidate(2, { semantic: 0.8, lexical: 0.9 }, { epistemicType: "observed" }),
      aCandidate(
        3,
        { semantic: 0.7, lexical: 0.8 },
        { epistemicType: "conditional", metadata: { condition_state: "true" } },
      ),
    ];

    const ranking = score(pool, NO_TIES);

    expect(ranking.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [2, 0.9838709677],
      [3, 0.8714285714],
      [1, 0.7],
    ]);
    expect(ranking.map(({ trace }) => trace?.epistemicWeight)).toEqual([1, 0.9, 0.7]);
  });

  test("weighs types relative to the most favoured type of the pool", () => {
    const boosted: ScoreRules = {
      ...NO_TIES,
      scoring: { ...NO_TIES.scoring, nodeTypeBoost: { fact: 2, note: 1 } },
    };
    const pool = [
      aCandidate(1, { semantic: 0.9, lexical: 1 }),
      aCandidate(2, { semantic: 0.8, lexical: 0.9 }, { nodeType: "fact" }),
    ];

    expect(score(pool, boosted).map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [2, 0.9838709677],
      [1, 0.5],
    ]);
  });

  test("scores nothing where every weight is zero", () => {
    const zero: ScoreRules = { ...RULES, epistemicWeights: { asserted: 0 } };

    expect(score([aCandidate(1, { semantic: 1 })], zero)[0]?.compositeScore).toBe(0);
  });

  test("orders equal scores newest first by stated time where that is wanted", () => {
    const pool = [
      aCandidate(1, { semantic: 0.5 }, { createdAt: at(9), eventTime: at(1) }),
      aCandidate(2, { semantic: 0.5 }, { createdAt: at(5) }),
      aCandidate(3, { semantic: 0.5 }, { createdAt: at(2), eventTime: at(7) }),
    ];

    expect(score(pool, RULES).map(({ key }) => key)).toEqual([3, 2, 1]);
    expect(new Set(score(pool, NO_TIES).map(({ compositeScore }) => compositeScore)).size).toBe(1);
  });

  test("orders equal scores by how many searches agree, then by id", () => {
    const [low, high] = [freshId(), freshId()];
    const pool = [
      aCandidate(1, { semantic: 0.5 }, { id: high }),
      aCandidate(2, { semantic: 0.5 }, { id: low }),
    ];

    expect(score(pool, NO_TIES).map(({ node }) => node.id)).toEqual([low, high]);
    expect(score([...pool].reverse(), NO_TIES).map(({ node }) => node.id)).toEqual([low, high]);
  });

  const signal = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });

  test("does not depend on the order of its input and stays within 0 and 1", () => {
    const pools = fc.uniqueArray(
      fc.record({ semantic: signal, lexical: signal, second: fc.nat(5), shuffle: fc.nat() }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(pools, (items) => {
        const pool = items.map(({ semantic, lexical, second }, index) =>
          aCandidate(
            index,
            {
              ...(semantic === undefined ? {} : { semantic }),
              ...(lexical === undefined ? {} : { lexical }),
            },
            { createdAt: at(second) },
          ),
        );
        const shuffled = pool
          .map((candidate, index) => ({ candidate, place: items[index]?.shuffle ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ candidate }) => candidate);

        const ranking = score(pool, RULES);

        expect(score(shuffled, RULES)).toEqual(ranking);
        for (const { compositeScore } of ranking) expect(compositeScore).toBeWithin(0, 1.0000001);
      }),
      { numRuns: 200, seed: 23 },
    );
  });
});
