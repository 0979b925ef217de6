import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createPieceCounter,
  createRankTable,
  PART_UNITS,
} from "../../../src/adapters/tokens/cl100k.ts";
import { joinTokens } from "../../../src/adapters/tokens/token-list.ts";

/** Byte pair encoding as it is defined, one merge at a time. */
function countByDefinition(piece: string, tokens: readonly string[]): number {
  if (tokens.includes(piece)) return 1;
  const parts = [...piece];
  for (;;) {
    let lowest: { readonly rank: number; readonly at: number } | undefined;
    for (let at = 0; at + 1 < parts.length; at += 1) {
      const rank = tokens.indexOf(`${parts[at]}${parts[at + 1]}`);
      if (rank !== -1 && rank < (lowest?.rank ?? tokens.length)) lowest = { rank, at };
    }
    if (lowest === undefined) return parts.length;
    parts.splice(lowest.at, 2, `${parts[lowest.at]}${parts[lowest.at + 1]}`);
  }
}

describe("createPieceCounter", () => {
  test("counts a piece that is a token as one, though no merge leads to it", () => {
    const count = createPieceCounter(createRankTable(joinTokens(["a", "b", "c", "abc"])));
    expect(count("abc")).toBe(1);
    expect(count("abca")).toBe(4);
  });

  test("merges the leftmost of equal pairs first", () => {
    const count = createPieceCounter(createRankTable(joinTokens(["a", "b", "aa", "aab"])));
    expect(count("aaab")).toBe(3);
  });

  test("counts a long piece in parts, which end between characters", () => {
    const count = createPieceCounter(createRankTable(joinTokens(["a", "aa", "𠀀"])));
    expect(count("a".repeat(PART_UNITS + 1))).toBe(PART_UNITS / 2 + 1);
    // Each character has four bytes; the last one alone is a token.
    expect(count(`a${"𠀀".repeat(PART_UNITS)}`)).toBe(1 + 4 * (PART_UNITS - 1) + 1);
  });

  test("counts short and long pieces in turn as the definition says, whatever the table", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 2, maxLength: 5 });
    const short = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 60 });
    const long = fc
      .tuple(short, fc.integer({ min: 1, max: 25 }))
      .map(([one, n]) => one.repeat(n).slice(0, PART_UNITS));
    fc.assert(
      fc.property(
        fc.uniqueArray(text, { maxLength: 12 }),
        fc.array(fc.oneof(short, short, long), { minLength: 1, maxLength: 4 }),
        (longer, pieces) => {
          const tokens = ["a", "b", "c", ...longer];
          const count = createPieceCounter(createRankTable(joinTokens(tokens)));
          for (const piece of pieces) {
            expect(count(piece)).toBe(countByDefinition(piece, tokens));
          }
        },
      ),
    );
  });
});
