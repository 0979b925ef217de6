import { describe, expect, test } from "bun:test";
import { EPISTEMIC_WEIGHTS } from "../../../src/domain/epistemics.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { Fusion, ScoringWeights } from "../../../src/domain/scoring.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import type { Candidate } from "../../../src/engine/retrieve/candidates.ts";
import type { ScoreContext, ScoredQuestion } from "../../../src/engine/retrieve/score/pool.ts";
import { score } from "../../../src/engine/retrieve/score/score.ts";
import { asInstant, type Instant } from "../../../src/lib/instant.ts";
import { at, freshId } from "../../contract/samples.ts";
import { thrown } from "../../domain/thrown.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { aCandidate, RANK_FUSION, type Signals, WEIGHTS } from "./pool.ts";

const BOOSTS = { recencyBoost: 0.25, tieBreak: "event_time" } as const;
const RELATIVE: ScoringWeights = {
  ...WEIGHTS,
  fusion: { kind: "relative", semanticShare: 0.6, ...BOOSTS },
};

function plain(fusion: Fusion): ScoringWeights {
  if (fusion.kind === "weighted") return { ...WEIGHTS, fusion };
  return { ...WEIGHTS, fusion: { ...fusion, recencyBoost: undefined, tieBreak: undefined } };
}

function day(date: string): Instant {
  return asInstant(`${date}T00:00:00.000000Z`);
}

/** All times of a memory on one day. */
function on(date: string) {
  return { createdAt: day(date), updatedAt: day(date), lastReinforcedAt: day(date) };
}

function context(
  weights: ScoringWeights,
  question: string | Partial<ScoredQuestion> = "API region",
  more: Partial<ScoreContext> = {},
): ScoreContext {
  const given = typeof question === "string" ? { query: question } : question;
  return {
    weights,
    epistemicWeights: EPISTEMIC_WEIGHTS,
    analysis: {
      query: "API region",
      intent: "semantic",
      isAggregation: false,
      timeFrom: undefined,
      timeTo: undefined,
      ...given,
    },
    referenceTime: day("2026-03-18"),
    multipliers: undefined,
    ...more,
  };
}

function scores(ranking: readonly ResultCandidate[]): (readonly [string, number])[] {
  return ranking.map(({ node, compositeScore }) => [node.content, compositeScore]);
}

function only(ranking: readonly ResultCandidate[], key = 1): ResultCandidate {
  const found = ranking.find((candidate) => candidate.key === key);
  if (found === undefined) throw new Error(`no candidate ${key}`);
  return found;
}

function ranksOf({ provenance: { fusion } }: ResultCandidate) {
  if (fusion?.kind !== "rrf") throw new Error("no record of rank fusion");
  return fusion;
}

function sharesOf({ provenance: { fusion } }: ResultCandidate) {
  if (fusion?.kind !== "relative") throw new Error("no record of relative fusion");
  return fusion;
}

const EAST = "The API region is east";
const WEST = "The API region changed to west";
const POLICY = "API region policy";
const NOW = "What is the current API region?";

/** Five memories: both channels twice, one channel each, none. */
function regions(): Candidate[] {
  return [
    aCandidate(1, { semantic: 0.8, lexical: 1 }, { content: EAST, ...on("2026-03-08") }),
    aCandidate(2, { semantic: 0.7, lexical: 0.5 }, { content: WEST, ...on("2026-03-16") }),
    aCandidate(3, { semantic: 0.3 }, { content: "Lunch menu", ...on("2026-03-17") }),
    aCandidate(4, { lexical: 0 }, { content: POLICY, nodeType: "fact", ...on("2026-03-13") }),
    aCandidate(5, {}, { content: "Pinned thing", ...on("2026-03-17") }),
  ];
}

