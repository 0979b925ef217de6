import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../src/domain/arguments.ts";
import { wholeOf } from "../../src/domain/beginning.ts";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import type { Graph, NodeFilter } from "../../src/ports/store/graph.ts";
import { nodeKey } from "../node-keys.ts";
import { anAdmission, anEvent, at, freshId, type Memory, put, unit } from "./samples.ts";
import type { StoreWorld, World } from "./store-contract.ts";
import { ANYTHING } from "./store-vectors.ts";

const ACTIVE: NodeFilter = {
  owner: "ada",
  lifecycleStates: ["tentative", "stable", "contested"],
  oldestFirst: true,
  limit: 100,
};

async function query(store: Graph, given: Partial<NodeFilter>): Promise<string[]> {
  return (await store.queryNodes({ ...ACTIVE, ...given })).map(({ content }) => content);
}

const MEMORIES: readonly Memory[] = [
  { content: "zero: plain", second: 0 },
  { content: "one: FACT", second: 1, nodeType: "fact", sessionId: "s", confidence: 0.5 },
  { content: "two: 100% sure", second: 2, scope: "project", salience: 0.75, sessionId: "t" },
  { content: "three: under_score", second: 3, scope: "agent", validFrom: at(10), validTo: at(20) },
  { content: "four: ÉCOLE ИВАН", second: 4, lifecycleState: "stable" },
  { content: "five: back\\slash", second: 5, lifecycleState: "contested", validFrom: at(20) },
  { content: "six: gone", second: 6, lifecycleState: "superseded" },
  { content: "seven: İstanbul", second: 7, lifecycleState: "archived" },
  { content: "eight: of bob", second: 8, userId: "bob" },
];

const QUERIES: readonly {
  name: string;
  filter: Partial<NodeFilter>;
  expected: readonly number[];
}[] = [
  { name: "nothing but owner and active states", filter: {}, expected: [0, 1, 2, 3, 4, 5] },
  { name: "a type", filter: { nodeType: "fact" }, expected: [1] },
  { name: "scopes", filter: { scopes: ["project", "agent"] }, expected: [2, 3] },
  { name: "an empty list of scopes", filter: { scopes: [] }, expected: [0, 1, 2, 3, 4, 5] },
  { name: "sessions", filter: { sessionIds: ["s", "t", "none"] }, expected: [1, 2] },
  { name: "an empty list of sessions", filter: { sessionIds: [] }, expected: [0, 1, 2, 3, 4, 5] },
  { name: "one state", filter: { lifecycleStates: ["superseded"] }, expected: [6] },
  { name: "no state", filter: { lifecycleStates: [] }, expected: [] },
  {
    name: "all states",
    filter: { lifecycleStates: LIFECYCLE_STATES },
    expected: [0, 1, 2, 3, 4, 5, 6, 7],
  },
  { name: "validity at its start", filter: { validAt: at(10) }, expected: [0, 1, 2, 3, 4] },
  { name: "validity at its end", filter: { validAt: at(20) }, expected: [0, 1, 2, 4, 5] },
  { name: "validity before its start", filter: { validAt: at(1) }, expected: [0, 1] },
  { name: "the least confidence", filter: { minConfidence: 0.8 }, expected: [0, 2, 3, 4, 5] },
  { name: "the least salience", filter: { minSalience: 0.75 }, expected: [2] },
  { name: "creation", filter: { createdBefore: at(2) }, expected: [0, 1, 2] },
  {
    name: "a place in the order of time and id",
    filter: { olderThan: { createdAt: at(2), id: asUuid("00000000-0000-4000-8000-000000000000") } },
    expected: [0, 1],
  },
  {
    name: "a place behind all of its moment",
    filter: { olderThan: { createdAt: at(2), id: asUuid("ffffffff-ffff-4fff-bfff-ffffffffffff") } },
    expected: [0, 1, 2],
  },
  { name: "a part of the text", filter: { contentContainsAny: ["fact"] }, expected: [1] },
  {
    name: "any of several parts",
    filter: { contentContainsAny: ["PLAIN", "sure"] },
    expected: [0, 2],
  },
  { name: "a literal per cent sign", filter: { contentContainsAny: ["0% s"] }, expected: [2] },
  { name: "a literal underscore", filter: { contentContainsAny: ["r_s"] }, expected: [3] },
  { name: "a literal backslash", filter: { contentContainsAny: ["k\\s"] }, expected: [5] },
  { name: "no wildcard", filter: { contentContainsAny: ["%", "p_ain"] }, expected: [2] },
  { name: "French in another case", filter: { contentContainsAny: ["école"] }, expected: [4] },
  { name: "Cyrillic in another case", filter: { contentContainsAny: ["иван"] }, expected: [4] },
  {
    name: "a dotted capital I",
    filter: { contentContainsAny: ["İSTANBUL"], lifecycleStates: ["archived"] },
    expected: [7],
  },
  {
    name: "an empty list of parts",
    filter: { contentContainsAny: [] },
    expected: [0, 1, 2, 3, 4, 5],
  },
  { name: "a limit of none", filter: { limit: 0 }, expected: [] },
  {
    name: "a limit of none on text",
    filter: { limit: 0, contentContainsAny: ["e"] },
    expected: [],
  },
  { name: "a limit", filter: { limit: 2 }, expected: [0, 1] },
  { name: "a limit on text", filter: { limit: 1, contentContainsAny: [": "] }, expected: [0] },
  { name: "newest first", filter: { oldestFirst: false, limit: 2 }, expected: [5, 4] },
  {
    name: "all of several conditions",
    filter: { scopes: ["project"], sessionIds: ["t"], minSalience: 0.5, createdBefore: at(2) },
    expected: [2],
  },
  { name: "another owner", filter: { owner: "bob" }, expected: [8] },
  { name: "an owner without memories", filter: { owner: "eve" }, expected: [] },
];

