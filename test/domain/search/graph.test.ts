import { describe, expect, test } from "bun:test";
import { HOPS_MAX, isNamed, namesToFind, proximity } from "../../../src/domain/search/graph.ts";

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
