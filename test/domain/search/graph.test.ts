import { describe, expect, test } from "bun:test";
import type { Edge } from "../../../src/domain/node.ts";
import {
  HOPS_MAX,
  holdsAt,
  isNamed,
  isWalkable,
  namesToFind,
  proximity,
} from "../../../src/domain/search/graph.ts";
import { aNode, anEvent, at, freshId } from "../../contract/samples.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";

test("proximity falls with the hops, as far as a walk goes", () => {
  expect([0, 1, 2, 3, 4].map(proximity)).toEqual([0, 1, 0.7, 0.4, 0]);
  expect(HOPS_MAX).toBe(3);
});

describe("the names of a question", () => {
  test("are folded, each once, without blank and overlong ones, 32 at most", () => {
    expect(namesToFind(["Straße", "STRASSE", " ", "x".repeat(1001), "x".repeat(1000)])).toEqual([
      "strasse",
      "x".repeat(1000),
    ]);
    expect(namesToFind(Array.from({ length: 40 }, (_, n) => `name ${n}`))).toHaveLength(32);
  });

  test("are found inside a text, whatever the case", () => {
    expect(isNamed("Lange STRAẞE 7", namesToFind(["straße"]))).toBe(true);
    expect(isNamed("Ada", namesToFind(["Ida", "A_a", "%"]))).toBe(false);
  });
});

const edge: Edge = {
  id: freshId(),
  userId: "ada",
  sourceId: freshId(),
  targetId: freshId(),
  edgeType: "relates_to",
  confidence: 1,
  validFrom: at(0),
  validTo: undefined,
  provenanceEventId: undefined,
  metadata: undefined,
  createdAt: at(0),
};

describe("an edge", () => {
  test("is walked until it ends, for a question about a time", () => {
    const ending = { ...edge, validTo: at(10) };

    expect(isWalkable(ending, ANYTHING)).toBe(true);
    expect(isWalkable(ending, { ...ANYTHING, timeFrom: at(9) })).toBe(true);
    expect(isWalkable(ending, { ...ANYTHING, timeFrom: at(10) })).toBe(false);
    expect(isWalkable(ending, { ...ANYTHING, timeFrom: at(9), timeTo: at(20) })).toBe(true);
    expect(isWalkable(ending, { ...ANYTHING, timeTo: at(20) })).toBe(false);
  });
});

test("what a walk reaches holds from its beginning until before its end", () => {
  const node = { ...aNode(anEvent()), validFrom: at(5), validTo: at(10) };
  const holds = (second: number): boolean => holdsAt(node, { ...ANYTHING, timeTo: at(second) });

  expect([4, 5, 9, 10].map(holds)).toEqual([false, true, true, false]);
  expect(holdsAt(node, ANYTHING)).toBe(true);
});
