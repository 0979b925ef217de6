import { describe, expect, test } from "bun:test";
import type { BrowseQuery } from "../../../src/engine/browse/api.ts";
import { at, freshId, put } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { useEngines, useOneEngine } from "../engines.ts";

const { open } = useEngines();
const refusing = useOneEngine();

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

  const FOUND: readonly (readonly [asked: Partial<BrowseQuery>, found: string])[] = [
    [{}, "fact tea"],
    [{ lifecycleStates: ["archived"] }, "gone"],
    [{ nodeType: "fact" }, "fact"],
    [{ scopes: ["project"] }, "fact"],
    [{ sourceTypes: ["tool_output"] }, "fact"],
    [{ epistemicTypes: ["observed"] }, "fact"],
    [{ sessionId: "s" }, "fact"],
    [{ validAt: at(5) }, "tea"],
    [{ timeFrom: at(1) }, "fact"],
    [{ timeTo: at(1) }, "tea"],
    [{ contains: "EA" }, "tea"],
    [{ expiresBefore: at(200_000) }, "tea"],
    [{ userId: "bob" }, "of bob"],
  ];

  test("shows and counts what passes", async () => {
    const { engine, store } = await open();
    await put(
      store,
      { content: "tea", ttlDays: 1 },
      {
        ...{ content: "fact", nodeType: "fact", scope: "project", sourceType: "tool_output" },
        ...{ epistemicType: "observed", sessionId: "s", second: 1, validTo: at(5) },
      },
      { content: "gone", lifecycleState: "archived", second: 2 },
      { content: "of bob", userId: "bob" },
    );
    for (const [asked, found] of FOUND) {
      const query = { userId: "ada", ...asked };
      const { nodes } = await engine.browse(query);
      const contents = nodes.map(({ content }) => content).join(" ");
      expect([asked, contents]).toEqual([asked, found]);
      const { total, lifecycleState } = await engine.facets(query);
      expect(total).toBe(nodes.length);
      const state = String(nodes[0]?.lifecycleState);
      expect(lifecycleState).toContainEqual({ value: state, count: nodes.length });
      const { buckets } = await engine.timeline(query);
      expect(buckets.map(({ byState }) => byState)).toEqual([{ [state]: nodes.length }]);
    }
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
    await expect(refusing().browse({ userId: "ada", ...given })).rejects.toThrow(field);
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
    await expect(refusing().timeline({ userId: "ada", timeZone: "Moon/Base" })).rejects.toThrow(
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

describe("edges", () => {
  test("at a memory are read in both directions, page by page", async () => {
    const opened = await open();
    const [hub, ...others] = await put(
      opened.store,
      ...["hub", "a", "b", "c"].map((content) => ({ content })),
    );
    const place = { seed: seedInto(opened.pack) };
    for (const [index, other] of others.entries()) {
      const type = index === 0 ? "mentions" : "relates_to";
      if (index % 2 === 0) await link(place, hub, other, { type });
      else await link(place, other, hub, { type });
    }
    await link(place, others[0], others[1], { type: "part_of" });
    const id = hub?.id ?? "";

    const first = await opened.engine.getNodeEdges(id, { userId: "ada", limit: 2 });
    const second = await opened.engine.getNodeEdges(id, { afterId: first?.nextCursor, limit: 2 });

    const edges = [...(first?.edges ?? []), ...(second?.edges ?? [])];
    expect(edges).toHaveLength(3);
    expect(edges.map((edge) => edge.id)).toEqual(edges.map((edge) => edge.id).sort());
    expect(edges.every((edge) => edge.sourceId === id || edge.targetId === id)).toBe(true);
    expect([first?.hasMore, second?.hasMore, second?.nextCursor]).toEqual([true, false, undefined]);
    const mentions = await opened.engine.getNodeEdges(id, { edgeType: "mentions" });
    expect(mentions?.edges.map(({ edgeType, targetId }) => [edgeType, targetId])).toEqual([
      ["mentions", others[0]?.id as never],
    ]);
  });

  test("are found by type, source and target, of one owner or of all", async () => {
    const opened = await open();
    const [a, b] = await put(opened.store, { content: "a" }, { content: "b" });
    const [c, d] = await put(
      opened.store,
      { content: "c", userId: "bob" },
      { content: "d", userId: "bob" },
    );
    const place = { seed: seedInto(opened.pack) };
    await link(place, a, b, { type: "supports" });
    await link(place, c, d, { type: "supports", userId: "bob" });
    const targets = async (query: Parameters<typeof opened.engine.getEdges>[0]) =>
      (await opened.engine.getEdges(query)).edges.map(({ targetId }) => targetId).sort();

    expect(await targets({})).toEqual([b?.id, d?.id].sort() as never);
    expect(await targets({ userId: "ada" })).toEqual([b?.id as never]);
    expect(await targets({ sourceId: c?.id, edgeType: "supports" })).toEqual([d?.id as never]);
    expect(await targets({ sourceId: c?.id, userId: "ada" })).toEqual([]);
    expect(await targets({ targetId: b?.id, edgeType: "mentions" })).toEqual([]);
  });

  test("of another owner's memory, or of none, are not there", async () => {
    const opened = await open();
    const [node] = await put(opened.store, { content: "x" });

    expect(await opened.engine.getNodeEdges(node?.id ?? "", { userId: "bob" })).toBeUndefined();
    expect(await opened.engine.getNodeEdges(freshId())).toBeUndefined();
    expect((await opened.engine.getEdges({ userId: "bob" })).edges).toEqual([]);
  });
});

describe("contradictions", () => {
  test("are listed oldest first with both memories, who noted them, and whether they are open", async () => {
    const opened = await open();
    const { engine } = opened;
    const store = async (content: string) =>
      (await engine.storeWithReceipt({ content, userId: "ada" })).nodeId;
    const [tea, coffee, rome, oslo] = [
      await store("Anna drinks tea"),
      await store("Anna drinks coffee"),
      await store("Anna lives in Rome"),
      await store("Anna lives in Oslo"),
    ];
    await engine.contradict(tea, coffee, { userId: "ada", actorId: "the nurse" });
    await engine.contradict(rome, oslo, { userId: "ada" });
    await engine.resolveContradiction(coffee, tea, { userId: "ada" });

    const all = await engine.listContradictions({ userId: "ada" });

    expect(
      all.contradictions.map(({ nodeA, nodeB, actor, status }) => [
        nodeA.id,
        nodeB.id,
        actor,
        status,
      ]),
    ).toEqual([
      [tea, coffee, "the nurse", "resolved"],
      [rome, oslo, "ada", "open"],
    ]);
    const ids = async (query: object) =>
      (await engine.listContradictions({ userId: "ada", ...query })).contradictions.map(
        ({ edgeId }) => edgeId,
      );
    const [first, second] = all.contradictions.map(({ edgeId }) => edgeId);
    expect(await ids({ status: "open" })).toEqual([second as never]);
    expect(await ids({ status: "resolved" })).toEqual([first as never]);
    const page = await engine.listContradictions({ userId: "ada", limit: 1 });
    expect([page.hasMore, page.nextCursor]).toEqual([true, first as never]);
    expect(await ids({ afterId: page.nextCursor })).toEqual([second as never]);
    expect((await engine.listContradictions({ userId: "bob" })).contradictions).toEqual([]);
  });
});

test("the counts of a pack are of all states, by type, state and scope", async () => {
  const opened = await open();
  const nodes = await put(
    opened.store,
    { content: "a", confidence: 0.25, salience: 0.5 },
    { content: "b", confidence: 0.75, salience: 0.5 },
    { content: "c", nodeType: "fact", lifecycleState: "archived" },
  );
  await put(opened.store, { content: "d", userId: "bob", scope: "project" });
  await link({ seed: seedInto(opened.pack) }, nodes[0], nodes[1], { type: "supports" });

  const own = await opened.engine.storeCounts("ada");
  const all = await opened.engine.storeCounts();

  expect(own.nodes).toContainEqual({
    nodeType: "note",
    lifecycleState: nodes[0]?.lifecycleState as never,
    scope: "personal",
    count: 2,
    confidence: 1,
    salience: 1,
  });
  expect(own.nodes.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  expect(own.edges).toEqual([{ edgeType: "supports", count: 1 }]);
  expect([own.events, all.events]).toEqual([3, 4]);
  expect(all.nodes.reduce((sum, { count }) => sum + count, 0)).toBe(4);
});

test("entities are listed by the number of their memories, page by page", async () => {
  const opened = await open();
  const [ada, tea, note] = await put(
    opened.store,
    { content: "Ada", nodeType: "entity" },
    { content: "tea", nodeType: "entity" },
    { content: "Ada drinks tea." },
  );
  await link({ seed: seedInto(opened.pack) }, note, tea, { type: "mentions" });
  const { engine } = opened;

  const first = await engine.listEntities({ userId: "ada", limit: 1 });
  const second = await engine.listEntities({ userId: "ada", limit: 1, cursor: first.nextCursor });

  expect(first.entities).toEqual([{ node: tea as never, memories: 1, contested: 0 }]);
  expect(second.entities).toEqual([{ node: ada as never, memories: 0, contested: 0 }]);
  expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, undefined]);
});

test("a page of entities is refused for a cursor that is none, a blank name and a wrong limit", async () => {
  const list = (query: object) => refusing().listEntities({ userId: "ada", ...query });

  for (const cursor of ["1", "x_y", `1_${"0".repeat(36)}`, `${"9".repeat(10)}_x`]) {
    await expect(list({ cursor })).rejects.toThrow("next_cursor");
  }
  await expect(list({ contains: " " })).rejects.toThrow("contains");
  await expect(list({ limit: 0 })).rejects.toThrow("limit");
});