/** Reads of events and nodes. */
export function describeReads(world: StoreWorld): void {
  describe("reads of events", () => {
    test("treat a foreign event as missing", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event, anEvent({ userId: "bob" })]));

      expect(await store.event(event.id, "ada")).toEqual(event);
      expect(await store.event(event.id, ALL_OWNERS)).toEqual(event);
      expect(await store.event(event.id, "bob")).toBeUndefined();
      expect(await store.event(event.id, "nobody")).toBeUndefined();
      expect(await store.event(freshId(), ALL_OWNERS)).toBeUndefined();
    });

    test("page from newest to oldest, equal times by id descending", async () => {
      const { store } = await world.fresh();
      const events = [3, 1, 2, 2, 0].map((second, index) =>
        anEvent({
          timestamp: at(second),
          content: `e${index}`,
          sessionId: index === 4 ? undefined : "s",
          scope: index === 0 ? "agent" : "personal",
        }),
      );
      await store.admit(anAdmission([...events, anEvent({ userId: "bob" })]));
      const page = async (given: object) =>
        (await store.events({ userId: "ada", limit: 100, offset: 0, ...given })).map(
          ({ content }) => content,
        );

      expect(await page({})).toEqual(["e0", "e3", "e2", "e1", "e4"]);
      expect(await page({ limit: 2, offset: 1 })).toEqual(["e3", "e2"]);
      expect(await page({ offset: 9 })).toEqual([]);
      expect(await page({ limit: 0 })).toEqual([]);
      expect(await page({ sessionId: "s" })).toEqual(["e0", "e3", "e2", "e1"]);
      expect(await page({ sessionId: "none" })).toEqual([]);
      expect(await page({ scopes: ["agent"] })).toEqual(["e0"]);
      expect(await page({ userId: "eve" })).toEqual([]);
    });

    test("tell the latest moment of an owner", async () => {
      const { store } = await world.fresh();
      const times = [3, 9, 5].map((second) => anEvent({ timestamp: at(second) }));
      await store.admit(anAdmission([...times, anEvent({ userId: "bob", timestamp: at(99) })]));

      expect(await store.lastEventAt("ada")).toBe(at(9));
      expect(await store.lastEventAt("eve")).toBeUndefined();
    });

    test("count by owner", async () => {
      const { store } = await world.fresh();
      await store.admit(anAdmission([anEvent(), anEvent(), anEvent({ userId: "bob" })]));

      expect(await store.countEvents("ada")).toBe(2);
      expect(await store.countEvents("eve")).toBe(0);
      expect(await store.countEvents(ALL_OWNERS)).toBe(3);
    });
  });

  describe("reads of nodes", () => {
    test("treat a foreign node as missing and show every state", async () => {
      const { store } = await world.fresh();
      const [node, inactive] = await put(
        store,
        {},
        { lifecycleState: "superseded" },
        { userId: "bob" },
      );

      expect(await store.node(node?.id ?? freshId(), "ada")).toEqual(node);
      expect(await store.node(node?.id ?? freshId(), ALL_OWNERS)).toEqual(node);
      expect(await store.node(inactive?.id ?? freshId(), "ada")).toEqual(inactive);
      expect(await store.node(node?.id ?? freshId(), "bob")).toBeUndefined();
      expect(await store.node(freshId(), ALL_OWNERS)).toBeUndefined();
    });

    test("count active ones by owner", async () => {
      const { store } = await world.fresh();
      await put(store, ...MEMORIES);

      expect(await store.countNodes("ada")).toBe(6);
      expect(await store.countNodes("bob")).toBe(1);
      expect(await store.countNodes("eve")).toBe(0);
      expect(await store.countNodes(ALL_OWNERS)).toBe(7);
    });

    test("query by every filter", async () => {
      const { store } = await world.fresh();
      await put(store, ...MEMORIES);

      const answers = [];
      for (const { name, filter } of QUERIES) answers.push([name, await query(store, filter)]);

      expect(answers).toEqual(
        QUERIES.map(({ name, expected }) => [
          name,
          expected.map((index) => MEMORIES[index]?.content ?? ""),
        ]),
      );
    });

    test("query every owner when everybody is named", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "a" }, { content: "b", userId: "bob", second: 1 });

      expect(await query(store, { owner: ALL_OWNERS })).toEqual(["a", "b"]);
    });

    test("order equal times by id in the direction of the query", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "a" }, { content: "b" }, { content: "c" });

      expect(await query(store, { oldestFirst: true })).toEqual(["a", "b", "c"]);
      expect(await query(store, { oldestFirst: false })).toEqual(["c", "b", "a"]);
      expect(await query(store, { oldestFirst: false, contentContainsAny: ["a", "c"] })).toEqual([
        "c",
        "a",
      ]);
    });
  });
}