describe("five memories about an API region", () => {
  const worked: readonly {
    readonly name: string;
    readonly query: string;
    readonly weights: ScoringWeights;
    readonly expected: ReturnType<typeof scores>;
  }[] = [
    {
      name: "a question about the present under rank fusion",
      query: NOW,
      weights: RANK_FUSION,
      expected: [
        [WEST, 0.8555399718975],
        [EAST, 0.8065440263925],
        [POLICY, 0.466575517395],
        ["Lunch menu", 0.4209799862],
        ["Pinned thing", 0],
      ],
    },
    {
      name: "a plain question under rank fusion",
      query: "API region",
      weights: RANK_FUSION,
      expected: [
        [EAST, 0.8695652173925],
        [WEST, 0.8555399718975],
        [POLICY, 0.484126984095],
        ["Lunch menu", 0.4209799862],
        ["Pinned thing", 0],
      ],
    },
    {
      name: "a plain question under the weighted sum",
      query: "API region",
      weights: WEIGHTS,
      expected: [
        [EAST, 0.5592510928],
        [WEST, 0.492068031],
        ["Lunch menu", 0.3],
        [POLICY, 0],
        ["Pinned thing", 0],
      ],
    },
    {
      name: "a question about the present under the weighted sum",
      query: NOW,
      weights: WEIGHTS,
      expected: [
        [WEST, 0.5450969815],
        [EAST, 0.5120316592],
        ["Lunch menu", 0.3],
        [POLICY, 0],
        ["Pinned thing", 0],
      ],
    },
  ];
  test.each([...worked])("get the worked scores of $name", ({ query, weights, expected }) => {
    expect(scores(score(regions(), context(weights, query)))).toEqual(expected);
  });

  test("carry what each source said of them", () => {
    const ranking = score(regions(), context(RANK_FUSION));

    expect(only(ranking, 1)).toMatchObject({
      paths: ["VECTOR", "LEXICAL"],
      pathCount: 2,
      pathScore: 2 / 3,
      semanticScore: 0.8,
      lexicalScore: 1,
      semanticRelevance: 0.8,
      conflictFlag: false,
    });
    expect(only(ranking, 4)).toMatchObject({ semanticScore: undefined, semanticRelevance: 0 });
    expect(only(ranking, 5)).toMatchObject({ pathCount: 0, pathScore: 0, lexicalScore: undefined });
  });
});

test("no candidates get no scores", () => {
  expect(score([], context(RANK_FUSION))).toEqual([]);
});

describe("rank fusion", () => {
  const unboosted = plain(RANK_FUSION.fusion);

  test("takes the channels from the signals, whatever source found the memory", () => {
    const pool = [
      { ...aCandidate(1, { semantic: 0.9, lexical: 0.4 }), paths: ["LEXICAL"] as const },
      { ...aCandidate(2, { graph: 1 }), paths: ["GRAPH"] as const },
    ];

    const ranking = score(pool, context(unboosted));

    expect(ranksOf(only(ranking, 1))).toMatchObject({ semanticRank: 1, lexicalRank: 1 });
    expect(ranksOf(only(ranking, 2)).semanticRank).toBeUndefined();
    expect(only(ranking, 2)).toMatchObject({ compositeScore: 0, graphProximity: 1 });
  });

  test("counts a negative cosine as 0, still on the channel", () => {
    const ranking = score([aCandidate(1, { semantic: -0.2 })], context(unboosted));

    expect(ranking[0]).toMatchObject({
      semanticScore: 0,
      semanticRelevance: 0,
      compositeScore: 0.5,
    });
  });

  test("weighs what is known relative to the best known of the pool", () => {
    const met = { epistemicType: "conditional", metadata: { condition_state: "true" } } as const;
    const pool = [
      aCandidate(1, { semantic: 0.9, lexical: 1 }, { epistemicType: "inferred" }),
      aCandidate(2, { semantic: 0.8, lexical: 0.9 }, { epistemicType: "observed" }),
      aCandidate(3, { semantic: 0.7, lexical: 0.8 }, met),
    ];

    const ranking = score(pool, context(unboosted));

    expect(ranking.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [2, 0.9838709677],
      [3, 0.8714285714],
      [1, 0.7],
    ]);
    expect(ranking.map(({ trace }) => trace?.epistemicWeight)).toEqual([1, 0.9, 0.7]);
  });

  test("does not look for the largest factor among what no channel holds", () => {
    const pool = [
      aCandidate(1, { semantic: 0.9 }),
      aCandidate(2, { graph: 1 }, { nodeType: "fact", epistemicType: "observed" }),
    ];

    const ranking = score(pool, context(unboosted));

    expect(ranksOf(only(ranking, 1))).toMatchObject({
      epistemicFactor: 1,
      nodeTypeFactor: 1,
    });
    expect(ranksOf(only(ranking, 2)).nodeTypeFactor).toBe(1);
  });

  test("scores nothing where every weight is zero", () => {
    const zero = context(unboosted, "API region", { epistemicWeights: { asserted: 0 } });

    expect(score([aCandidate(1, { semantic: 1 })], zero)[0]?.compositeScore).toBe(0);
  });

  test("reads neither decay nor weights", () => {
    const old = { ...on("2020-01-01"), confidenceBase: 0.1, salienceBase: 0 };
    const ranking = score([aCandidate(1, { semantic: 0.9, lexical: 1 }, old)], context(unboosted));

    expect(ranking[0]?.compositeScore).toBe(1);
    expect(ranking[0]?.trace).toMatchObject({ salience: 0, confidence: 0, recencyFactor: 0 });
  });

  test("prefers the newest on a question about the present, and twice as much a change", () => {
    const dates = ["2026-03-18", "2026-03-04", "2026-03-04"];
    const contents = ["It is blue.", "It is red.", "It changed to green."];
    const pool = dates.map((date, index) =>
      aCandidate(index + 1, { semantic: 0.5 }, { content: contents[index] ?? "", ...on(date) }),
    );

    const ranking = score(pool, context(RANK_FUSION, "What is the current colour?"));

    // e^-0.7 is just below one half, so that a change of two weeks ago is nearly as good as new.
    expect(only(ranking, 1).trace?.recencyFactor).toBe(1);
    expect(only(ranking, 2).trace?.recencyFactor).toBeCloseTo(Math.exp(-0.7), 12);
    expect(only(ranking, 3).trace?.recencyFactor).toBeCloseTo(2 * Math.exp(-0.7), 12);
    expect(ranking.map(({ key }) => key)).toEqual(nodeKeys(1, 3, 2));
  });
});

