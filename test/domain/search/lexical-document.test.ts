import { expect, test } from "bun:test";
import { neighbourWords, ownWords } from "../../../src/domain/search/lexical-document.ts";
import { asInstant } from "../../../src/lib/instant.ts";

const same = (_: unknown, word: string): string => word;

test("a memory's own words are those of its text and the day on which it happened", () => {
  const day = asInstant("2023-05-08T13:56:00.000000Z");

  expect(ownWords("We moved to Zürich", day, same)).toEqual([
    "we",
    "moved",
    "to",
    "zurich",
    "may",
    "8",
    "2023",
  ]);
  expect(ownWords("We moved", undefined, same)).toEqual(["we", "moved"]);
});

test("of each neighbour the first 240 characters count", () => {
  expect(neighbourWords([`${"a".repeat(20)} ${"b ".repeat(109)}in out`, "next"], same)).toEqual([
    "a".repeat(20),
    ..."b ".repeat(109).trim().split(" "),
    "i",
    "next",
  ]);
});
