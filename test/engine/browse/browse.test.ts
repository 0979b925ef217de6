import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../../src/domain/enums.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { BrowseFilters, BrowseQuery } from "../../../src/engine/browse/api.ts";
import { at, freshId, type Memory, put } from "../../contract/samples.ts";
import { useEngines } from "../engines.ts";

const { open } = useEngines();

/** Deterministic memories of every kind, some of them happened at another time than they were stored. */
function samples(count: number): Memory[] {
  const pick = <T>(members: readonly T[], index: number): T => {
    const member = members[index % members.length];
    if (member === undefined) throw new Error("no members");
    return member;
  };
  return Array.from({ length: count }, (_, index): Memory => {
    // Ties in the moment are broken by id.
    const second = Math.floor(index / 2) * 3600;
    return {
      content: `memory ${index} of ${index % 3 === 0 ? "Ärger" : "tea"}`,
      second,
      nodeType: pick(NODE_TYPES, index),
      lifecycleState: pick(LIFECYCLE_STATES, index * 5),
      scope: pick(SCOPES, Math.floor(index / 3)),
      sourceType: pick(SOURCE_TYPES, index * 7),
      epistemicType: pick(EPISTEMIC_TYPES, index * 11),
      sessionId: index % 4 === 0 ? "talk" : undefined,
      eventTime: index % 5 === 0 ? at(1_000_000 - index * 60) : undefined,
      ttlDays: index % 6 === 0 ? index : undefined,
      pinned: index % 12 === 0,
      validTo: index % 7 === 0 ? at(second + 60) : undefined,
    };
  });
}

const DAY_SECONDS = 86_400;

function momentOf(node: MemoryNode, clock: BrowseQuery["clock"]): string {
  return clock === "happened" ? (node.eventTime ?? node.createdAt) : node.createdAt;
}

/** Whether a memory has the properties that a filter names, in words of its own. */
function isOfKind(node: MemoryNode, query: BrowseFilters): boolean {
  const states = query.lifecycleStates ?? ["tentative", "stable", "contested"];
  return (
    states.includes(node.lifecycleState) &&
    (query.nodeType ?? node.nodeType) === node.nodeType &&
    (query.scopes ?? [node.scope]).includes(node.scope) &&
    (query.sourceTypes ?? [node.sourceType]).includes(node.sourceType) &&
    (query.epistemicTypes ?? [node.epistemicType]).includes(node.epistemicType) &&
    (query.sessionId ?? node.sessionId) === node.sessionId &&
    node.content.toLowerCase().includes((query.contains ?? "").toLowerCase())
  );
}

/** Whether a memory has the times that a filter names. */
function isOfTime(node: MemoryNode, query: BrowseFilters): boolean {
  const moment = momentOf(node, query.clock);
  const { validAt, validTo = "~" } = { validAt: query.validAt, validTo: node.validTo };
  return (
    moment >= String(query.timeFrom ?? "") &&
    moment < String(query.timeTo ?? "~") &&
    (validAt === undefined || (node.validFrom <= String(validAt) && validTo > String(validAt))) &&
    (query.expiresBefore === undefined || endOf(node) < Date.parse(String(query.expiresBefore)))
  );
}

/** When the retention of a memory ends, in milliseconds. */
function endOf({ createdAt, ttlDays, pinned }: MemoryNode): number {
  if (ttlDays === undefined || pinned) return Number.POSITIVE_INFINITY;
  return Date.parse(createdAt) + ttlDays * DAY_SECONDS * 1000;
}

function naive(nodes: readonly MemoryNode[], query: BrowseFilters): MemoryNode[] {
  return nodes.filter((node) => isOfKind(node, query) && isOfTime(node, query));
}