describe("adaptive fusion", () => {
  const adaptive = {
    kind: "adaptive" as const,
    semanticShare: 0.6,
    fullCoverage: 0.5,
    recencyBoost: undefined,
    tieBreak: undefined,
  };
  const asked = context({ ...WEIGHTS, fusion: adaptive });
  const pool = (coverage: number) => [
    aCandidate(1, { semantic: 0.9 }),
    aCandidate(2, { semantic: 0.7, lexical: 1, coverage }),
    aCandidate(3, { semantic: 0.5, lexical: 0.2, coverage: coverage / 2 }),
  ];
  const scores = (coverage: number) =>
    score(pool(coverage), asked).map(({ key, compositeScore }) => [key, compositeScore]);

  test("gives words their whole share where they explain the question", () => {
    for (const coverage of [0.5, 0.9]) {
      expect(scores(coverage)).toEqual([
        [2, 0.7],
        [1, 0.6],
        [3, 0.08],
      ]);
    }
  });

  test("gives words the less the less they explain, and the cosine the rest", () => {
    // A fifth of the coverage that counts in full: 0.08 beside 0.6.
    expect(scores(0.1)).toEqual([
      [1, 0.8823529412],
      [2, 0.5588235294],
      [3, 0.0235294118],
    ]);
    expect(scores(0)).toEqual([
      [1, 1],
      [2, 0.5],
      [3, 0],
    ]);
  });

  test("records what the best hit of the pool explains with every candidate", () => {
    const records = score(pool(0.25), asked).map(({ provenance }) => provenance);
    expect(records.map(({ fusion }) => fusion)).toMatchObject([
      { kind: "adaptive", coverage: 0.25, semantic: 1, lexical: undefined },
      { kind: "adaptive", coverage: 0.25, lexical: 1 },
      { kind: "adaptive", coverage: 0.25, semantic: 0, lexical: 0.2 },
    ]);
    expect(records.map(({ formulaVersion }) => formulaVersion)).toEqual([4, 4, 4]);
  });

  test("gives words the more the more surely they point to a few memories", () => {
    const sure = (certainty: number) => [
      aCandidate(1, { semantic: 0.9 }),
      aCandidate(2, { semantic: 0.5, lexical: 1, coverage: 0.1, certainty }),
    ];
    const ranking = (certainty: number) =>
      score(sure(certainty), asked).map(({ key, compositeScore }) => [key, compositeScore]);
    // 0.08 for the words beside 0.6.
    expect(ranking(0)).toEqual([
      [1, 0.8823529412],
      [2, 0.1176470588],
    ]);
    // Half of 0.4 beside five eighths of 0.6.
    expect(ranking(0.5)).toEqual([
      [1, 0.652173913],
      [2, 0.347826087],
    ]);
    // The whole 0.4 beside a quarter of 0.6.
    expect(ranking(1)).toEqual([
      [2, 0.7272727273],
      [1, 0.2727272727],
    ]);
  });

  test("without any cosine, is the order of the words, however little they explain", () => {
    const words = [
      aCandidate(1, { lexical: 0.5, coverage: 0.01 }),
      aCandidate(2, { lexical: 1, coverage: 0.02 }),
    ];
    expect(score(words, asked).map(({ key }) => Number(key))).toEqual([2, 1]);
  });
});

