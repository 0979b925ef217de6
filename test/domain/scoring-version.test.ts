import { expect, test } from "bun:test";
import type { ScoringWeights } from "../../src/domain/scoring.ts";
import { scoringVersionId } from "../../src/domain/scoring-version.ts";
import { WEIGHTS } from "../engine/retrieve/pool.ts";

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
