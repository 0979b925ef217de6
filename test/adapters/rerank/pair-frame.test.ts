import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  framePair,
  type PairTokenizer,
  readFrame,
} from "../../../src/adapters/rerank/pair-inference.ts";

/** One id a character; special tokens are 0 and 2. */
const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

const bert: PairTokenizer = {
  plain: letters,
  framed: (first, second) => {
    const left = [0, ...letters(first), 2];
    const right = [...letters(second), 2];
    return {
      ids: [...left, ...right],
      types: [...left.map(() => 0), ...right.map(() => 1)],
    };
  },
};

const roberta: PairTokenizer = {
  plain: letters,
  framed: (first, second) => {
    const ids = [0, ...letters(first), 2, 2, ...letters(second), 2];
    return { ids, types: ids.map(() => 0) };
  },
};

describe.each([
  { name: "BERT's frame", tokenizer: bert, special: 3 },
  { name: "RoBERTa's frame", tokenizer: roberta, special: 4 },
])("$name", ({ tokenizer, special }) => {
  const frame = readFrame(tokenizer);

  test("gives what the tokenizer gives for every pair that fits", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        const pair = framePair(frame, tokenizer.plain(first), tokenizer.plain(second), 1000);
        expect(pair).toEqual(tokenizer.framed(first, second));
      }),
    );
  });

  test("never exceeds the limit and keeps every special token", () => {
    const lengths = fc.nat({ max: 80 });
    fc.assert(
      fc.property(lengths, lengths, fc.integer({ min: special, max: 90 }), (a, b, limit) => {
        const first = letters("a".repeat(a));
        const second = letters("b".repeat(b));
        const { ids, types } = framePair(frame, first, second, limit);
        expect(ids.length).toBe(Math.min(limit, a + b + special));
        expect(types.length).toBe(ids.length);
        expect(ids.filter((id) => id <= 2)).toHaveLength(special);
      }),
    );
  });

  test("cuts the longer text until both are equally long", () => {
    const lengthsOf = (a: number, b: number, room: number): readonly number[] => {
      const pair = framePair(frame, letters("a".repeat(a)), letters("b".repeat(b)), room + special);
      return ["a", "b"].map((letter) => pair.ids.filter((id) => id === letters(letter)[0]).length);
    };
    expect(lengthsOf(10, 4, 10)).toEqual([6, 4]);
    expect(lengthsOf(4, 10, 10)).toEqual([4, 6]);
    expect(lengthsOf(20, 20, 10)).toEqual([5, 5]);
    expect(lengthsOf(20, 20, 9)).toEqual([5, 4]);
  });
});

test("a tokenizer that does not take pairs is refused", () => {
  const single: PairTokenizer = {
    plain: letters,
    framed: (first) => ({ ids: [0, ...letters(first), 2], types: [] }),
  };
  expect(() => readFrame(single)).toThrow("does not encode pairs");
});
