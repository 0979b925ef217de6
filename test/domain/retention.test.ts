import { describe, expect, test } from "bun:test";
import { NODE_TYPES } from "../../src/domain/enums.ts";
import {
  expiredAt,
  initialTtlDays,
  ORIGINAL_TTL_DAYS,
  retentionEnd,
} from "../../src/domain/fading.ts";
import { parseInstant } from "../../src/lib/instant.ts";
import { aNode, anEvent } from "../contract/samples.ts";

describe("initialTtlDays", () => {
  test("takes the type's default, for example the specification's, when nothing is given", () => {
    expect(
      NODE_TYPES.map((type) => [type, initialTtlDays(type, undefined, ORIGINAL_TTL_DAYS)]),
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
    expect(initialTtlDays(type, null, ORIGINAL_TTL_DAYS)).toBeUndefined();
  });

  test.each([0, 1, 36_500])("uses %d days as given", (days) => {
    expect(NODE_TYPES.map((type) => initialTtlDays(type, days, ORIGINAL_TTL_DAYS))).toEqual(
      NODE_TYPES.map(() => days),
    );
  });

  test("takes replaced defaults, zero included", () => {
    expect(initialTtlDays("note", undefined, { note: 0 })).toBe(0);
    expect(initialTtlDays("event", undefined, { note: 0 })).toBeUndefined();
  });
});

describe("the end of retention", () => {
  const moment = (text: string) => {
    const parsed = parseInstant(text);
    if (typeof parsed === "string") throw new Error(parsed);
    return parsed.instant;
  };
  const stored = (given: object) =>
    aNode(anEvent({ timestamp: moment("2026-01-31T23:59:59.999999Z") }), given);

  test.each([
    [0, "2026-01-31T23:59:59.999999Z"],
    [1, "2026-02-01T23:59:59.999999Z"],
    [90, "2026-05-01T23:59:59.999999Z"],
    [1_000_000, "4763-12-29T23:59:59.999999Z"],
  ])("is %d days of 86,400 s after a memory was stored", (ttlDays, end) => {
    expect(retentionEnd(stored({ ttlDays }))).toBe(moment(end));
  });

  test("counts from when a memory was stored, not from when it happened or is valid", () => {
    const early = moment("2020-01-01T00:00:00Z");
    const node = stored({ ttlDays: 1, eventTime: early, validFrom: early });

    expect(retentionEnd(node)).toBe(moment("2026-02-01T23:59:59.999999Z"));
  });

  test("does not come for pinned memories, for those without a limit, and after the year 9999", () => {
    expect(retentionEnd(stored({ ttlDays: 1, pinned: true }))).toBeUndefined();
    expect(retentionEnd(stored({ ttlDays: undefined }))).toBeUndefined();
    expect(retentionEnd(stored({ ttlDays: 9_000_000 }))).toBeUndefined();
  });

  test("is over one microsecond later, not at the very moment", () => {
    const node = stored({ ttlDays: 1 });

    expect(expiredAt(moment("2026-02-01T23:59:59.999998Z"))(node)).toBe(false);
    expect(expiredAt(moment("2026-02-01T23:59:59.999999Z"))(node)).toBe(false);
    expect(expiredAt(moment("2026-02-02T00:00:00Z"))(node)).toBe(true);
  });

  test("is never over for memories that are kept for ever, nor for longer than time has lasted", () => {
    const isOver = expiredAt(moment("9999-12-31T00:00:00Z"));

    expect(isOver(stored({ ttlDays: undefined }))).toBe(false);
    expect(isOver(stored({ ttlDays: 1, pinned: true }))).toBe(false);
    expect(isOver(stored({ ttlDays: 1 }))).toBe(true);
    expect(expiredAt(moment("2026-03-01T00:00:00Z"))(stored({ ttlDays: 1_000_000 }))).toBe(false);
  });
});
