import { expect, test } from "bun:test";
import fc from "fast-check";
import { createBodyRoom } from "../../../src/surface/web/body-room.ts";

test("who does not fit waits, and enters in the order of arrival", async () => {
  const room = createBodyRoom(10);
  const entered: string[] = [];
  const take = async (name: string, bytes: number) => {
    const leave = await room.take(bytes);
    entered.push(name);
    return leave;
  };
  const first = await take("first", 6);
  const second = take("second", 6);
  // It would fit, but comes after one that does not.
  const third = take("third", 2);
  await Bun.sleep(1);
  expect(entered).toEqual(["first"]);
  first();
  const leaves = await Promise.all([second, third]);
  expect(entered).toEqual(["first", "second", "third"]);
  for (const leave of leaves) leave();
  await room.take(10);
});

test("the total is never exceeded, and everybody gets in", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const room = createBodyRoom(10);
      let used = 0;
      let greatest = 0;
      await Promise.all(
        all.map(async (bytes, at) => {
          const leave = await room.take(bytes);
          used += bytes;
          greatest = Math.max(greatest, used);
          for (let turns = 0; turns < at % 3; turns += 1) await Promise.resolve();
          used -= bytes;
          leave();
        }),
      );
      expect(used).toBe(0);
      expect(greatest).toBeLessThanOrEqual(10);
    }),
    { numRuns: 50 },
  );
});
