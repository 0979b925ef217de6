import { expect, test } from "bun:test";
import { createRest } from "../../src/process/rest.ts";

test("memory is released once after each time of work, and not during it", () => {
  const released: number[] = [];
  let now = 0;
  const tick = createRest(() => released.push(now));
  for (const cores of [0, 0, 0.9, 1.7, 0.001, 0, 0, 0.1, 0]) {
    tick(cores);
    now += 1;
  }
  expect(released).toEqual([4, 8]);
});