describe("relative fusion", () => {
  const unboosted = plain(RELATIVE.fusion);

  test("rescales cosines over the pool and words by the best of the pool", () => {
    const pool = [
      aCandidate(1, { semantic: 0.9, lexical: 0.4 }),
      aCandidate(2, { semantic: 0.6, lexical: 0.8 }),
      aCandidate(3, { semantic: 0.5 }),
      aCandidate(4, { lexical: 0.2 }),
    ];

    const ranking = score(pool, context(unboosted));

    expect(sharesOf(only(ranking, 1))).toMatchObject({ semantic: 1, lexical: 0.5 });
    expect(sharesOf(only(ranking, 2)).semantic).toBeCloseTo(0.25, 12);
    expect(sharesOf(only(ranking, 2)).lexical).toBe(1);
    expect(sharesOf(only(ranking, 3))).toMatchObject({ semantic: 0 });
    expect(sharesOf(only(ranking, 3)).lexical).toBeUndefined();
    expect(ranking.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 0.8],
      [2, 0.55],
      [4, 0.1],
      [3, 0],
    ]);
    expect(new Set(ranking.map(({ provenance }) => provenance.formulaVersion))).toEqual(
      new Set([3]),
    );
  });

  test("gives equal cosines, and a single one, the whole share", () => {
    const equal = [aCandidate(1, { semantic: 0.4 }), aCandidate(2, { semantic: 0.4 })];

    for (const pool of [equal, equal.slice(1)]) {
      for (const { compositeScore } of score(pool, context(unboosted))) {
        expect(compositeScore).toBe(0.6);
      }
    }
  });

  test("gives words nothing where the largest BM25 is 0", () => {
    const ranking = score([aCandidate(1, { lexical: 0 })], context(unboosted));

    expect(sharesOf(only(ranking)).lexical).toBe(0);
    expect(ranking[0]?.compositeScore).toBe(0);
  });

  test("has the factors, the tie-break and the recency boost of rank fusion", () => {
    const ranked = score(regions(), context(RANK_FUSION, NOW));
    const rescaled = score(regions(), context(RELATIVE, NOW));

    for (const { key, provenance, compositeScore } of rescaled) {
      const { semanticRank, lexicalRank, kind, tieBreak, ...factors } = ranksOf(only(ranked, key));
      expect(provenance.fusion).toMatchObject(factors);
      expect(provenance.fusion?.tieBreak).toBe(compositeScore > 0 ? tieBreak : 0);
    }
  });
});

