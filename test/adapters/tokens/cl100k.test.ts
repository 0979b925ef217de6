import { describe, expect, test } from "bun:test";
import { createCl100kTokenizer } from "../../../src/adapters/tokens/cl100k.ts";

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
    const first = tokenizer.count("text number 0");
    for (let i = 0; i < 25_000; i++) tokenizer.count(`text number ${i}`);
    expect(tokenizer.count("text number 0")).toBe(first);
  });
});
