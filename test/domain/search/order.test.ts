import { expect, test } from "bun:test";
import {
  bestFirst,
  earliestFirst,
  newestFirst,
  surestFirst,
} from "../../../src/domain/search/bm25.ts";
import { at } from "../../contract/samples.ts";

test("hits are ordered by score, those of equal score by key", () => {
  const hits = [
    { key: 10, score: 1 },
    { key: 9, score: 1 },
    { key: 1, score: 0.5 },
    { key: 30, score: 2 },
  ];

  expect(hits.toSorted(bestFirst).map(({ key }) => key)).toEqual([30, 9, 10, 1]);
});

const places = [
  { createdAt: at(2), id: "a", confidence: 0.5 },
  { createdAt: at(1), id: "d", confidence: 0.5 },
  { createdAt: at(1), id: "c", confidence: 0.5 },
  { createdAt: at(0), id: "b", confidence: 0.9 },
];
const ids = (sorted: typeof places) => sorted.map(({ id }) => id).join("");

test("a conversation is ordered by creation, then by id, both ways", () => {
  expect(ids(places.toSorted(earliestFirst))).toBe("bcda");
  expect(ids(places.toSorted(newestFirst))).toBe("adcb");
});

test("what a walk reached is ordered by confidence, then newest first, then by ascending id", () => {
  expect(ids(places.toSorted(surestFirst))).toBe("bacd");
});