describe("equal scores", () => {
  test.each([
    { name: "rank fusion", weights: RANK_FUSION },
    { name: "relative fusion", weights: RELATIVE },
  ])("are ordered newest first by stated time under $name, where that is wanted", ({ weights }) => {
    const pool = [
      aCandidate(1, { semantic: 0.5 }, { createdAt: at(9), eventTime: at(1) }),
      aCandidate(2, { semantic: 0.5 }, { createdAt: at(5) }),
      aCandidate(3, { semantic: 0.5 }, { createdAt: at(2), eventTime: at(7) }),
    ];

    const ranking = score(pool, context(weights));

    expect(ranking.map(({ key }) => key)).toEqual(nodeKeys(3, 2, 1));
    const last = ranking[2]?.compositeScore ?? 0;
    expect((ranking[0]?.compositeScore ?? 0) - last).toBeCloseTo((2 / 3) * 1e-11, 15);
    const untied = score(pool, context(plain(weights.fusion)));
    expect(new Set(untied.map(({ compositeScore }) => compositeScore)).size).toBe(1);
  });

  test("are ordered by how many sources agree, then by id", () => {
    const [low, high] = [freshId(), freshId()];
    const pool = [
      aCandidate(1, { semantic: 0.5 }, { id: high }),
      aCandidate(2, { semantic: 0.5 }, { id: low }),
      aCandidate(3, { semantic: 0.5, graph: 1 }),
    ];
    const rules = context(plain(RANK_FUSION.fusion));

    expect(score(pool, rules).map(({ key }) => key)).toEqual(nodeKeys(3, 2, 1));
    expect(score(pool.toReversed(), rules).map(({ key }) => key)).toEqual(nodeKeys(3, 2, 1));
  });

  test("of 0 get no tie-break", () => {
    const ranking = score(
      [aCandidate(1, {}), aCandidate(2, { semantic: 1 })],
      context(RANK_FUSION),
    );

    expect(ranksOf(only(ranking, 1)).tieBreak).toBe(0);
    expect(only(ranking, 1).compositeScore).toBe(0);
  });
});