describe("browsing", () => {
  test("gives the memories that pass every filter, page by page, each once and in order", async () => {
    const opened = await open();
    const nodes = await put(opened.store, ...samples(90));
    await put(opened.store, { content: "memory of bob", userId: "bob" });
    const some = <T>(members: readonly T[]) =>
      fc.option(fc.subarray([...members]), { nil: undefined, freq: 2 });
    const moment = fc.option(
      fc.nat(60).map((hour) => at(hour * 3600)),
      { nil: undefined, freq: 1 },
    );
    const query = fc.record({
      clock: fc.constantFrom("learned" as const, "happened" as const),
      order: fc.constantFrom("newest" as const, "oldest" as const),
      lifecycleStates: some(LIFECYCLE_STATES),
      nodeType: fc.option(fc.constantFrom(...NODE_TYPES), { nil: undefined, freq: 1 }),
      scopes: some(SCOPES),
      sourceTypes: some(SOURCE_TYPES),
      epistemicTypes: some(EPISTEMIC_TYPES),
      sessionId: fc.constantFrom(undefined, undefined, "talk", "none"),
      timeFrom: moment,
      timeTo: moment,
      validAt: moment,
      expiresBefore: fc.option(
        fc.nat(90).map((day) => at(day * DAY_SECONDS)),
        { nil: undefined, freq: 1 },
      ),
      contains: fc.constantFrom(undefined, undefined, "ÄRGER", "1", "50%"),
      limit: fc.integer({ min: 1, max: 40 }),
    });

    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        const asked = { userId: "ada", ...given };
        const read: MemoryNode[] = [];
        let cursor: string | undefined;
        do {
          const page = await opened.engine.browse({ ...asked, cursor });
          expect(page.hasMore).toBe(page.nextCursor !== undefined);
          expect(page.nodes.length).toBeLessThanOrEqual(given.limit);
          read.push(...page.nodes);
          cursor = page.nextCursor;
        } while (cursor !== undefined);

        const key = (node: MemoryNode) => `${momentOf(node, given.clock)} ${node.id}`;
        const wanted = naive(nodes, asked).sort((a, b) => (key(a) < key(b) ? 1 : -1));
        if (given.order === "oldest") wanted.reverse();
        expect(read.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));

        const { total, ...facets } = await opened.engine.facets(asked);
        expect(total).toBe(wanted.length);
        const unfiltered = naive(nodes, { ...asked, nodeType: undefined });
        const types = new Map<string, number>();
        for (const { nodeType } of unfiltered) types.set(nodeType, (types.get(nodeType) ?? 0) + 1);
        expect(new Map(facets.nodeType.map(({ value, count }) => [value, count]))).toEqual(types);

        const timeline = await opened.engine.timeline(asked);
        expect(timeline.total).toBe(wanted.length);
        expect(timeline.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(wanted.length);
        for (const { from, count, byState } of timeline.buckets) {
          const ofDay = wanted.filter((node) => momentOf(node, given.clock).startsWith(from));
          expect(count).toBe(ofDay.length);
          expect(Object.values(byState).reduce((sum, one) => sum + one, 0)).toBe(count);
        }
      }),
      { numRuns: 120, seed: 11 },
    );
  });

  test("of an unknown owner is empty", async () => {
    const { engine } = await open();
    const userId = "nobody";

    expect(await engine.browse({ userId })).toEqual({
      nodes: [],
      hasMore: false,
      nextCursor: undefined,
    });
    expect((await engine.facets({ userId })).total).toBe(0);
    expect((await engine.timeline({ userId })).buckets).toEqual([]);
  });

  test.each([
    ["cursor", { cursor: "yesterday" }],
    ["limit", { limit: 0 }],
    ["contains", { contains: " " }],
    ["time_from", { timeFrom: "2026-01-01T00:00:00" }],
    ["clock", { clock: "wall" as never }],
  ])("refuses a wrong %s", async (field, given) => {
    const { engine } = await open();

    await expect(engine.browse({ userId: "ada", ...given })).rejects.toThrow(field);
  });
});

describe("a facet", () => {
  test("is counted without its own filter, most frequent first", async () => {
    const opened = await open();
    const kinds = ["note", "note", "fact"] as const;
    await put(opened.store, ...kinds.map((nodeType) => ({ content: "x", nodeType })));
    await put(opened.store, { content: "x", nodeType: "task", scope: "project" });

    const facets = await opened.engine.facets({
      userId: "ada",
      nodeType: "fact",
      scopes: ["personal"],
    });

    expect(facets.total).toBe(1);
    expect(facets.nodeType).toEqual([
      { value: "note", count: 2 },
      { value: "fact", count: 1 },
    ]);
    expect(facets.scope).toEqual([{ value: "personal", count: 1 }]);
  });
});

describe("a timeline", () => {
  /** 2026-03-29 is when Berlin puts the clock forward. */
  const moments = ["2026-03-28T22:59", "2026-03-28T23:00", "2026-03-29T21:59", "2026-03-29T22:00"];

  test("has the days, weeks and months of a time zone", async () => {
    const opened = await open();
    const events = moments.map((moment) => ({
      content: moment,
      eventTime: `${moment}:00.000000Z` as never,
    }));
    await put(opened.store, ...events);
    const ask = async (timeZone: string, bucket: "day" | "week" | "month" = "day") => {
      const query = { userId: "ada", clock: "happened", timeZone, bucket } as const;
      const { buckets } = await opened.engine.timeline(query);
      return buckets.map(({ from, count }) => [from, count]);
    };

    expect(await ask("Europe/Berlin")).toEqual([
      ["2026-03-30", 1],
      ["2026-03-29", 2],
      ["2026-03-28", 1],
    ]);
    expect(await ask("UTC")).toEqual([
      ["2026-03-29", 2],
      ["2026-03-28", 2],
    ]);
    expect(await ask("Asia/Kathmandu")).toEqual([
      ["2026-03-30", 2],
      ["2026-03-29", 2],
    ]);
    expect(await ask("Europe/Berlin", "week")).toEqual([
      ["2026-03-30", 1],
      ["2026-03-23", 3],
    ]);
    expect(await ask("UTC", "month")).toEqual([["2026-03-01", 4]]);
  });

  test("refuses a zone that nobody knows", async () => {
    const { engine } = await open();

    await expect(engine.timeline({ userId: "ada", timeZone: "Moon/Base" })).rejects.toThrow(
      'time_zone: "Moon/Base" is no time zone',
    );
  });
});

describe("a batch", () => {
  test("has memories in any state in the order of their ids, and names the missing", async () => {
    const opened = await open();
    const [one, gone] = await put(
      opened.store,
      { content: "one" },
      { content: "gone", lifecycleState: "archived" },
    );
    const [foreign] = await put(opened.store, { content: "of bob", userId: "bob" });
    const unknown = freshId();
    if (one === undefined || gone === undefined || foreign === undefined) throw new Error();

    const ids = [gone.id, foreign.id, unknown, one.id, gone.id];

    expect(await opened.engine.getNodes(ids, "ada")).toEqual({
      nodes: [gone, one],
      missing: [foreign.id, unknown],
      leftOut: [],
    });
    const many = Array.from({ length: 501 }, freshId);
    await expect(opened.engine.getNodes(many, "ada")).rejects.toThrow("at most 500");
  });
});
