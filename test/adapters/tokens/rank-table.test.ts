import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import listed from "gpt-tokenizer/bpeRanks/cl100k_base";
import {
  createPieceCounter,
  createRankTable,
  NO_RANK,
  PART_UNITS,
} from "../../../src/adapters/tokens/cl100k.ts";
import {
  joinTokens,
  type ListedToken,
  packTokens,
  unpackTokens,
} from "../../../src/adapters/tokens/token-list.ts";

describe("createRankTable", () => {
  test("finds each token of cl100k_base by its bytes, also amid other ones", () => {
    const table = createRankTable(joinTokens(listed));
    const missed = listed.filter((token, rank) => {
      const bytes = Buffer.from(token);
      const amid = Buffer.concat([Buffer.from("<<"), bytes, Buffer.from(">")]);
      return table.rankOf(amid, 2, 2 + bytes.length) !== rank;
    });
    expect(missed).toEqual([]);
    expect(table.longest).toBe(128);
  });

  test("finds nothing but what is listed", () => {
    const bytes = fc.array(fc.integer({ min: 97, max: 99 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.uniqueArray(bytes, { selector: String, maxLength: 40 }),
        fc.array(bytes, { maxLength: 60 }),
        (tokens, others) => {
          const asListed = tokens.map(
            (token, at): ListedToken => (at % 2 === 0 ? Buffer.from(token).toString() : token),
          );
          const table = createRankTable(joinTokens(asListed));
          for (const sought of [...tokens, ...others]) {
            const rank = tokens.findIndex((token) => String(token) === String(sought));
            expect(table.rankOf(Uint8Array.from(sought), 0, sought.length)).toBe(
              rank === -1 ? NO_RANK : rank,
            );
          }
        },
      ),
    );
  });
});

describe("a list of tokens", () => {
  test("is the same after it was packed", () => {
    const list = joinTokens(listed);
    const again = unpackTokens(Buffer.from(packTokens(list)));
    expect(again.bytes.length).toBe(list.bytes.length);
    expect(Buffer.compare(again.bytes, list.bytes)).toBe(0);
    expect(again.ends).toEqual(list.ends);
    expect(again.longest).toBe(128);
  });

  test("with a token of more than 255 bytes is not packed", () => {
    expect(() => packTokens(joinTokens(["a".repeat(256)]))).toThrow("too long to be packed");
  });
});

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
