import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fromPayload, lean, toPayload } from "../../../src/domain/search/turns.ts";
import { unit } from "../../contract/samples.ts";

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
