import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EPISTEMIC_TYPES, NODE_TYPES, QUERY_INTENTS } from "../../../src/domain/enums.ts";
import { EPISTEMIC_WEIGHTS } from "../../../src/domain/epistemics.ts";
import { baseScore, replayScore } from "../../../src/domain/score-replay.ts";
import { type Fusion, MAX_WEIGHT, type ScoringWeights } from "../../../src/domain/scoring.ts";
import type { Candidate } from "../../../src/engine/retrieve/candidates.ts";
import type { ScoreContext } from "../../../src/engine/retrieve/score/pool.ts";
import { byScoreThenPath, score } from "../../../src/engine/retrieve/score/score.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { at } from "../../contract/samples.ts";
import { aCandidate } from "./pool.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const coarse = fc.integer({ min: 0, max: 4 }).map((value) => value / 4);
const signal = fc.option(fc.oneof(share, coarse), { nil: undefined });
const second = fc.integer({ min: 0, max: 200 * 86_400 });
const day = fc.integer({ min: 0, max: 3 }).map((value) => value * 86_400);

const item = fc.record({
  semantic: signal,
  lexical: signal,
  graph: fc.constantFrom(0, 0.4, 0.7, 1),
  content: fc.constantFrom("It is blue.", "It changed to green.", "In May it was red."),
  nodeType: fc.constantFrom(...NODE_TYPES),
  epistemicType: fc.constantFrom(...EPISTEMIC_TYPES),
  salienceBase: share,
  confidenceBase: share,
  changed: fc.oneof(second, day),
  happened: fc.option(fc.oneof(second, day), { nil: undefined }),
});
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;
const items = fc.array(item, { minLength: 1, maxLength: 12 });

function toCandidate({ changed, happened, semantic, lexical, graph, ...given }: Item, key: number) {
  return aCandidate(
    key,
    { semantic, lexical, graph },
    {
      ...given,
      id: asUuid(`01900000-0000-7000-8000-${String(key).padStart(12, "0")}`),
      createdAt: at(changed / 2),
      updatedAt: at(changed),
      lastReinforcedAt: at(changed),
      eventTime: happened === undefined ? undefined : at(happened),
    },
  );
}

const boosts = {
  recencyBoost: fc.option(fc.double({ min: 0.01, max: 4, noNaN: true }), { nil: undefined }),
  tieBreak: fc.constantFrom("event_time" as const, undefined),
};
const weightedFusion = fc.record({
  kind: fc.constant("weighted" as const),
  recencyTime: fc.constantFrom("event_time" as const, undefined),
});
const rankFusion = fc.record({
  kind: fc.constant("rrf" as const),
  k: fc.integer({ min: 1, max: 10_000 }),
  ...boosts,
});
const relativeFusion = fc.record({
  kind: fc.constant("relative" as const),
  semanticShare: share,
  ...boosts,
});

const adaptiveFusion = fc.record({
  kind: fc.constant("adaptive" as const),
  semanticShare: share,
  fullCoverage: fc.double({ min: 0.01, max: 1, noNaN: true }),
  ...boosts,
});

function weightsWith(fusion: fc.Arbitrary<Fusion>): fc.Arbitrary<ScoringWeights> {
  const six = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 6, maxLength: 6 });
  return fc
    .record({
      parts: six.filter((parts) => parts.some((part) => part > 0)),
      recencyLambda: fc.double({ min: 0, max: 1, noNaN: true }),
      temporalBoost: fc.double({ min: -1, max: 2, noNaN: true }),
      relevanceFloor: share,
      currentUpdateMultiplier: fc.double({ min: 1, max: 2, noNaN: true }),
      fact: fc.double({ min: 0, max: 3, noNaN: true }),
      fusion,
    })
    .map(({ parts, fact, ...more }) => {
      const sum = parts.reduce((total, part) => total + part, 0);
      const [semantic = 0, lexical = 0, graph = 0, recency = 0, salience = 0, confidence = 0] =
        parts.map((part) => part / sum);
      const six = { semantic, lexical, graph, recency, salience, confidence };
      return { ...six, epistemic: 0.05, paths: 0, nodeTypeBoost: { fact }, ...more };
    });
}

const factor = fc.double({ min: 0.25, max: 4, noNaN: true });
const context = (fusion: fc.Arbitrary<Fusion>): fc.Arbitrary<ScoreContext> =>
  fc.record({
    weights: weightsWith(fusion),
    epistemicWeights: fc.constantFrom(EPISTEMIC_WEIGHTS, { observed: 1 }, { asserted: 0 }),
    analysis: fc.record({
      query: fc.constantFrom(
        "Which colour is it?",
        "Which colour is it now?",
        "What colour does it have?",
        "Who is it?",
        "What did I say recently?",
        "How long was it red?",
      ),
      intent: fc.constantFrom(...QUERY_INTENTS),
      isAggregation: fc.boolean(),
      timeFrom: fc.constantFrom(undefined, at(86_400)),
      timeTo: fc.constantFrom(undefined, at(2 * 86_400)),
    }),
    referenceTime: second.map(at),
    multipliers: fc.option(
      fc.record({
        semantic: factor,
        lexical: factor,
        graph: factor,
        recency: factor,
        salience: factor,
        confidence: factor,
      }),
      { nil: undefined },
    ),
  });

