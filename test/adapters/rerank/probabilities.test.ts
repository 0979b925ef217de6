import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { labelOrder, sigmoid, softmax } from "../../../src/adapters/rerank/probabilities.ts";

const logit = fc.double({ min: -1e6, max: 1e6, noNaN: true });

test("sigmoid stays from 0 to 1 and is point-symmetric", () => {
  fc.assert(
    fc.property(logit, (x) => {
      expect(sigmoid(x)).toBeGreaterThanOrEqual(0);
      expect(sigmoid(x)).toBeLessThanOrEqual(1);
      expect(sigmoid(x) + sigmoid(-x)).toBeCloseTo(1, 12);
    }),
  );
  expect(sigmoid(0)).toBe(0.5);
  expect(sigmoid(2)).toBeCloseTo(0.880797, 6);
});

test("softmax sums to 1 and keeps the order", () => {
  fc.assert(
    fc.property(fc.array(logit, { minLength: 3, maxLength: 3 }), (logits) => {
      const shares = softmax(logits);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      const best = logits.indexOf(Math.max(...logits));
      expect(shares[best]).toBe(Math.max(...shares));
    }),
  );
});

describe("labelOrder", () => {
  test.each([
    {
      name: "the order of most models",
      labels: { 0: "contradiction", 1: "entailment", 2: "neutral" },
      expected: { contradiction: 0, entailment: 1, neutral: 2 },
    },
    {
      name: "another order in capitals",
      labels: { 0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION" },
      expected: { entailment: 0, neutral: 1, contradiction: 2 },
    },
  ])("reads $name", ({ labels, expected }) => {
    expect(labelOrder(labels)).toEqual(expected);
  });

  test.each([
    { name: "no labels", labels: {} },
    { name: "numbers for labels", labels: { 0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2" } },
    { name: "two labels", labels: { 0: "entailment", 1: "not_entailment" } },
    {
      name: "a fourth label",
      labels: { 0: "entailment", 1: "contradiction", 2: "neutral", 3: "x" },
    },
    { name: "one label twice", labels: { 0: "entailment", 1: "entailed", 2: "neutral" } },
  ])("refuses $name", ({ labels }) => {
    expect(() => labelOrder(labels as Record<string, string>)).toThrow("its labels are");
  });
});