describe("the weighted sum", () => {
  const pool = () => [aCandidate(1, { semantic: 0.6, lexical: 0.5 }, on("2026-03-18"))];
  const weightsOf = (question: Partial<ScoredQuestion>, more: Partial<ScoreContext> = {}) =>
    only(score(pool(), context(WEIGHTS, question, more))).provenance.weights;

  test("reads every signal, the kind of knowledge and the type", () => {
    const candidate = aCandidate(
      1,
      { semantic: 0.5, lexical: 0.4, graph: 0.7 },
      { ...on("2026-03-18"), nodeType: "fact", epistemicType: "observed" },
    );

    const [result] = score([candidate], context(WEIGHTS));

    const sum = 0.3 * 0.5 + 0.15 * 0.4 + 0.2 * 0.7 + 0.1 * 1 + 0.1 * 0.5 + 0.15 * 0.8;
    expect(result?.compositeScore).toBeCloseTo(sum * 1.15, 10);
    expect(result?.provenance).toMatchObject({ formulaVersion: 1, fusion: undefined });
    expect(result?.trace).toMatchObject({ recencyFactor: 1, salience: 0.5, confidence: 0.8 });
  });

  test("limits a score to the relevance below the floor, and not at it", () => {
    const rule = { semantic: 0.2, lexical: 0.1, graph: 1 } satisfies Signals;
    const at035 = { semantic: 0.25, lexical: 0.1, graph: 1 } satisfies Signals;
    const unlimited = { ...WEIGHTS, relevanceFloor: 0 };

    const [below] = score([aCandidate(1, rule, on("2026-03-18"))], context(WEIGHTS));
    const [free] = score([aCandidate(1, rule, on("2026-03-18"))], context(unlimited));
    const [level] = score([aCandidate(1, at035, on("2026-03-18"))], context(WEIGHTS));

    expect(below?.compositeScore).toBe(0.3);
    expect(free?.compositeScore).toBe(0.4905);
    expect(level?.compositeScore).toBe(0.504);
  });

  test("adds temporal affinity to questions about time only", () => {
    const dated = aCandidate(
      1,
      { semantic: 0.6, lexical: 0.5 },
      { content: "Lunch on 3 May", ...on("2026-03-18"), eventTime: day("2026-03-08") },
    );
    const window = { timeFrom: day("2026-03-18"), timeTo: day("2026-03-20") };
    const asked = (intent: ScoredQuestion["intent"], weights = WEIGHTS) =>
      only(score([dated], context(weights, { intent, ...window })));

    const affinity = 0.3 + 0.7 * Math.exp(-0.2);
    expect(asked("temporal").trace?.temporalAffinity).toBeCloseTo(affinity, 12);
    expect(asked("temporal").compositeScore - asked("semantic").compositeScore).toBeCloseTo(
      0.15 * affinity,
      9,
    );
    expect(asked("factual").trace?.temporalAffinity).toBe(0);
    expect(asked("temporal", { ...WEIGHTS, temporalBoost: -1 }).compositeScore).toBe(
      asked("semantic").compositeScore,
    );
  });

  test("keeps its weights on a plain question", () => {
    expect(weightsOf({ query: "API region" })).toEqual(WEIGHTS);
  });

  test("raises recency to 0.25 on a question about the present, at the cost of words and meaning", () => {
    const shifted = weightsOf({ query: NOW });

    expect(shifted.recency).toBe(0.25);
    expect(shifted.recencyLambda).toBe(0.05);
    expect(shifted.semantic).toBeCloseTo(0.2, 12);
    expect(shifted.lexical).toBeCloseTo(0.1, 12);
  });

  test("raises recency to 0.20 on a question about something recent", () => {
    const shifted = weightsOf({ query: "Which restaurant did I mention recently?" });

    expect(shifted.recency).toBeCloseTo(0.2, 12);
    expect(shifted.recencyLambda).toBe(0.02);
    expect(shifted.semantic + shifted.lexical).toBeCloseTo(0.35, 12);
    expect(shifted.semantic / shifted.lexical).toBeCloseTo(2, 12);
  });

  test("takes no more from words and meaning than they hold", () => {
    const graph = { ...WEIGHTS, semantic: 0.06, lexical: 0.03, graph: 0.56 };

    const [result] = score(pool(), context(graph, NOW));

    expect(result?.provenance.weights.semantic).toBeCloseTo(0, 15);
    expect(result?.provenance.weights.lexical).toBeCloseTo(0, 15);
    expect(result?.provenance.weights.recency).toBeCloseTo(0.19, 12);
  });

  test.each([
    {
      name: "recency weighs enough already",
      weights: { ...WEIGHTS, semantic: 0.2, lexical: 0.1, recency: 0.25 },
    },
    {
      name: "words and meaning weigh nothing",
      weights: { ...WEIGHTS, semantic: 0, lexical: 0, graph: 0.65 },
    },
  ])("shifts nothing where $name", ({ weights }) => {
    expect(only(score(pool(), context(weights, NOW))).provenance.weights).toEqual(weights);
  });

  test("lets meaning alone decide which member of a class is asked for", () => {
    const shifted = weightsOf({ query: "What database does the team use?" });

    expect(shifted.semantic).toBeCloseTo(0.45, 12);
    expect(shifted.lexical).toBe(0);
  });

  test("keeps the words for such a question when a memory speaks of a change", () => {
    const changed = aCandidate(2, { semantic: 0.5 }, { content: WEST, ...on("2026-03-10") });
    const question = context(WEIGHTS, "What database does the team use?");

    const shifted = only(score([...pool(), changed], question)).provenance.weights;

    // With a change in the pool it is a question about the present.
    expect(shifted).toMatchObject({ recency: 0.25, recencyLambda: 0.05 });
    expect(shifted.lexical).toBeCloseTo(0.1, 12);
  });

  test("multiplies its weights by the factors of the request, to a sum of 1", () => {
    const multipliers = {
      semantic: 2,
      lexical: 1,
      graph: 0.25,
      recency: 1,
      salience: 1,
      confidence: 1,
    };

    const shifted = weightsOf({}, { multipliers });

    expect(shifted.semantic).toBeCloseTo(0.6 / 1.15, 12);
    expect(shifted.graph).toBeCloseTo(0.05 / 1.15, 12);
    expect(shifted.confidence).toBeCloseTo(0.15 / 1.15, 12);
  });

  test("looks at the last change, or at the stated time where the settings say so", () => {
    const moved = { createdAt: day("2026-03-01"), updatedAt: day("2026-03-08") };
    const candidate = aCandidate(
      1,
      { semantic: 0.6 },
      { ...on("2026-03-18"), ...moved, eventTime: day("2026-02-26") },
    );
    const byEvent: ScoringWeights = {
      ...WEIGHTS,
      fusion: { kind: "weighted", recencyTime: "event_time" },
    };
    const factor = (weights: ScoringWeights) =>
      only(score([candidate], context(weights))).trace?.recencyFactor;

    expect(factor(WEIGHTS)).toBeCloseTo(Math.exp(-0.2), 12);
    expect(factor(byEvent)).toBeCloseTo(Math.exp(-0.4), 12);
  });
});

