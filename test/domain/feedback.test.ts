import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FEEDBACK_SIGNALS, feedbackQuality, tuned } from "../../src/domain/feedback.ts";
import { DEFAULT_SETTINGS } from "../engine/engines.ts";

const WEIGHTS = DEFAULT_SETTINGS.scoring;
const SIX = ["semantic", "lexical", "graph", "recency", "salience", "confidence"] as const;

test("without signals the weights stay", () => {
  expect(tuned(WEIGHTS, [])).toBe(WEIGHTS);
});

test.each([
  { signal: "used", semantic: 0.31 / 1.01, confidence: 0.15 / 1.01, epistemic: 0.05 },
  { signal: "ignored", semantic: 0.295 / 0.995, confidence: 0.15 / 0.995, epistemic: 0.05 },
  { signal: "corrected", semantic: 0.29, confidence: 0.16, epistemic: 0.05 },
  { signal: "contradicted", semantic: 0.3 / 0.99, confidence: 0.14 / 0.99, epistemic: 0.06 },
] as const)("$signal moves its weights by the learning rate", ({ signal, ...wanted }) => {
  const { semantic, confidence, epistemic } = tuned(WEIGHTS, [signal]);

  expect(semantic).toBeCloseTo(wanted.semantic, 9);
  expect(confidence).toBeCloseTo(wanted.confidence, 9);
  expect(epistemic).toBeCloseTo(wanted.epistemic, 9);
});

test("the six sum to 1 and stay within their bounds, whatever is heard", () => {
  const heard = fc.array(fc.constantFrom(...FEEDBACK_SIGNALS), { maxLength: 300 });
  fc.assert(
    fc.property(heard, (signals) => {
      const weights = tuned(WEIGHTS, signals);
      const values = SIX.map((name) => weights[name]);
      expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 9);
      for (const value of values) {
        expect(value).toBeGreaterThan(0);
        expect(value).toBe(Number(value.toFixed(10)));
      }
    }),
  );
});

describe("the quality of answers", () => {
  test.each([
    { signals: [], quality: 1 },
    { signals: ["used", "used"], quality: 1 },
    { signals: ["used", "ignored", "corrected", "contradicted"], quality: 1.3 / 4 },
  ] as const)("of $signals is $quality", ({ signals, quality }) => {
    expect(feedbackQuality(signals)).toBeCloseTo(quality, 12);
  });
});
