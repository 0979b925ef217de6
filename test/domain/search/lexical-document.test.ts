import { expect, test } from "bun:test";
import {
  columnText,
  neighbourWords,
  ownWords,
  withWordsOf,
} from "../../../src/domain/search/turns.ts";
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

test.each([
  { of: "plain words", piece: "parseConfig wants the C++ of the house. " },
  { of: "stems", piece: "Der Vertrag mit der Firma gilt für das Jahr in Łódź, und parseConfig. " },
  { of: "pairs", piece: "東京は日本の首都です。" },
])("$of of a long text are read in pieces, the same, while others run", async ({ piece }) => {
  const day = asInstant("2023-05-08T13:56:00.000000Z");
  const content = piece.repeat(12_000);
  const whole = [...ownWords(content, day, same)].sort();
  let turns = 0;
  let isWritten = false;
  const spin = (): void => {
    turns += 1;
    if (!isWritten) setImmediate(spin);
  };
  spin();
  const words = await withWordsOf([{ node: { content } }], same, async () =>
    ownWords(content, day, same),
  );
  isWritten = true;
  expect(turns).toBeGreaterThan(4);
  expect(columnText(words).split(" ").length).toBe(words.length);
  expect([...words].sort()).toEqual(whole);
});
