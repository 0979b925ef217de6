import { describe, expect, test } from "bun:test";
import { contentWords, numbersAndDates } from "../../../src/engine/verify/words.ts";

describe("contentWords", () => {
  test.each([
    { text: "Ann likes the green tea", words: ["ann", "like", "green", "tea"] },
    { text: "two cities, three ponies", words: ["two", "city", "three", "pony"] },
    { text: "Ann does not drink it", words: ["ann", "drink"] },
    { text: "Ann doesn't, won’t and can't", words: ["ann"] },
    { text: "Ann won a prize", words: ["ann", "won", "prize"] },
    { text: "e-mail at build_2 in 2024", words: ["e-mail", "build_2"] },
    { text: "STRASSE Straße", words: ["strasse"] },
    { text: "the of and", words: [] },
  ])("of $text", ({ text, words }) => {
    expect([...contentWords(text)].join(" ")).toBe(words.join(" "));
  });
});

describe("numbersAndDates", () => {
  test.each([
    { text: "3 cats for 1,200.50 at 10:30", found: ["3", "1200.50", "10:30"] },
    { text: "on Monday, 5 June", found: ["5", "monday", "june"] },
    { text: "in May and March", found: ["may", "march"] },
    { text: "they may march", found: [] },
    { text: "record m3 of v2 and UTF8", found: [] },
    { text: "nothing", found: [] },
  ])("of $text", ({ text, found }) => {
    expect(numbersAndDates(text)).toEqual(new Set<string>(found));
  });
});
