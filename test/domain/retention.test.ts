import { describe, expect, test } from "bun:test";
import { NODE_TYPES } from "../../src/domain/enums.ts";
import { DEFAULT_TTL_DAYS, initialTtlDays } from "../../src/domain/retention.ts";

describe("initialTtlDays", () => {
  test("takes the type's default when nothing is given", () => {
    expect(
      NODE_TYPES.map((type) => [type, initialTtlDays(type, undefined, DEFAULT_TTL_DAYS)]),
    ).toEqual([
      ["entity", undefined],
      ["event", 365],
      ["fact", undefined],
      ["decision", 180],
      ["preference", undefined],
      ["task", 90],
      ["instruction", undefined],
      ["summary", 365],
      ["note", 90],
    ]);
  });

  test.each(NODE_TYPES)("keeps a %s for ever when null is given", (type) => {
    expect(initialTtlDays(type, null, DEFAULT_TTL_DAYS)).toBeUndefined();
  });

  test.each([0, 1, 36_500])("uses %d days as given", (days) => {
    expect(NODE_TYPES.map((type) => initialTtlDays(type, days, DEFAULT_TTL_DAYS))).toEqual(
      NODE_TYPES.map(() => days),
    );
  });

  test("takes replaced defaults, zero included", () => {
    expect(initialTtlDays("note", undefined, { note: 0 })).toBe(0);
    expect(initialTtlDays("event", undefined, { note: 0 })).toBeUndefined();
  });
});
