import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadUnigram } from "../../../src/adapters/embedding/unigram.ts";
import SAMPLE from "./token-ids.json";

const FOLDER = "../../../src/adapters/embedding/models/intfloat/multilingual-e5-small";
const file = readFileSync(join(import.meta.dir, FOLDER, "pieces.bin"));
const { tokenIds } = loadUnigram(file);
const ALL = Number.MAX_SAFE_INTEGER;

/*
 * token-ids.json holds what `@huggingface/transformers` makes of texts of 32 languages. Its words are locale data
 * of Unicode CLDR, under the Unicode License v3 (https://www.unicode.org/license.txt).
 */
describe("the tokenizer of the multilingual model", () => {
  test("gives the ids of the reference for texts of 32 languages", () => {
    expect(SAMPLE.length).toBeGreaterThan(100);
    for (const [text, ids] of SAMPLE)
      expect([text, tokenIds(String(text), ALL)]).toEqual([text, ids]);
  });

  test("gives the frame alone for an empty text, and a blank its own token", () => {
    expect(tokenIds("", 2)).toEqual([0, 2]);
    expect(tokenIds(" ", 8)).toEqual([0, 6, 2]);
  });

  test("cuts a long text to its first tokens and keeps the frame", () => {
    const text = "Hello, world! ".repeat(100);
    expect(tokenIds(text, 7)).toEqual([...tokenIds(text, ALL).slice(0, 6), 2]);
    expect(tokenIds(text, 2)).toEqual([0, 2]);
  });

  test("treats the names of special tokens as text", () => {
    expect(tokenIds("</s><mask>", ALL).slice(1, -1)).not.toContain(2);
    expect(tokenIds("<mask>", ALL)).not.toContain(250_001);
  });

  test("makes one unknown token of a row of characters without a piece", () => {
    expect(tokenIds("\u{1F9FF}\u{1F9FF}\uD800", ALL)).toEqual([0, 6, 3, 2]);
  });

  test("gives composed and decomposed accents the same ids", () => {
    expect(tokenIds("Ä café".normalize("NFD"), ALL)).toEqual(tokenIds("Ä café", ALL));
  });

  test.each([
    ["x", 33_336],
    ["漢", 100_003],
  ])("splits 100,000 times %s, without a blank", (unit, length) => {
    expect(tokenIds(unit.repeat(100_000), ALL)).toHaveLength(length);
  });
});
