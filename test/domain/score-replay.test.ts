import { describe, expect, test } from "bun:test";
import type {
  Adjustment,
  AdjustmentKind,
  ScoreProvenance,
  ScoreTrace,
} from "../../src/domain/records/score.ts";
import {
  applyAdjustment,
  baseScore,
  fusedScore,
  replayScore,
  roundScore,
  scoreParts,
  weightedScore,
} from "../../src/domain/score-replay.ts";
import type { FusionRecord, ScoringWeights } from "../../src/domain/scoring.ts";
import { scoringVersionId } from "../../src/domain/scoring-version.ts";
import { freshId } from "../contract/samples.ts";
import { aProvenance, WEIGHTS } from "../engine/retrieve/pool.ts";

const TRACE: ScoreTrace = {
  semanticSimilarity: 0.5,
  lexicalRelevance: 0.4,
  graphProximity: 0.7,
  recencyFactor: 0.9,
  salience: 0.5,
  confidence: 0.8,
  epistemicWeight: 0.9,
  pathScore: 1,
  temporalAffinity: 0.2,
  nodeTypeBoost: 1.15,
  compositeScore: 0.66585,
};
const WEIGHTED: ScoreProvenance = {
  formulaVersion: 1,
  baseNodeId: freshId(),
  trace: TRACE,
  weights: WEIGHTS,
  adjustments: [],
  fusion: undefined,
};
const NEUTRAL = {
  epistemicFactor: 1,
  nodeTypeFactor: 1,
  temporalFactor: 1,
  recencyBoostFactor: undefined,
  tieBreak: undefined,
} as const;
const RELATIVE: ScoringWeights["fusion"] = {
  kind: "relative",
  semanticShare: 0.6,
  recencyBoost: undefined,
  tieBreak: undefined,
};
const SHARES: FusionRecord = { kind: "relative", semantic: 0.5, lexical: 1, ...NEUTRAL };
const FUSED: ScoreProvenance = {
  ...WEIGHTED,
  formulaVersion: 3,
  trace: { ...TRACE, compositeScore: 0.7 },
  weights: { ...WEIGHTS, fusion: RELATIVE },
  fusion: SHARES,
};
const RANKED = aProvenance(freshId(), 0.4);

function step(kind: AdjustmentKind, coefficient: number, neuralScore?: number): Adjustment {
  return { kind, coefficient, neuralScore, sourceNodeId: undefined };
}

describe("rounding", () => {
  test.each([
    [0.12345678905, 0.1234567891],
    [1 / 3, 0.3333333333],
    [1e300, 1e300],
    [0, 0],
    [-0.25, -0.25],
  ])("of %p gives %p", (value, rounded) => {
    expect(roundScore(value)).toBe(rounded);
  });
});

describe("the base score", () => {
  test("of a weighted record is the sum of its signals", () => {
    // (0.15 + 0.06 + 0.14 + 0.09 + 0.05 + 0.12) * 0.9 + 0.15 * 0.2, times 1.15
    expect(baseScore(WEIGHTED)).toBe(0.66585);
    expect(weightedScore(TRACE, WEIGHTS)).toBe(0.66585);
  });

  test("of a weighted record ends at its relevance below the floor", () => {
    const trace = { ...TRACE, semanticSimilarity: 0.2, lexicalRelevance: 0.1 };

    expect(baseScore({ ...WEIGHTED, trace })).toBe(0.3);
  });

  test("of two rankings is the share of both firsts", () => {
    expect(baseScore(RANKED)).toBe(1);
    const second: FusionRecord = {
      kind: "rrf",
      semanticRank: 2,
      lexicalRank: undefined,
      ...NEUTRAL,
    };
    expect(baseScore({ ...RANKED, fusion: second })).toBe(0.4919354839);
  });

  test("of two rescaled signals is the sum of their shares", () => {
    expect(baseScore(FUSED)).toBe(0.7);
  });

  test("multiplies all factors before rounding and takes the tie-break off after it", () => {
    const record: FusionRecord = {
      ...SHARES,
      epistemicFactor: 0.9,
      nodeTypeFactor: 0.5,
      temporalFactor: 0.8,
      recencyBoostFactor: 0.7,
      tieBreak: 5e-12,
    };

    expect(fusedScore(record, RELATIVE)).toBe(0.1764 - 5e-12);
  });

  test.each([
    { name: "ranks under shares", provenance: { ...FUSED, fusion: RANKED.fusion } },
    { name: "shares under ranks", provenance: { ...RANKED, fusion: SHARES } },
    { name: "nothing under ranks", provenance: { ...RANKED, fusion: undefined } },
    { name: "shares under a weighted sum", provenance: { ...WEIGHTED, fusion: SHARES } },
  ])("of $name equals no score", ({ provenance }) => {
    expect(baseScore(provenance)).toBeNaN();
  });
});

describe("an adjustment", () => {
  test.each([
    { name: "blends what a reranker says", given: step("neural_blend", 0.3, 0.9), to: 0.78 },
    { name: "takes a rank's score", given: step("neural_rank_assignment", 0.4), to: 0.4 },
    { name: "multiplies a current update", given: step("current_update", 1.5), to: 0.75 },
    { name: "multiplies a projection", given: step("evidence_projection", 0.5), to: 0.25 },
    { name: "multiplies an augmentation", given: step("evidence_augmentation", 0.5), to: 0.25 },
    { name: "multiplies a session decay", given: step("session_decay", 0.6), to: 0.3 },
    { name: "multiplies an episode decay", given: step("episode_decay", 2), to: 1 },
  ])("$name", ({ given, to }) => {
    expect(applyAdjustment(0.5, given)).toBeCloseTo(to, 15);
  });

  test("comes after the one before it", () => {
    const adjustments = [
      step("neural_blend", 0.5, 1),
      step("session_decay", 0.5),
      step("episode_decay", 0.5),
    ];

    expect(replayScore({ ...FUSED, adjustments })).toBe((0.5 + 0.5 * 0.7) * 0.5 * 0.5);
    expect(replayScore(FUSED)).toBe(0.7);
    expect(replayScore(RANKED)).toBe(0.4);
  });
});

