import { describe, expect, test } from "bun:test";
import { findOscillation } from "../../src/domain/feedback.ts";
import { keywords } from "../../src/domain/lexical-analysis.ts";

describe("keywords", () => {
  test("are words of ASCII letters and digits in lower case, without stop words", () => {
    expect([...keywords("The Team switched: from PostgreSQL-16 to SQLite, very much!")]).toEqual([
      "team",
      "switched",
      "postgresql",
      "16",
      "sqlite",
    ]);
  });
});

describe("a chain of replacements", () => {
  const TO_LITE = "We switched from Postgres to SQLite";
  const TO_POSTGRES = "We switched from SQLite to Postgres";

  test("of two memories is no oscillation", () => {
    expect(findOscillation([TO_LITE, TO_LITE])).toBeUndefined();
  });

  test("that returns once costs a tenth", () => {
    expect(findOscillation([TO_LITE, TO_POSTGRES, TO_LITE])).toEqual({
      cycleCount: 1,
      penalty: 0.1,
      topic: "postgres sqlite switched",
    });
  });

  test("that goes on is no oscillation", () => {
    expect(findOscillation(["I use tea", "We like coffee", "Rome fell"])).toBeUndefined();
  });

  test("does not look at the memories in between", () => {
    expect(findOscillation(["tea", "tea", "coffee", "tea"])).toBeUndefined();
  });

  test("costs three tenths at most", () => {
    const chain = Array.from({ length: 11 }, (_, index) => (index % 2 === 0 ? "tea" : "coffee"));

    expect(findOscillation(chain)).toMatchObject({ cycleCount: 5, penalty: 0.3 });
    expect(findOscillation(chain.slice(0, 7))).toMatchObject({ cycleCount: 3, penalty: 0.3 });
    expect(findOscillation(chain.slice(0, 6))).toMatchObject({ cycleCount: 2, penalty: 0.2 });
  });

  test("is about up to five words, in order", () => {
    const text = "zebra yak xerus wolf vole urchin";

    expect(findOscillation([text, "", text])?.topic).toBe("urchin vole wolf xerus yak");
  });

  test("is about the words of the shorter text when the two nearest share none", () => {
    const chain = ["tea green", "coffee", "rome", "coffee", "tea green"];

    expect(findOscillation(chain)).toEqual({ cycleCount: 1, penalty: 0.1, topic: "rome" });
  });
});
