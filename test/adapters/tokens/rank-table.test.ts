import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import listed from "gpt-tokenizer/bpeRanks/cl100k_base";
import { createRankTable, NO_RANK } from "../../../src/adapters/tokens/cl100k.ts";
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