/** Reads of nodes by their keys. */
export function describeKeyedReads(world: World): void {
  describe("reads of nodes", () => {
    test("by key leave out missing, foreign and inactive ones", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { vector: unit(1), content: "ada's" },
        { vector: unit(1), content: "bob's", userId: "bob" },
      );
      const [mine] = await store.searchVectors(unit(1), ANYTHING, 1);
      const [foreign] = await store.searchVectors(unit(1), { ...ANYTHING, userId: "bob" }, 1);
      const keys = [mine?.key ?? nodeKey(0), foreign?.key ?? nodeKey(0), nodeKey(999_999)];

      const found = await store.nodesByKey("ada", keys);

      expect(found.map(({ key, node }) => [key, node.content])).toEqual([
        [mine?.key ?? nodeKey(0), "ada's"],
      ]);
      expect(await store.nodesByKey("ada", [])).toEqual([]);
      expect(await store.nodesByKey("eve", keys)).toEqual([]);
    });

    test("for a question hold as much of long texts as it reads, and tell what the whole has", async () => {
      const { store } = await world.fresh();
      const most = LIMITS.contextTextChars + 1;
      const long = `${"é".repeat(most - 1)}😀 tail`;
      const [first] = await put(
        store,
        { vector: unit(1), content: long },
        { vector: unit(1), content: "x".repeat(most), metadata: { all: "m".repeat(most) } },
      );
      const hits = await store.searchVectors(unit(1), ANYTHING, 2);
      const keys = hits.map(({ key }) => key);

      const read = (await store.nodesByKey("ada", keys, "beginnings")).map(({ node }) => node);
      expect(read.map(({ content }) => content.length).toSorted()).toEqual([most - 1, most]);
      expect(read.map(({ metadata }) => metadata)).toEqual([undefined, undefined]);
      const cut = read.find(({ content }) => content.length < most);
      expect(cut && wholeOf(cut)).toEqual({ content: long.length, sha256: sha256Hex(long) });
      expect(wholeOf(read.find((node) => node !== cut)!)).toEqual({ metadata: most + 10 });
      const [byId] = await store.nodesById("ada", [first!.id]);
      expect(byId?.node.content).toBe("é".repeat(most - 1));
      const whole = (await store.nodesByKey("ada", keys)).map(({ node }) => node.content.length);
      expect(whole.toSorted()).toEqual([most, long.length]);
    });
  });

  describe("session windows", () => {
    test("hold the active nodes around a node, nearest first", async () => {
      const { store } = await world.fresh();
      const turn = (content: string, second: number, given: Memory = {}): Memory => ({
        content,
        second,
        sessionId: "s",
        ...given,
      });
      await put(
        store,
        turn("one", 1),
        turn("two", 2, { nodeType: "fact" }),
        turn("archived", 3, { lifecycleState: "archived" }),
        turn("centre", 4),
        turn("elsewhere", 5, { sessionId: "t" }),
        turn("other scope", 5, { scope: "agent" }),
        turn("of bob", 5, { userId: "bob" }),
        turn("same time", 4),
        turn("six", 6),
        turn("seven", 7),
        { content: "lonely", second: 4 },
      );
      const windowOf = async (content: string, span: number, userId = "ada") => {
        const [hit] = await store.searchText(content, { ...ANYTHING, userId }, 1);
        const key = hit?.key ?? nodeKey(0);
        const windows = await store.sessionWindows("ada", [key, nodeKey(999_999)], span);
        const window = windows.get(key);
        return (
          window && {
            before: window.before.map(({ node }) => node.content),
            after: window.after.map(({ node }) => node.content),
          }
        );
      };

      expect(await windowOf("centre", 2)).toEqual({
        before: ["two", "one"],
        after: ["same time", "six"],
      });
      expect(await windowOf("centre", 100)).toEqual({
        before: ["two", "one"],
        after: ["same time", "six", "seven"],
      });
      expect(await windowOf("seven", 1)).toEqual({ before: ["six"], after: [] });
      expect(await windowOf("lonely", 5)).toBeUndefined();
      expect(await windowOf("centre", 0)).toBeUndefined();
      // A key says nothing about the memories of another owner, who may have one with the same key.
      const foreign = await windowOf("bob", 5, "bob");
      expect([...(foreign?.before ?? []), ...(foreign?.after ?? [])]).not.toContain("of bob");
    });
  });
}
