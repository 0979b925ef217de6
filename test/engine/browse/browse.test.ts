import { describe, expect, test } from "bun:test";
import type { BrowseQuery } from "../../../src/engine/browse/api.ts";
import { at, freshId, put } from "../../contract/samples.ts";
import { useEngines } from "../engines.ts";

const { open } = useEngines();

describe("browsing", () => {
  test("goes on behind its cursor, by either clock and in either order", async () => {
    const opened = await open();
    const moments = [undefined, 5, undefined, 1, 3];
    await put(
      opened.store,
      ...moments.map((happened, second) => ({
        content: `n${second}`,
        // The second and the third were stored at one moment.
        second: second === 2 ? 1 : second,
        eventTime: happened === undefined ? undefined : at(happened),
      })),
    );
    const read = async (given: Partial<BrowseQuery>) => {
      const contents: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await opened.engine.browse({ userId: "ada", limit: 2, ...given, cursor });
        expect(page.hasMore).toBe(page.nextCursor !== undefined);
        contents.push(...page.nodes.map(({ content }) => content));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return contents.join(" ");
    };

    expect(await read({})).toBe("n4 n3 n2 n1 n0");
    expect(await read({ order: "oldest" })).toBe("n0 n1 n2 n3 n4");
    expect(await read({ clock: "happened" })).toBe("n1 n4 n3 n2 n0");
    expect(await read({ clock: "happened", order: "oldest" })).toBe("n0 n2 n3 n4 n1");
    const some = { timeFrom: at(1), timeTo: at(4), contains: "N" };
    expect(await read(some)).toBe("n3 n2 n1");
    const asked = { userId: "ada", ...some };
    expect((await opened.engine.facets(asked)).total).toBe(3);
    const { total, buckets } = await opened.engine.timeline(asked);
    expect([total, buckets.map(({ from, count }) => [from, count])]).toEqual([
      3,
      [["2026-01-01", 3]],
    ]);
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
