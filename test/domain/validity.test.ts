import { describe, expect, test } from "bun:test";
import { parseInstantInput, requireInterval } from "../../src/domain/lifecycle.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { thrown } from "./thrown.ts";

describe("parseInstantInput", () => {
  test.each([
    ["2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00.000000Z"],
    [new Date("2024-05-01T08:00:00.123Z"), "2024-05-01T08:00:00.123000Z"],
    [undefined, undefined],
    [null, undefined],
  ])("reads %p as %p", (value, instant) => {
    expect(parseInstantInput(value, "event_time")).toBe(instant as never);
  });

  test.each([
    {
      name: "a time without an offset",
      value: "2024-05-01T10:00:00",
      why: '"2024-05-01T10:00:00" has no time zone; write for example 2024-05-01T10:00:00Z',
    },
    {
      name: "a bare date",
      value: "2024-05-01",
      why: '"2024-05-01" has no time zone; write for example 2024-05-01T00:00:00Z',
    },
    {
      name: "a bare date among many blanks",
      value: `${" ".repeat(5000)}2024-05-01\n`,
      why: '"2024-05-01" has no time zone; write for example 2024-05-01T00:00:00Z',
    },
    { name: "other text", value: "soon", why: '"soon" is not an ISO 8601 date and time' },
    {
      name: "a day that does not exist",
      value: "2024-02-30",
      why: '"2024-02-30" is not an ISO 8601 date and time',
    },
    { name: "a number", value: 1_714_550_400, why: "must be ISO 8601 text" },
    { name: "an invalid Date", value: new Date(Number.NaN), why: "is an invalid date" },
    {
      name: "a Date after the year 9999",
      value: new Date(8.64e15),
      why: "the year 275760 is not within 1 to 9999",
    },
    {
      name: "a Date before the year 1",
      value: new Date(-62_135_596_800_001),
      why: "the year 0 is not within 1 to 9999",
    },
  ])("refuses $name", ({ value, why }) => {
    expect(thrown(() => parseInstantInput(value, "event_time"))).toEqual({
      code: "invalid_argument",
      data: { field: "event_time" },
      message: `event_time: ${why}`,
    });
  });

  test("shows at most 80 characters of a malformed text", () => {
    const { message } = thrown(() => parseInstantInput("x".repeat(5000), "event_time"));
    expect(message).toBe(`event_time: "${"x".repeat(80)}" is not an ISO 8601 date and time`);
  });

  test("suggests a text that it reads itself", () => {
    for (const value of ["2024-05-01", " 2024-05-01 10:00 "]) {
      const { message } = thrown(() => parseInstantInput(value, "event_time"));
      const example = message.slice(message.indexOf("for example ") + "for example ".length);
      expect(parseInstantInput(example, "event_time")).toMatch(/^2024-05-01T/);
    }
  });
});

describe("requireInterval", () => {
  const early = asInstant("2024-01-01T00:00:00.000000Z");
  const late = asInstant("2024-01-01T00:00:00.000001Z");

  test.each([
    [undefined, undefined],
    [early, undefined],
    [early, late],
  ])("accepts from %s to %s", (from, to) => {
    expect(() => requireInterval(from, to)).not.toThrow();
  });

  test.each([
    { from: undefined, to: late, why: "needs an explicit valid_from" },
    { from: early, to: early, why: `${early} must be later than valid_from ${early}` },
    { from: late, to: early, why: `${early} must be later than valid_from ${late}` },
  ])("refuses from $from to $to", ({ from, to, why }) => {
    expect(thrown(() => requireInterval(from, to))).toEqual({
      code: "invalid_argument",
      data: { field: "valid_to" },
      message: `valid_to: ${why}`,
    });
  });

  test("compares moments, not their spelling", () => {
    const from = parseInstantInput("2024-01-01T12:00:00+05:00", "valid_from");
    const to = parseInstantInput("2024-01-01T08:00:00Z", "valid_to");
    expect(() => requireInterval(from, to)).not.toThrow();
    expect(thrown(() => requireInterval(to, from)).data).toEqual({ field: "valid_to" });
  });
});
