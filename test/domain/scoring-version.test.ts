import { expect, test } from "bun:test";
import type { ScoringWeights } from "../../src/domain/scoring.ts";
import { scoringVersionId } from "../../src/domain/scoring-version.ts";

const WEIGHTS: ScoringWeights = {
  semantic: 0.3,
  lexical: 0.15,
  graph: 0.2,
  recency: 0.1,
  salience: 0.1,
  confidence: 0.15,
  epistemic: 0.05,
  paths: 0,
  recencyLambda: 0.02,
  temporalBoost: 0.15,
  relevanceFloor: 0.35,
  currentUpdateMultiplier: 1.3,
  nodeTypeBoost: { fact: 1.15, preference: 1.15, decision: 1.15, instruction: 1.15, summary: 1.1 },
  fusion: { kind: "weighted", recencyTime: undefined },
};

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
