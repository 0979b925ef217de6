import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ADJUSTMENT_KINDS,
  type Adjustment,
  type ScoreProvenance,
} from "../../src/domain/records/score.ts";
import { formulaVersion, replayScore, scoreParts } from "../../src/domain/score-replay.ts";
import type { Fusion, FusionRecord } from "../../src/domain/scoring.ts";
import { freshId } from "../contract/samples.ts";
import { WEIGHTS } from "../engine/retrieve/pool.ts";

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const rank = fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined });
const share = fc.option(unit, { nil: undefined });
const boost = fc.option(fc.double({ min: 0.5, max: 2, noNaN: true }), { nil: undefined });

const trace = fc.record({
  semanticSimilarity: unit,
  lexicalRelevance: unit,
  graphProximity: fc.constantFrom(0, 0.4, 0.7, 1),
  recencyFactor: unit,
  salience: unit,
  confidence: unit,
  epistemicWeight: unit,
  pathScore: unit,
  temporalAffinity: unit,
  nodeTypeBoost: fc.double({ min: 0.5, max: 2, noNaN: true }),
  compositeScore: fc.constant(0),
});

const factors = {
  epistemicFactor: unit,
  nodeTypeFactor: unit,
  temporalFactor: unit,
  recencyBoostFactor: share,
  speakerFactor: share,
  tieBreak: fc.option(fc.double({ min: 0, max: 1e-11, noNaN: true }), { nil: undefined }),
};
const shared = fc.record({ recencyBoost: boost, tieBreak: fc.constant(undefined) });

/** A fusion and what is recorded of a candidate under it. */
const fused: fc.Arbitrary<readonly [Fusion, FusionRecord | undefined]> = fc.oneof(
  fc.constant([WEIGHTS.fusion, undefined] as const),
  fc.tuple(
    fc
      .tuple(fc.integer({ min: 1, max: 100 }), shared)
      .map(([k, rest]) => ({ kind: "rrf" as const, k, ...rest })),
    fc.record({
      kind: fc.constant("rrf" as const),
      semanticRank: rank,
      lexicalRank: rank,
      ...factors,
    }),
  ),
  fc.tuple(
    fc
      .tuple(unit, shared)
      .map(([semanticShare, rest]) => ({ kind: "relative" as const, semanticShare, ...rest })),
    fc.record({
      kind: fc.constant("relative" as const),
      semantic: share,
      lexical: share,
      ...factors,
    }),
  ),
  fc.tuple(
    fc
      .tuple(unit, fc.double({ min: 0.1, max: 1, noNaN: true }), shared)
      .map(([semanticShare, fullCoverage, rest]) => ({
        ...{ kind: "adaptive" as const, semanticShare, fullCoverage },
        ...rest,
      })),
    fc.record({
      ...{ kind: fc.constant("adaptive" as const), coverage: unit, certainty: unit },
      ...{ semantic: share, lexical: share, ...factors },
    }),
  ),
);

const adjustments: fc.Arbitrary<readonly Adjustment[]> = fc.array(
  fc.tuple(fc.constantFrom(...ADJUSTMENT_KINDS), unit, unit).map(([kind, coefficient, neural]) => ({
    kind,
    coefficient,
    neuralScore: kind === "neural_blend" ? neural : undefined,
    sourceNodeId: undefined,
  })),
  { maxLength: 4 },
);

const provenances: fc.Arbitrary<ScoreProvenance> = fc
  .record({ trace, fused, adjustments, relevanceFloor: fc.constantFrom(0, 0.3, 1) })
  .map(({ fused: [fusion, record], relevanceFloor, ...rest }) => ({
    ...rest,
    formulaVersion: formulaVersion(fusion.kind),
    baseNodeId: freshId(),
    weights: { ...WEIGHTS, fusion, relevanceFloor },
    fusion: record,
  }));

describe("the parts of a score", () => {
  test("add up to it with every step, and the last step is it, bit for bit", () => {
    fc.assert(
      fc.property(provenances, (provenance) => {
        const { parts, steps, score } = scoreParts(provenance);
        expect(Object.is(score, replayScore(provenance))).toBe(true);
        const sum = parts.reduce((total, { amount }) => total + amount, 0);
        const all = steps.reduce((total, { change }) => total + change, sum);
        expect(Math.abs(all - score)).toBeLessThan(1e-12 * Math.max(1, sum));
        expect(steps.at(-1)?.score ?? sum).toBe(score);
        let before = sum;
        for (const { score: after, change, factor } of steps) {
          expect(after - before).toBe(change);
          if (factor !== undefined) expect(after).toBe(before * factor);
          before = after;
        }
      }),
      { numRuns: 2000 },
    );
  });

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
      ...fc.sample(
        provenances.filter(({ fusion }) => fusion?.kind === "rrf"),
        1,
      )[0]!,
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
