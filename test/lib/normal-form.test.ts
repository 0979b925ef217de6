import { describe, expect, test } from "bun:test";
import { analyse } from "../../src/domain/lexical-analysis.ts";
import { normalForm, normaliseText, streamSafe } from "../../src/lib/text.ts";

// To put them in order as one run would take ten minutes each, and many times the limit of a test.
const HOSTILE = {
  "alternating marks": `a${"\u0301\u0316".repeat(200_000)}`,
  "marks in descending order": `a${"\u0345\u0301\u0316\u0334".repeat(100_000)}`,
  "marks that are no accents": `a${"\u0652\u064b".repeat(200_000)}`,
  "half-width marks of Japanese": `a${"\u0301\uff9e".repeat(200_000)}`,
};

describe("the normal form of a text", () => {
  test("is that of the platform where no run of marks is long", () => {
    const text = `${"Zwölf Boxkämpfer, ｶﾞ ﬁ e\u0316\u0301 ".repeat(50)}x${"\u0301".repeat(30)}`;
    for (const form of ["NFC", "NFD", "NFKC"] as const) {
      expect(normalForm(form, text)).toBe(text.normalize(form));
    }
  });

  test("has no more than 30 marks in a row without a joiner", () => {
    const long = `a${"\u0301".repeat(1000)}b`;
    expect(
      streamSafe(long)
        .match(/\u0301+/g)
        ?.map(({ length }) => length),
    ).toEqual([...Array<number>(33).fill(30), 10]);
    expect(streamSafe(long).replaceAll("\u034f", "")).toBe(long);
  });

  for (const [name, text] of Object.entries(HOSTILE)) {
    test(`and its words are known soon for a long run of ${name}`, () => {
      expect(normaliseText(`${text} B`).slice(-2)).toBe(" b");
      expect(analyse(`${text} Blumentopf`).at(-1)).toBe("blumentopf");
    });
  }
});