describe("the boost of a current update", () => {
  const update = (signals: Signals, more = {}) =>
    aCandidate(1, signals, { content: WEST, ...on("2026-03-16"), ...more });
  const older = () =>
    aCandidate(2, { semantic: 0.8, lexical: 1 }, { content: EAST, ...on("2026-03-08") });
  const strong = { semantic: 0.7, lexical: 0.5 };

  test.each([
    { name: "rank fusion", weights: RANK_FUSION },
    { name: "relative fusion", weights: RELATIVE },
    { name: "the weighted sum", weights: WEIGHTS },
  ])("raises the newest change under $name", ({ weights }) => {
    const result = only(score([update(strong), older()], context(weights, NOW)));
    const base = result.trace?.compositeScore ?? 0;

    expect(result.provenance.adjustments).toEqual([
      {
        kind: "current_update",
        coefficient: 1.3,
        neuralScore: undefined,
        sourceNodeId: undefined,
      },
    ]);
    expect(result.compositeScore).toBe(base * 1.3);
    expect(replayScore(result.provenance)).toBe(result.compositeScore);
  });

  test.each([
    { name: "a newer memory speaks of no change", date: "2026-03-17", query: NOW },
    { name: "the question is not about the present", date: "2026-03-01", query: "API region" },
    {
      name: "the question is about an earlier state",
      date: "2026-03-01",
      query: "What was the API region before the current one?",
    },
  ])("does not come when $name", ({ date, query }) => {
    const other = aCandidate(3, {}, { content: "Pinned thing", ...on(date) });

    for (const weights of [RANK_FUSION, RELATIVE, WEIGHTS]) {
      const ranking = score([update(strong), older(), other], context(weights, query));
      expect(ranking.flatMap(({ provenance }) => provenance.adjustments)).toEqual([]);
    }
  });

  test("comes to every change of the newest moment", () => {
    const twins = [update(strong), { ...update(strong), key: nodeKey(3) }];

    const ranking = score(twins, context(RANK_FUSION, NOW));

    expect(ranking.map(({ provenance }) => provenance.adjustments.length)).toEqual([1, 1]);
  });

  test("does not come to the newest memory where that speaks of no change", () => {
    const newest = aCandidate(3, strong, { content: EAST, ...on("2026-03-17") });

    for (const weights of [RANK_FUSION, RELATIVE, WEIGHTS]) {
      const ranking = score([update(strong), newest], context(weights, NOW));
      expect(ranking.flatMap(({ provenance }) => provenance.adjustments)).toEqual([]);
    }
  });

  test("goes by the time of the event before the last change", () => {
    const happened = { content: EAST, ...on("2026-03-01"), eventTime: day("2026-03-17") };
    const ahead = aCandidate(3, strong, happened);

    for (const weights of [RANK_FUSION, WEIGHTS]) {
      const ranking = score([update(strong), ahead], context(weights, NOW));
      expect(only(ranking).provenance.adjustments).toEqual([]);
    }
  });

  test("is off at a multiplier of 1", () => {
    const off = { ...RANK_FUSION, currentUpdateMultiplier: 1 };

    expect(only(score([update(strong)], context(off, NOW))).provenance.adjustments).toEqual([]);
  });

  test("goes by the last change, under event time by the stated time", () => {
    const byEvent: ScoringWeights = {
      ...WEIGHTS,
      fusion: { kind: "weighted", recencyTime: "event_time" },
    };
    const touched = { ...older(), node: { ...older().node, updatedAt: day("2026-03-17") } };
    const boosted = (weights: ScoringWeights) =>
      only(score([update(strong), touched], context(weights, NOW))).provenance.adjustments.length;

    expect(boosted(WEIGHTS)).toBe(0);
    expect(boosted(byEvent)).toBe(1);
  });

  test("does not come below the relevance floor under a fusion of channels", () => {
    const weak = update({ semantic: 0.3, lexical: 0 });

    for (const weights of [RANK_FUSION, RELATIVE]) {
      expect(only(score([weak], context(weights, NOW))).provenance.adjustments).toEqual([]);
      const floorless = { ...weights, relevanceFloor: 0 };
      expect(only(score([weak], context(floorless, NOW))).provenance.adjustments.length).toBe(1);
    }
  });

  test("does not come below that floor to a score below its relevance either", () => {
    const doubted = update({ semantic: 0.3, lexical: 0 }, { epistemicType: "deprecated" });
    const known = aCandidate(2, { semantic: 0.2 }, { ...on("2026-03-01") });

    const { compositeScore, provenance } = only(score([doubted, known], context(RANK_FUSION, NOW)));

    expect(compositeScore).toBeLessThan(0.2);
    expect(provenance.adjustments).toEqual([]);
  });

  test("ends at the relevance below the floor under the weighted sum", () => {
    const faded = {
      salienceBase: 0,
      confidenceBase: 0,
      epistemicType: "unverified",
    } as const;
    const weak = update({ semantic: 0.15, lexical: 0 }, faded);

    const { trace, compositeScore, provenance } = only(score([weak], context(WEIGHTS, NOW)));

    expect(trace?.compositeScore).toBeCloseTo(0.14, 10);
    expect(compositeScore).toBeCloseTo(0.15, 12);
    expect(provenance.adjustments[0]?.coefficient).toBeCloseTo(0.15 / 0.14, 10);
  });
});