describe("the parts of a score", () => {
  test("leave out what brings nothing, and keep every adjustment", () => {
    const provenance: ScoreProvenance = {
      formulaVersion: 2,
      baseNodeId: freshId(),
      trace: {
        ...{ semanticSimilarity: 0.5, lexicalRelevance: 0, graphProximity: 0, recencyFactor: 1 },
        ...{ salience: 0, confidence: 0, epistemicWeight: 1, pathScore: 1, temporalAffinity: 0 },
        ...{ nodeTypeBoost: 1, compositeScore: 0.4 },
      },
      weights: {
        ...WEIGHTS,
        fusion: { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
      },
      adjustments: [
        { kind: "newer_first", coefficient: 1, neuralScore: undefined, sourceNodeId: undefined },
      ],
      fusion: {
        ...{ kind: "rrf", semanticRank: 1, lexicalRank: undefined, tieBreak: undefined },
        ...{ epistemicFactor: 0.8, nodeTypeFactor: 1, temporalFactor: 1 },
        ...{ recencyBoostFactor: undefined, speakerFactor: undefined },
      },
    };

    const { parts, steps, score } = scoreParts(provenance);
    expect(parts).toEqual([{ signal: "semantic", amount: 0.5 }]);
    expect(steps).toMatchObject([
      { kind: "epistemic", factor: 0.8, score: 0.4 },
      { kind: "newer_first", factor: 1, score: 0.4, change: 0 },
    ]);
    expect(steps[1]?.adjustment).toBe(provenance.adjustments[0]);
    expect(score).toBe(0.4);
  });

  test("of a record that contradicts its weights are no numbers, as its score", () => {
    const provenance: ScoreProvenance = {
      ...aProvenance(freshId(), 0.4),
      // A reranker that decides the place would put a number in the place of what is none.
      adjustments: [],
      weights: {
        ...WEIGHTS,
        fusion: {
          kind: "relative",
          semanticShare: 0.5,
          recencyBoost: undefined,
          tieBreak: undefined,
        },
      },
    };
    expect(scoreParts(provenance).score).toBeNaN();
  });
});

const VECTORS: readonly { name: string; fusion: ScoringWeights["fusion"]; id: string }[] = [
  { name: "weighted", fusion: { kind: "weighted", recencyTime: undefined }, id: "a90c32b87dda" },
  {
    name: "weighted by event time",
    fusion: { kind: "weighted", recencyTime: "event_time" },
    id: "7f6305d0b035",
  },
  {
    name: "rank fusion alone",
    fusion: { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
    id: "f77bcdeb50a5",
  },
  {
    name: "the defaults of the product",
    fusion: { kind: "rrf", k: 60, recencyBoost: 0.25, tieBreak: "event_time" },
    id: "011a2a9ce8e7",
  },
  {
    name: "relative fusion alone",
    fusion: {
      kind: "relative",
      semanticShare: 0.6,
      recencyBoost: undefined,
      tieBreak: undefined,
    },
    id: "c67b4c295cbc",
  },
  {
    name: "relative fusion with all options",
    fusion: { kind: "relative", semanticShare: 1, recencyBoost: 0.25, tieBreak: "event_time" },
    id: "f48c0404504d",
  },
  {
    name: "adaptive fusion",
    fusion: {
      kind: "adaptive",
      semanticShare: 0.65,
      fullCoverage: 0.5,
      recencyBoost: 0.25,
      tieBreak: "event_time",
    },
    id: "69048ac346ad",
  },
];

test.each([...VECTORS])("identifies $name as $id", ({ fusion, id }) => {
  expect(scoringVersionId({ ...WEIGHTS, fusion })).toBe(id);
});

test("does not depend on the order of the node types", () => {
  const reversed = Object.fromEntries(Object.entries(WEIGHTS.nodeTypeBoost).reverse());
  expect(scoringVersionId({ ...WEIGHTS, nodeTypeBoost: reversed })).toBe(scoringVersionId(WEIGHTS));
});

test("changes with every number", () => {
  const names = Object.entries(WEIGHTS).filter(([, value]) => typeof value === "number");
  const ids = names.map(([name, value]) =>
    scoringVersionId({ ...WEIGHTS, [name]: Number(value) + 0.01 }),
  );
  expect(new Set([...ids, scoringVersionId(WEIGHTS)]).size).toBe(names.length + 1);
});

test("changes with every option of a fusion", () => {
  const base = {
    kind: "relative",
    semanticShare: 0.6,
    recencyBoost: 0.25,
    tieBreak: undefined,
  } as const;
  const fusions: readonly ScoringWeights["fusion"][] = [
    base,
    { ...base, semanticShare: 0.7 },
    { ...base, recencyBoost: 0.5 },
    { ...base, recencyBoost: undefined },
    { ...base, tieBreak: "event_time" },
  ];

  const ids = fusions.map((fusion) => scoringVersionId({ ...WEIGHTS, fusion }));

  expect(new Set(ids).size).toBe(fusions.length);
});
