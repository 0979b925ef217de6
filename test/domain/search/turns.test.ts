import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NODE_TYPES } from "../../../src/domain/enums.ts";
import {
  BLANKS,
  fromPayload,
  hasText,
  isOfConversation,
  lean,
  surroundings,
  toPayload,
} from "../../../src/domain/search/turns.ts";
import { aNode, anEvent, unit } from "../../contract/samples.ts";

describe("blanks", () => {
  test("are listed as JavaScript trims them, code point by code point", () => {
    const trimmed = Array.from({ length: 0x10000 }, (_, code) => code).filter(
      (code) => String.fromCharCode(code).trim() === "",
    );

    expect([...BLANKS]).toEqual(trimmed);
  });

  test("alone are no text", () => {
    expect(hasText(String.fromCharCode(...BLANKS))).toBe(false);
    expect(hasText("")).toBe(false);
    expect(hasText("\u00a0.")).toBe(true);
    expect(hasText("\u200b")).toBe(true);
  });
});

describe("a turn of a conversation", () => {
  const turn = aNode(anEvent({ sessionId: "s" }));

  test("is a note with a session", () => {
    expect(NODE_TYPES.filter((nodeType) => isOfConversation({ ...turn, nodeType }))).toEqual([
      "note",
    ]);
    expect(isOfConversation({ ...turn, sessionId: undefined })).toBe(false);
    expect(isOfConversation({ ...turn, sessionId: "" })).toBe(true);
  });
});

describe("the surroundings of turns", () => {
  const isOfSame = (one: string, other: string): boolean => one[0] === other[0];

  test("are those of the same conversation within reach, nearest first", () => {
    const found = [...surroundings(["a1", "a2", "a3", "a4", "b1", "b2"], 2, isOfSame)];

    expect(found[2]).toEqual({ turn: "a3", before: ["a2", "a1"], after: ["a4"] });
    expect(found[4]).toEqual({ turn: "b1", before: [], after: ["b2"] });
  });

  test("hold a turn before another exactly where they hold that one after it", () => {
    const turns = fc
      .array(fc.constantFrom("a", "b", "c"), { maxLength: 30 })
      .map((names) => names.toSorted().map((name, index) => `${name}${index}`));
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 4 }), (given, reach) => {
        const found = [...surroundings(given, reach, isOfSame)];
        const pairs = found.flatMap(({ turn, after }) => after.map((next) => `${turn} ${next}`));
        const reverse = found.flatMap(({ turn, before }) => before.map((one) => `${one} ${turn}`));

        expect(reverse.toSorted()).toEqual(pairs.toSorted());
      }),
    );
  });
});

const numbers = (vector: Float32Array): readonly number[] => [...vector];

describe("a leaning vector", () => {
  test("takes in a quarter of each neighbour and has length one", () => {
    const leaning = lean(unit(1), [unit(0, 1), unit(0, 0, 1)]);

    const length = Math.sqrt(1.125);
    expect(numbers(leaning)).toEqual(
      numbers(Float32Array.of(1 / length, 0.25 / length, 0.25 / length, 0, 0, 0, 0, 0)),
    );
  });

  test("of a turn alone is its own", () => {
    expect(numbers(lean(unit(1), [undefined, undefined]))).toEqual(numbers(unit(1)));
  });

  test("leaves out neighbours of another dimension", () => {
    expect(numbers(lean(unit(1), [Float32Array.of(0, 1)]))).toEqual(numbers(unit(1)));
  });

  test("stays as it is where nothing is left of it", () => {
    const nothing = new Float32Array(8);

    expect(lean(nothing, [])).toBe(nothing);
  });
});

test("a vector is kept in half the bytes and comes back the same from then on", () => {
  const vectors = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { maxLength: 20 });
  fc.assert(
    fc.property(vectors, (values) => {
      const kept = toPayload(Float32Array.from(values));
      const vector = fromPayload(kept);

      expect(kept.length).toBe(2 * values.length);
      expect(numbers(fromPayload(toPayload(vector)))).toEqual(numbers(vector));
      for (const [index, value] of values.entries()) {
        expect(Math.abs((vector[index] ?? 9) - value)).toBeLessThanOrEqual(2 ** -12);
      }
    }),
  );
});
