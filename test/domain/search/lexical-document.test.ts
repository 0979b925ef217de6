import { expect, test } from "bun:test";
import { neighbourWords, ownWords } from "../../../src/domain/search/lexical-document.ts";
import { asInstant } from "../../../src/lib/instant.ts";

test("a memory's own words are those of its text and the day on which it happened", () => {
  const day = asInstant("2023-05-08T13:56:00.000000Z");

  expect(ownWords("We moved to Zürich", day)).toEqual([
    "we",
    "moved",
    "to",
    "zurich",
    "may",
    "8",
    "2023",
  ]);
  expect(ownWords("We moved", undefined)).toEqual(["we", "moved"]);
});

test("of each neighbour the first 240 characters count", () => {
  expect(neighbourWords([`${"a".repeat(20)} ${"b ".repeat(109)}in out`, "next"])).toEqual([
    "a".repeat(20),
    ..."b ".repeat(109).trim().split(" "),
    "i",
    "next",
  ]);
});
