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
import { retire, write } from "./store-change.ts";
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

const QUERIES = (
  [
    ["nothing but owner and active states", {}, [0, 1, 2, 3, 4, 5]],
    ["a type", { nodeType: "fact" }, [1]],
    ["scopes", { scopes: ["project", "agent"] }, [2, 3]],
    ["an empty list of scopes", { scopes: [] }, [0, 1, 2, 3, 4, 5]],
    ["sessions", { sessionIds: ["s", "t", "none"] }, [1, 2]],
    ["an empty list of sessions", { sessionIds: [] }, [0, 1, 2, 3, 4, 5]],
    ["one state", { lifecycleStates: ["superseded"] }, [6]],
    ["no state", { lifecycleStates: [] }, []],
    ["all states", { lifecycleStates: LIFECYCLE_STATES }, [0, 1, 2, 3, 4, 5, 6, 7]],
    ["validity at its start", { validAt: at(10) }, [0, 1, 2, 3, 4]],
    ["validity at its end", { validAt: at(20) }, [0, 1, 2, 4, 5]],
    ["validity before its start", { validAt: at(1) }, [0, 1]],
    ["the least confidence", { minConfidence: 0.8 }, [0, 2, 3, 4, 5]],
    ["the least salience", { minSalience: 0.75 }, [2]],
    ["creation", { createdBefore: at(2) }, [0, 1, 2]],
    [
      "a place in the order of time and id",
      { olderThan: { createdAt: at(2), id: asUuid("00000000-0000-4000-8000-000000000000") } },
      [0, 1],
    ],
    [
      "a place behind all of its moment",
      { olderThan: { createdAt: at(2), id: asUuid("ffffffff-ffff-4fff-bfff-ffffffffffff") } },
      [0, 1, 2],
    ],
    ["a part of the text", { contentContainsAny: ["fact"] }, [1]],
    ["any of several parts", { contentContainsAny: ["PLAIN", "sure"] }, [0, 2]],
    ["a literal per cent sign", { contentContainsAny: ["0% s"] }, [2]],
    ["a literal underscore", { contentContainsAny: ["r_s"] }, [3]],
    ["a literal backslash", { contentContainsAny: ["k\\s"] }, [5]],
    ["no wildcard", { contentContainsAny: ["%", "p_ain"] }, [2]],
    ["French in another case", { contentContainsAny: ["école"] }, [4]],
    ["Cyrillic in another case", { contentContainsAny: ["иван"] }, [4]],
    [
      "a dotted capital I",
      { contentContainsAny: ["İSTANBUL"], lifecycleStates: ["archived"] },
      [7],
    ],
    ["an empty list of parts", { contentContainsAny: [] }, [0, 1, 2, 3, 4, 5]],
    ["a limit of none", { limit: 0 }, []],
    ["a limit of none on text", { limit: 0, contentContainsAny: ["e"] }, []],
    ["a limit", { limit: 2 }, [0, 1]],
    ["a limit on text", { limit: 1, contentContainsAny: [": "] }, [0]],
    ["newest first", { oldestFirst: false, limit: 2 }, [5, 4]],
    [
      "all of several conditions",
      { scopes: ["project"], sessionIds: ["t"], minSalience: 0.5, createdBefore: at(2) },
      [2],
    ],
    ["another owner", { owner: "bob" }, [8]],
    ["an owner without memories", { owner: "eve" }, []],
  ] satisfies readonly (readonly [
    name: string,
    filter: Partial<NodeFilter>,
    expected: readonly number[],
  ])[]
).map(([name, filter, expected]) => ({ name, filter, expected }));

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

    test("by key show what has changed since the last one", async () => {
      const { store } = await world.fresh();
      const [tea, milk] = await put(
        store,
        { vector: unit(1), content: "tea", metadata: { cup: { colour: "blue" } } },
        { vector: unit(1), content: "milk" },
      );
      const keys = (await store.searchVectors(unit(1), ANYTHING, 2)).map(({ key }) => key);
      const read = async () => {
        const found = await store.nodesByKey("ada", keys, "beginnings");
        return new Map(found.map(({ node }) => [node.content, node]));
      };
      expect((await read()).get("tea")).toEqual(tea!);
      // Neither the time nor the state of the memory tells of this change.
      await write(store, { nodes: [{ ...tea!, salience: 0.9 }] });
      expect((await read()).get("tea")).toEqual({ ...tea!, salience: 0.9 });
      await retire(store, "archived", milk);
      expect([...(await read()).keys()]).toEqual(["tea"]);
      expect(await store.nodesByKey("eve", keys, "beginnings")).toEqual([]);
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
