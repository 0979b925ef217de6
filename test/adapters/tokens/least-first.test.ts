import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLeastFirst } from "../../../src/adapters/tokens/least-first.ts";

test("gives back the least of what it holds, however numbers come and go", () => {
  const step = fc.option(fc.integer({ min: 0, max: 2 ** 50 }), { freq: 3, nil: undefined });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.nat({ max: 8 }), (steps, room) => {
      const numbers = createLeastFirst(room);
      const held: number[] = [];
      for (const value of steps) {
        if (value === undefined) {
          expect(numbers.pop()).toBe(held.shift());
          continue;
        }
        numbers.push(value);
        held.push(value);
        held.sort((a, b) => a - b);
      }
      for (const value of held) expect(numbers.pop()).toBe(value);
      expect(numbers.pop()).toBeUndefined();
    }),
  );
});