describe("a question about the present", () => {
  const boosts = (question: Partial<ScoredQuestion>, contents: readonly string[]) => {
    const pool = contents.map((content, index) =>
      aCandidate(index + 1, { semantic: 0.5 }, { content, ...on("2026-03-16") }),
    );
    return score(pool, context(RANK_FUSION, question)).some(
      ({ trace }) => trace?.recencyFactor !== 0,
    );
  };

  test.each([
    { name: "says so", question: { query: NOW }, is: true },
    {
      name: "says so with the intent of time",
      question: { query: NOW, intent: "temporal" },
      is: true,
    },
    { name: "asks for a count", question: { query: NOW, isAggregation: true }, is: false },
    {
      name: "is in the present tense, without a change",
      question: { query: "Who is our CTO?" },
      is: false,
    },
    {
      name: "says so in the present tense, without a change",
      question: { query: "Who is our current CTO?" },
      is: false,
    },
    {
      name: "is in the present tense with the intent of time",
      question: { query: "Who is our CTO?", intent: "temporal" },
      contents: [WEST],
      is: false,
    },
    {
      name: "is in the present tense, with a change",
      question: { query: "Who is our CTO?" },
      contents: [EAST, WEST],
      is: true,
    },
  ] as const)("is one that $name: $is", ({ question, is, ...rest }) => {
    expect(boosts(question, "contents" in rest ? rest.contents : [EAST])).toBe(is);
  });
});

describe("what cannot be scored", () => {
  test.each([
    { name: "semantic", signals: { semantic: Number.NaN } },
    { name: "lexical", signals: { lexical: Number.POSITIVE_INFINITY } },
  ])("is a $name signal that is no finite number", ({ name, signals }) => {
    const candidate = aCandidate(1, signals);

    const error = thrown(() => score([candidate], context(RANK_FUSION)));

    expect(error).toMatchObject({
      code: "internal",
      data: { signal: name, node_id: candidate.node.id },
    });
  });

  test("is a graph signal that is no finite number", () => {
    const candidate = { ...aCandidate(1, {}), graph: Number.NaN };

    expect(thrown(() => score([candidate], context(WEIGHTS)))).toMatchObject({ code: "internal" });
  });

  test("is a negative weight of a kind of knowledge", () => {
    const negative = context(RANK_FUSION, "API region", { epistemicWeights: { observed: -0.1 } });

    expect(thrown(() => score([], negative))).toMatchObject({
      code: "invalid_argument",
      data: { field: "epistemicWeights.observed" },
    });
  });
});

test("what a person said comes first when the question names that person", () => {
  const said = (speaker: string) => ({ metadata: { svc_speaker_v1: speaker } });
  const pool = [
    aCandidate(1, { semantic: 0.62, lexical: 0.62 }, said("Ann Lee")),
    aCandidate(2, { semantic: 0.6, lexical: 0.6 }, said("Bob")),
  ];
  const ask = (query: string) =>
    score(pool, context(RANK_FUSION, query)).map(({ key, provenance }) => [
      key,
      provenance.fusion?.speakerFactor,
    ]);
  expect(ask("Which car did he buy?")).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
  expect(ask("Which car did Bob buy?")).toEqual([
    [2, 1],
    [1, 1 / 1.15],
  ]);
});
