import { expect, test } from "bun:test";
import fc from "fast-check";
import { type BodySpace, createBodyRoom } from "../../../src/surface/listener/body.ts";

/** Takes as much as there is at once, a byte at a time, at most `most`. @returns how much that was */
function fill(space: BodySpace, most: number): number {
  for (let taken = 0; taken < most; taken += 1) {
    if (space.take(1) !== undefined) return taken;
  }
  return most;
}

test("what one owner takes leaves as much again to the others, in however many bodies it comes", () => {
  const room = createBodyRoom(100);
  const eve = [room.enter("eve"), room.enter("eve"), room.enter("eve")];
  let taken = 0;
  // The first that has to wait may exceed the share; it is given nothing more here.
  for (const body of eve) taken += fill(body, 20);
  expect(taken).toBe(50);
  expect(fill(room.enter("ada"), 20)).toBe(20);
});

test("bodies of nobody in particular have a share each", () => {
  const room = createBodyRoom(100);
  expect(fill(room.enter(undefined), 60)).toBe(50);
  expect(fill(room.enter(undefined), 20)).toBe(20);
});

test("one body at a time may exceed the room; owners take turns in that, and each its bodies in their order", async () => {
  const room = createBodyRoom(10);
  const went: string[] = [];
  const waits: Promise<void>[] = [];
  const begin = (owner: string, name: string): BodySpace => {
    const space = room.enter(owner);
    const wait = space.take(8);
    if (wait === undefined) went.push(name);
    else waits.push(wait.then(() => void went.push(name)));
    return space;
  };
  const spaces = [
    begin("eve", "eve 1"),
    begin("eve", "eve 2"),
    begin("eve", "eve 3"),
    begin("ada", "ada 1"),
  ];
  const seen: string[][] = [];
  for (const index of [0, 3, 1, 2]) {
    await Promise.resolve();
    await Promise.resolve();
    seen.push([...went]);
    spaces[index]?.leave();
  }
  expect(seen).toEqual([
    ["eve 1"],
    ["eve 1", "ada 1"],
    ["eve 1", "ada 1", "eve 2"],
    ["eve 1", "ada 1", "eve 2", "eve 3"],
  ]);
  await Promise.all(waits);
});

test("a body that has left takes nothing, and gives back what it had once", () => {
  const room = createBodyRoom(100);
  const body = room.enter("eve");
  fill(body, 50);
  body.leave();
  body.leave();
  expect(body.take(1000)).toBeUndefined();
  expect(fill(room.enter("eve"), 100)).toBe(50);
});

test("the room is exceeded by one body at most, and everybody gets in", async () => {
  const TOTAL = 40;
  const LARGEST = 30;
  const bodies = fc.array(
    fc.record({
      owner: fc.constantFrom("ada", "eve", undefined),
      chunks: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (all) => {
      const room = createBodyRoom(TOTAL);
      let used = 0;
      let greatest = 0;
      await Promise.all(
        all.map(async ({ owner, chunks }, at) => {
          const space = room.enter(owner);
          let held = 0;
          for (const bytes of chunks) {
            await space.take(bytes);
            held += bytes;
            used += bytes;
            greatest = Math.max(greatest, used);
            for (let turns = 0; turns < at % 3; turns += 1) await Promise.resolve();
          }
          used -= held;
          space.leave();
        }),
      );
      expect(used).toBe(0);
      expect(greatest).toBeLessThanOrEqual(TOTAL + LARGEST);
      expect(room.enter("ada").take(TOTAL / 2)).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