const FUSIONS: readonly { readonly name: string; readonly fusion: fc.Arbitrary<Fusion> }[] = [
  { name: "the weighted sum", fusion: weightedFusion },
  { name: "rank fusion", fusion: rankFusion },
  { name: "relative fusion", fusion: relativeFusion },
  { name: "adaptive fusion", fusion: adaptiveFusion },
];

/** What no score of these settings exceeds. */
function upperBound({ weights }: ScoreContext): number {
  const boosted = weights.currentUpdateMultiplier;
  if (weights.fusion.kind !== "weighted") return boosted;
  const typed = Math.max(1, weights.nodeTypeBoost.fact ?? 1);
  return (1 + Math.max(0, weights.temporalBoost)) * typed * boosted + 1e-6;
}

describe.each([...FUSIONS])("under $name", ({ fusion }) => {
  const runs = { numRuns: 200, seed: 42 };

  test("every record gives its score again, bit for bit", () => {
    fc.assert(
      fc.property(items, context(fusion), (given, asked) => {
        for (const { provenance, compositeScore } of score(given.map(toCandidate), asked)) {
          expect(baseScore(provenance)).toBe(provenance.trace.compositeScore);
          expect(replayScore(provenance)).toBe(compositeScore);
        }
      }),
      runs,
    );
  });

  test("the largest weights give numbers that can be recomputed", () => {
    const largest = { semantic: MAX_WEIGHT, lexical: -MAX_WEIGHT, graph: 1, recency: 0 };
    const factors = { recencyLambda: MAX_WEIGHT, temporalBoost: MAX_WEIGHT };
    const nodeTypeBoost = { fact: MAX_WEIGHT };
    fc.assert(
      fc.property(items, context(fusion), (given, asked) => {
        const others = { salience: 0, confidence: 0, ...factors, nodeTypeBoost };
        const weights = { ...asked.weights, ...largest, ...others };
        const extreme = { ...asked, weights, multipliers: undefined };
        for (const { provenance, compositeScore } of score(given.map(toCandidate), extreme)) {
          expect(compositeScore).toBeFinite();
          expect(replayScore(provenance)).toBe(compositeScore);
        }
      }),
      { ...runs, numRuns: 50 },
    );
  });

  test("scores are at least 0 and within their bound", () => {
    fc.assert(
      fc.property(items, context(fusion), (given, asked) => {
        for (const { compositeScore } of score(given.map(toCandidate), asked)) {
          expect(compositeScore).toBeWithin(0, upperBound(asked) + 1e-9);
        }
      }),
      runs,
    );
  });

  test("the order is total and does not depend on the order of the input", () => {
    const shuffled = items.chain((given) =>
      fc.tuple(
        fc.constant(given),
        fc.shuffledSubarray([...given.keys()], { minLength: given.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, context(fusion), ([given, order], asked) => {
        const pool = given.map(toCandidate);
        const ranking = score(pool, asked);

        const again = order.flatMap((index) => pool[index] ?? []);
        expect(score(again, asked)).toEqual(ranking);
        ranking.forEach((candidate, place) => {
          const next = ranking[place + 1];
          if (next !== undefined) expect(byScoreThenPath(candidate, next)).toBeLessThan(0);
        });
      }),
      runs,
    );
  });
});

describe.each([
  { name: "the weighted sum", fusion: weightedFusion },
  { name: "relative fusion", fusion: relativeFusion },
  { name: "adaptive fusion", fusion: adaptiveFusion },
])("under $name", ({ fusion }) => {
  test("a candidate whose signal rises never loses a place", () => {
    const rise = fc.record({
      place: fc.nat(),
      channel: fc.constantFrom("semantic" as const, "lexical" as const),
      by: share,
    });
    fc.assert(
      fc.property(items, rise, context(fusion), (given, { place, channel, by }, asked) => {
        const pool = given.map(toCandidate);
        const raised = pool[place % pool.length];
        const value = raised?.[channel];
        if (raised === undefined || value === undefined) return;
        const rank = (candidates: readonly Candidate[]) =>
          score(candidates, asked).findIndex(({ key }) => key === raised.key);
        const higher = { ...raised, [channel]: Math.min(1, value + by * (1 - value)) };

        const after = rank(pool.map((candidate) => (candidate === raised ? higher : candidate)));

        expect(after).toBeLessThanOrEqual(rank(pool));
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});
