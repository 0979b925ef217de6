import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { createCl100kTokenizer, PART_UNITS } from "../../../src/adapters/tokens/cl100k.ts";

/** Counts of an implementation that merges in another way. It reads a byte order mark wrongly, so no text has one. */
function libraryCount(text: string): number {
  return countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
}

const ALPHABETS = {
  letters: [..."abcdefghijklmnopqrstuvwxyzABCXYZ"],
  words: ["the", "ing", "Ada", " ", "x", "n't", "'s", "'LL", "'"],
  blanks: [" ", "\n", "\r", "\t", "\u00a0", "\u2028", "\u3000"],
  signs: [..."!?.'\"`-=_<>|/", "\n"],
  digits: ["1", "2", ",", ".", "٣", "𝟘"],
  scripts: ["漢", "字", "か", "é", "e\u0301", "ß", "Ü", "สวัสดี", "한", "𠀀", "ﷺ", "م"],
  emoji: ["🦊", "👩‍👩‍👧‍👦", "\u200d", "\ufe0f", "❤"],
  broken: ["\ud800", "\udc00", "\u0000", "\ufffd", "\uffff", "a", " "],
  special: ["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>", "<|", " ", "a"],
};

/** Short and long parts of an alphabet: mixed ones, and one character many times. */
function textOf(alphabet: readonly string[]): fc.Arbitrary<string> {
  const character = fc.constantFrom(...alphabet);
  const mixed = (maxLength: number) => fc.string({ unit: character, maxLength, size: "max" });
  const run = fc.tuple(character, fc.nat({ max: 700 })).map(([one, times]) => one.repeat(times));
  const part = fc.oneof(
    { weight: 6, arbitrary: mixed(20) },
    { weight: 2, arbitrary: mixed(500) },
    { weight: 2, arbitrary: run },
  );
  return fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
}

describe("createCl100kTokenizer", () => {
  test("refuses to count before it is ready", () => {
    expect(() => createCl100kTokenizer().count("text")).toThrow("ready()");
  });

  // Counts published with the encoding's reference implementation.
  test.each([
    { name: "an empty text", text: "", tokens: 0 },
    { name: "two words", text: "hello world", tokens: 2 },
    { name: "a compound word", text: "antidisestablishmentarianism", tokens: 6 },
    { name: "Japanese", text: "お誕生日おめでとう", tokens: 9 },
  ])("counts $name", async ({ text, tokens }) => {
    const tokenizer = createCl100kTokenizer();
    await tokenizer.ready();
    expect(tokenizer.count(text)).toBe(tokens);
  });

  test("counts the name of a special token as ordinary text", async () => {
    const tokenizer = createCl100kTokenizer();
    await tokenizer.ready();
    expect(tokenizer.count("<|endoftext|>")).toBeGreaterThan(1);
    expect(tokenizer.count("a <|im_start|> b <|fim_prefix|>")).toBeGreaterThan(6);
  });

  test("gives the same count again, for short and for very long texts", async () => {
    const tokenizer = createCl100kTokenizer();
    await tokenizer.ready();
    for (const text of ["one two three", "lorem ipsum ".repeat(5000)]) {
      expect(tokenizer.count(text)).toBe(tokenizer.count(text));
    }
    expect(tokenizer.count("lorem ipsum ".repeat(5000))).toBeGreaterThan(10_000);
  });

  test("stays exact while more texts pass through than it remembers", async () => {
    const tokenizer = createCl100kTokenizer();
    await tokenizer.ready();
    const first = tokenizer.count("text number 0", "ada");
    for (let i = 0; i < 25_000; i++) tokenizer.count(`text number ${i}`, i % 2 ? "ada" : "bob");
    expect(tokenizer.count("text number 0", "ada")).toBe(first);
    tokenizer.forget!("ada");
    expect(tokenizer.count("text number 0", "ada")).toBe(first);
  });

  test.each(Object.entries({ ...ALPHABETS, everything: Object.values(ALPHABETS).flat() }))(
    "counts generated %s as another implementation does",
    async (_, alphabet) => {
      const tokenizer = createCl100kTokenizer();
      await tokenizer.ready();
      fc.assert(
        fc.property(textOf(alphabet), (text) => {
          const short = text.slice(0, PART_UNITS);
          expect(tokenizer.count(short)).toBe(libraryCount(short));
          // A long word is counted in parts.
          const difference = Math.abs(tokenizer.count(text) - libraryCount(text));
          expect(difference).toBeLessThanOrEqual(8 * Math.floor(text.length / PART_UNITS));
        }),
        { numRuns: 60 },
      );
    },
    120_000,
  );

  test.each(["x", " ", "\n", "\t", '"', "'", "=", "7", "漢", "🦊", "\u200d", "\u0000", "\ud800"])(
    "counts runs of %j of every length as another implementation does",
    async (character) => {
      const tokenizer = createCl100kTokenizer();
      await tokenizer.ready();
      const texts = Array.from({ length: PART_UNITS }, (_, at) => `a${character.repeat(at)}b`);
      expect(texts.map((text) => tokenizer.count(text))).toEqual(texts.map(libraryCount));
    },
    120_000,
  );

  test("counts a byte order mark as the table of the encoding lists it", async () => {
    const tokenizer = createCl100kTokenizer();
    await tokenizer.ready();
    expect(tokenizer.count("\ufeffusing")).toBe(1);
  });

  // Time that grows with the square of the length would be an hour.
  test.each([
    { name: "letters", text: "x".repeat(1_000_000), tokens: 1_000_000 / 8 },
    { name: "blanks", text: `a${" ".repeat(1_000_000)}b`, tokens: 1 + 7813 + 1 },
    { name: "line ends", text: "\n".repeat(1_000_000), tokens: 1_000_000 / 32 },
    { name: "quotes", text: "'".repeat(1_000_000), tokens: 1_000_000 / 2 },
    { name: "digits", text: "7".repeat(999_999), tokens: 999_999 / 3 },
    { name: "Chinese letters", text: "漢".repeat(1_000_000), tokens: 1_000_000 * 2 },
    { name: "emoji", text: "🦊".repeat(500_000), tokens: 500_000 * 3 },
    { name: "Thai letters with marks", text: "สวัสดี".repeat(100_000), tokens: 600_000 },
  ])(
    "counts a million characters without a word border: $name",
    async ({ text, tokens }) => {
      const tokenizer = createCl100kTokenizer();
      await tokenizer.ready();
      expect(tokenizer.count(text)).toBe(tokens);
    },
    120_000,
  );
});
