import { expect, test } from "bun:test";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import { toEpochMillis } from "../../../src/lib/instant.ts";

test("gives ever later instants close to the system's time", () => {
  const clock = createSystemClock();
  const instants = Array.from({ length: 5000 }, () => clock.now());
  expect(instants).toEqual([...new Set(instants)].sort());
  expect(Math.abs(toEpochMillis(clock.now()) - Date.now())).toBeLessThan(100);
});

test("takes what lies below the millisecond from the steady clock", () => {
  let steady = 10;
  const clock = createSystemClock({ wallMs: () => 1_700_000_000_000, steadyMs: () => steady });
  expect(clock.now()).toEndWith(".000000Z");
  steady = 10.25;
  expect(clock.now()).toEndWith(".000250Z");
});

test("never goes back when the system's clock is set back", () => {
  let wall = 1_700_000_000_000;
  const clock = createSystemClock({ wallMs: () => wall, steadyMs: () => 5 });
  const before = clock.now();
  wall -= 3_600_000;
  const after = clock.now();
  expect(after > before).toBeTrue();
  expect(toEpochMillis(after) - toEpochMillis(before)).toBeLessThan(1);
});

test("follows the system's clock after the machine has slept", () => {
  let wall = 1_700_000_000_000;
  const clock = createSystemClock({ wallMs: () => wall, steadyMs: () => 5 });
  clock.now();
  wall += 7_200_000;
  expect(toEpochMillis(clock.now())).toBe(wall);
});
