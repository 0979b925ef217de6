import { describe, expect, test } from "bun:test";
import { recency, temporalAffinity } from "../../../src/engine/retrieve/score/pool.ts";
import { at } from "../../contract/samples.ts";

const DAY = 86_400;

describe("recency", () => {
  const rule = { anchor: at(10 * DAY), lambda: 0.05 };

  test.each([
    { name: "the anchor", time: at(10 * DAY), gain: 1, value: 1 },
    { name: "ten days earlier", time: at(0), gain: 1, value: Math.exp(-0.5) },
    { name: "ten days earlier, with a gain", time: at(0), gain: 1.5, value: 1.5 * Math.exp(-0.5) },
    { name: "ten days earlier, with a gain above 1", time: at(0), gain: 2, value: 1 },
    { name: "later than the anchor", time: at(20 * DAY), gain: 1, value: 1 },
  ])("of $name", ({ time, gain, value }) => {
    expect(recency(time, rule, gain)).toBeCloseTo(value, 12);
  });

  test("of a later time is that of the anchor under a negative rate too", () => {
    expect(recency(at(20 * DAY), { ...rule, lambda: -0.05 }, 1)).toBe(1);
  });
});

describe("temporal affinity", () => {
  const window = { timeFrom: at(10 * DAY), timeTo: at(20 * DAY) };
  const open = { timeFrom: undefined, timeTo: undefined };

  test.each([
    { name: "inside the window", day: 15, given: window, near: 1 },
    { name: "at its first moment", day: 10, given: window, near: 1 },
    { name: "at its last moment", day: 20, given: window, near: 1 },
    { name: "five days before it", day: 5, given: window, near: Math.exp(-0.1) },
    { name: "ten days after it", day: 30, given: window, near: Math.exp(-0.2) },
    {
      name: "long before an open start",
      day: 1,
      given: { ...window, timeFrom: undefined },
      near: 1,
    },
    { name: "long after an open end", day: 90, given: { ...window, timeTo: undefined }, near: 1 },
    {
      name: "between the ends of a window that ends before it starts",
      day: 12,
      given: { timeFrom: at(20 * DAY), timeTo: at(10 * DAY) },
      near: Math.exp(-0.04),
    },
    {
      name: "before a single moment",
      day: 5,
      given: { timeFrom: at(10 * DAY), timeTo: at(10 * DAY) },
      near: Math.exp(-0.1),
    },
  ])("of a memory $name", ({ day, given, near }) => {
    expect(temporalAffinity("No date.", at(day * DAY), given)).toBeCloseTo(0.7 * near, 12);
    expect(temporalAffinity("In May.", at(day * DAY), given)).toBeCloseTo(0.3 + 0.7 * near, 12);
  });

  test("goes by the wording alone where the question names no time", () => {
    expect(temporalAffinity("No date.", at(0), open)).toBe(0);
    expect(temporalAffinity("In May.", at(0), open)).toBeCloseTo(0.65, 12);
  });
});
