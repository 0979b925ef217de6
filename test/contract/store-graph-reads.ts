import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LIMITS } from "../../src/domain/arguments.ts";
import { ACTIVE_STATES, LIFECYCLE_STATES, NODE_TYPES, SCOPES } from "../../src/domain/enums.ts";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { asUuid, type Uuid } from "../../src/lib/uuid.ts";
import type { ChainDirection, NodeScan } from "../../src/ports/store/graph.ts";
import type { Store } from "../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  freshId,
  type Memory,
  put,
  unit,
} from "./samples.ts";
import { write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { anEdgeBetween, link } from "./store-graph.ts";

const contents = (nodes: readonly MemoryNode[]): string[] => nodes.map(({ content }) => content);
const idOf = (node: MemoryNode | undefined): Uuid => node?.id ?? freshId();

/** An identifier whose place among others says nothing about when it was made. */
const anyId = (): Uuid => asUuid(crypto.randomUUID());

const byId = (one: MemoryNode, other: MemoryNode): number => (one.id < other.id ? -1 : 1);

/** An edge of a random graph; ends are places in the list of its nodes. */
type Line = {
  readonly source: number;
  readonly target: number;
  readonly type: "mentions" | "supersedes" | "relates_to";
  readonly userId: string;
  readonly second: number;
};
const owner = fc.oneof({ weight: 5, arbitrary: fc.constant("ada") }, fc.constant("bob"));

/** All pages of a scan, one after the other. */
async function pages(store: Store, scan: Omit<NodeScan, "afterId">): Promise<MemoryNode[]> {
  const found: MemoryNode[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await store.scanNodes({ ...scan, afterId: found.at(-1)?.id });
    expect(page.items.length).toBe(page.hasMore ? scan.limit : page.items.length);
    found.push(...page.items);
    hasMore = page.hasMore;
  }
  return found;
}

const WIDE = { owner: "ada", maxHops: 5, maxVisited: 1000 };

function describeScan(world: StoreWorld): void {
  describe("a scan of nodes", () => {
    test("gives the same nodes by ascending id whatever the size of its pages", async () => {
      const { store } = await world.fresh();
      const pick = <T>(values: readonly T[], i: number): T => values[i % values.length] as T;
      const memories = Array.from(
        { length: 70 },
        (_, i): Memory => ({
          id: anyId(),
          content: `${i}`,
          nodeType: pick(NODE_TYPES, i * 7),
          scope: pick(SCOPES, i >> 2),
          lifecycleState: pick(LIFECYCLE_STATES, i >> 1),
          userId: i % 10 === 0 ? "bob" : "ada",
        }),
      );
      const made = await put(store, ...memories);
      const restrictions = fc.record({
        userId: fc.constantFrom("ada", "bob", "eve"),
        scope: fc.option(fc.constantFrom(...SCOPES), { nil: undefined }),
        nodeType: fc.option(fc.constantFrom(...NODE_TYPES), { nil: undefined, freq: 1 }),
        lifecycleStates: fc.uniqueArray(fc.constantFrom(...LIFECYCLE_STATES)),
        limit: fc.integer({ min: 1, max: 80 }),
      });

      await fc.assert(
        fc.asyncProperty(restrictions, async (scan) => {
          const expected = made
            .filter(({ userId }) => userId === scan.userId)
            .filter(({ scope }) => scan.scope === undefined || scope === scan.scope)
            .filter(({ nodeType }) => scan.nodeType === undefined || nodeType === scan.nodeType)
            .filter(({ lifecycleState }) => scan.lifecycleStates.includes(lifecycleState))
            .sort(byId);

          expect(await pages(store, scan)).toEqual(expected);
        }),
        { numRuns: 60 },
      );
      const all = { userId: "ada", lifecycleStates: LIFECYCLE_STATES };
      for (let limit = 1; limit <= 64; limit += 1) {
        expect(contents(await pages(store, { ...all, limit }))).toEqual(
          contents(made.filter(({ userId }) => userId === "ada").sort(byId)),
        );
      }
    });

    test("begins after a given id, also one that no node has", async () => {
      const { store } = await world.fresh();
      const ids = ["1", "3", "5"].map((digit) => asUuid(digit.repeat(8) + freshId().slice(8)));
      await put(store, ...ids.map((id) => ({ id, content: id.slice(0, 1) })));
      const from = async (afterId: string | undefined) =>
        contents(
          (
            await store.scanNodes({
              userId: "ada",
              lifecycleStates: ACTIVE_STATES,
              limit: 2,
              afterId: afterId === undefined ? undefined : asUuid(afterId),
            })
          ).items,
        );

      expect(await from(undefined)).toEqual(["1", "3"]);
      expect(await from(ids[0])).toEqual(["3", "5"]);
      expect(await from("22222222-0000-4000-8000-000000000000")).toEqual(["3", "5"]);
      expect(await from("ffffffff-0000-4000-8000-000000000000")).toEqual([]);
    });

    test("lets other work come in between its pages", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "a" }, { content: "b" }, { content: "c" });
      let turns = 0;
      let isOver = false;
      const count = (): void => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);

      await pages(store, { userId: "ada", lifecycleStates: ACTIVE_STATES, limit: 1 });
      isOver = true;

      expect(turns).toBeGreaterThanOrEqual(3);
    });
  });
}

function describeNeighborhood(world: StoreWorld): void {
  describe("a neighborhood", () => {
    test("goes both ways, passes through inactive nodes and returns whole active ones", async () => {
      const { store, place } = await world.fresh();
      const [start, near, gone, far, farther, bobs] = await put(
        store,
        { content: "start", lifecycleState: "archived" },
        { content: "near", metadata: { a: 1 }, pinned: true },
        { content: "gone", lifecycleState: "superseded" },
        { content: "far" },
        { content: "farther" },
        { content: "of bob", userId: "bob" },
      );
      // A circle, an edge twice and to itself, and what joins owners, whose ever it is.
      for (const [from, to] of [
        [near, start],
        [near, near],
        [far, near],
      ])
        await link(place, from, to);
      for (const userId of ["ada", "bob"]) await link(place, start, bobs, { userId });
      await link(place, start, farther, { userId: "bob" });
      await link(place, bobs, farther);
      await link(place, start, near);
      await link(place, gone, start, { type: "supersedes", validTo: at(1) });
      await link(place, gone, far);
      await link(place, farther, far);
      const within = async (maxHops: number) =>
        contents(await store.neighborhood({ ...WIDE, nodeId: idOf(start), maxHops }));

      expect(await store.neighborhood({ ...WIDE, nodeId: idOf(start), maxHops: 1 })).toEqual(
        near === undefined ? [] : [near],
      );
      expect(await within(2)).toEqual(["near", "far"]);
      expect(await within(3)).toEqual(["near", "far", "farther"]);
    });

    test("of a hub of 3,000 is as large as asked for, the lowest ids first", async () => {
      const { store, place } = await world.fresh();
      const [hub, beyond] = await put(store, { content: "hub" }, { content: "beyond" });
      if (hub === undefined) throw new Error("the hub was stored");
      const spokes = Array.from({ length: 3_000 }, (_, i) => ({
        ...hub,
        id: asUuid(`${`${3_000 - i}`.padStart(8, "0")}-0000-4000-8000-000000000000`),
      }));
      await place.seed.nodes(spokes);
      const lines = spokes.map((spoke, i) => (i % 2 === 0 ? [hub, spoke] : [spoke, hub]));
      await place.seed.edges(lines.map(([source, target]) => anEdgeBetween(source, target)));
      await link(place, hub, beyond);
      const read = { nodeId: idOf(hub), owner: "ada", maxHops: 5 };

      const some = await store.neighborhood({ ...read, maxVisited: 1000 });
      const all = await store.neighborhood({ ...read, maxVisited: 20_000 });

      expect(some.map(({ id }) => id.slice(0, 8))).toEqual(
        Array.from({ length: 999 }, (_, i) => `${i + 1}`.padStart(8, "0")),
      );
      expect(all).toHaveLength(3_001);
    });

    test("of an unknown node is empty", async () => {
      const { store } = await world.fresh();
      expect(await store.neighborhood({ ...WIDE, nodeId: freshId() })).toEqual([]);
    });
  });
}

function describeChain(world: StoreWorld): void {
  describe("a chain", () => {
    test("goes from the old to the new and back, in any state, and ends after its steps", async () => {
      const { store, place } = await world.fresh();
      const [first, second, third] = await put(
        store,
        { content: "first", lifecycleState: "superseded" },
        { content: "second", lifecycleState: "archived" },
        { content: "third" },
      );
      await link(place, third, first, { type: "supersedes", second: 1 });
      await link(place, second, first, { type: "supersedes", second: 2 });
      await link(place, third, first, { type: "mentions", second: 3 });
      await link(place, third, first, { type: "supersedes", second: 3, userId: "bob" });
      await link(place, third, second, { type: "supersedes", second: 2 });
      const from = async (
        node: MemoryNode | undefined,
        direction: ChainDirection,
        maxSteps = 100,
      ) => contents(await store.chain({ nodeId: idOf(node), owner: "ada", direction, maxSteps }));

      expect(await from(first, "forward")).toEqual(["second", "third"]);
      expect(await from(third, "backward")).toEqual(["second", "first"]);
      expect(await from(first, "backward")).toEqual([]);
      expect(await from(third, "forward")).toEqual([]);
      expect(await from(first, "forward", 1)).toEqual(["second"]);
      expect(await from(undefined, "forward")).toEqual([]);
      await link(place, first, third, { type: "supersedes" });
      expect(await from(first, "forward")).toEqual(["second", "third"]);
    });
  });
}

function describeEvidence(world: StoreWorld): void {
  describe("evidence", () => {
    test("names the nodes of the event's owner that cite it, in any state, by id", async () => {
      const { store } = await world.fresh();
      const [event, other] = [anEvent(), anEvent()];
      const foreign = anEvent({ userId: "bob" });
      await store.admit(anAdmission([event, other, foreign]));
      const nodes = [
        aNode(other, { id: anyId(), content: "second", evidenceRefs: [other.id, event.id] }),
        aNode(event, { id: anyId(), content: "first", lifecycleState: "archived" }),
        aNode(event, { id: anyId(), content: "twice", evidenceRefs: [event.id, event.id] }),
        aNode(other, { id: anyId(), content: "of none", evidenceRefs: [] }),
        aNode(other, { id: anyId(), content: "of what is not there", evidenceRefs: [freshId()] }),
        aNode(foreign, { id: anyId(), content: "bob's", evidenceRefs: [foreign.id, event.id] }),
      ];
      const carriers = nodes.map(({ userId }) => anEvent({ userId }));
      await store.admit(anAdmission(carriers));
      await store.materialize(
        nodes.flatMap((node, i) => {
          const carrier = carriers[i];
          return carrier === undefined ? [] : [aMaterialization(carrier, node)];
        }),
      );
      const citing = nodes.slice(0, 3).sort(byId);

      expect(await store.nodesCiting(event.id, "ada")).toEqual(citing);
      expect(contents(await store.nodesCiting(other.id, "ada"))).toEqual(["second"]);
      expect(contents(await store.nodesCiting(foreign.id, "bob"))).toEqual(["bob's"]);
      expect(await store.nodesCiting(freshId(), ALL_OWNERS)).toEqual([]);
    });

    test("follows what nodes cite when that changes", async () => {
      const { store } = await world.fresh();
      const [old, kept, added] = [anEvent(), anEvent(), anEvent()];
      await store.admit(anAdmission([old, kept, added]));
      const node = aNode(old, { content: "node", evidenceRefs: [old.id, kept.id] });
      await store.materialize([aMaterialization(old, node)]);
      const cited = async () =>
        Promise.all(
          [old, kept, added].map(async ({ id }) => (await store.nodesCiting(id, "ada")).length),
        );

      expect(await cited()).toEqual([1, 1, 0]);
      const evidenceRefs = [kept.id, added.id, kept.id, freshId()];
      await write(store, { nodes: [{ ...node, evidenceRefs }] });
      expect(await cited()).toEqual([0, 1, 1]);
      await write(store, { nodes: [{ ...node, evidenceRefs, confidence: 0.1 }] });
      expect(await cited()).toEqual([0, 1, 1]);
      await write(store, { nodes: [{ ...node, evidenceRefs: [] }] });
      expect(await cited()).toEqual([0, 0, 0]);
    });

    test("is read by the ids of events, of whatever owner", async () => {
      const { store } = await world.fresh();
      const events = Array.from({ length: 300 }, (_, i) =>
        anEvent({ userId: i % 2 === 0 ? "ada" : "bob", metadata: { i } }),
      );
      await store.admit(anAdmission(events));
      const ids = [...events, ...events].map(({ id }) => id);

      const found = await store.eventsById([...ids, freshId()], ALL_OWNERS);

      expect(found.hasMore).toBe(false);
      expect(found.items).toHaveLength(events.length);
      expect(new Set(found.items)).toEqual(new Set(events));
      expect(await store.eventsById([], ALL_OWNERS)).toEqual({ items: [], hasMore: false });
    });
  });
}

function describeContradictionEdges(world: StoreWorld): void {
  const between = (edges: readonly Edge[], names: ReadonlyMap<Uuid, string>): string[] =>
    edges.map(({ sourceId, targetId }) => `${names.get(sourceId)}-${names.get(targetId)}`);

  async function web(world: StoreWorld) {
    const { store, place } = await world.fresh();
    const made = await put(
      store,
      { content: "a", lifecycleState: "contested" },
      { content: "b", lifecycleState: "deprecated" },
      { content: "c" },
      { content: "project", scope: "project" },
      { content: "bob's", userId: "bob" },
    );
    const [a, b, c, project, bobs] = made;
    const contradicts = (second: number) => ({ type: "contradicts", second }) as const;
    await link(place, c, a, contradicts(1));
    await link(place, a, b, { ...contradicts(3), validTo: at(9) });
    await link(place, b, c, contradicts(2));
    await link(place, b, a, contradicts(3));
    await link(place, a, project, contradicts(4));
    await link(place, a, bobs, contradicts(5));
    await link(place, a, b, { type: "supports" });
    await link(place, a, c, { ...contradicts(6), userId: "bob" });
    const names = new Map(made.map(({ id, content }) => [id, content]));
    return { store, made, names };
  }

  describe("contradiction edges", () => {
    test("among nodes are those with both ends there, of the owner, oldest first", async () => {
      const { store, made, names } = await web(world);
      const ids = made.map(({ id }) => id);
      const among = async (userId: string, given: readonly Uuid[]) =>
        between(await store.contradictionsAmong(userId, given), names);
      const all = ["c-a", "b-c", "a-b", "b-a", "a-project"];

      expect(await among("ada", ids)).toEqual(all);
      expect(await among("ada", [...ids, ...ids, freshId()].reverse())).toEqual(all);
      expect(await among("ada", ids.slice(0, 2))).toEqual(["a-b", "b-a"]);
      expect(await among("ada", ids.slice(0, 1))).toEqual([]);
      expect(await among("ada", [])).toEqual([]);
      expect(await among("bob", ids)).toEqual([]);
      expect(await among("eve", ids)).toEqual([]);
    });

    test("of a node lead to one of its owner and scope, in whatever state, oldest first", async () => {
      const { store, made, names } = await web(world);
      const of = async (index: number) =>
        between(await store.contradictionsOf(idOf(made[index]), "ada"), names);

      expect(await of(0)).toEqual(["c-a", "a-b", "b-a"]);
      expect(await of(1)).toEqual(["b-c", "a-b", "b-a"]);
      expect(await of(3)).toEqual([]);
      expect(await of(4)).toEqual([]);
      expect(await store.contradictionsOf(freshId(), ALL_OWNERS)).toEqual([]);
    });

    test("are whole", async () => {
      const { store, made } = await web(world);
      const [first] = await store.contradictionsOf(idOf(made[2]), "ada");
      const later = await store.contradictionsOf(idOf(made[0]), "ada");

      expect(first).toMatchObject({
        userId: "ada",
        sourceId: idOf(made[2]),
        targetId: idOf(made[0]),
        edgeType: "contradicts",
        confidence: 0.9,
        validFrom: at(1),
        validTo: undefined,
        metadata: undefined,
        createdAt: at(1),
      });
      expect(later.find(({ validTo }) => validTo !== undefined)?.validTo).toBe(at(9));
    });

    test("among nodes are the same however many others are asked about or contradict", async () => {
      const { store, place } = await world.fresh();
      const made = await put(
        store,
        ...Array.from({ length: 12 }, (_, i) => ({ id: anyId(), userId: i > 9 ? "bob" : "ada" })),
      );
      const strangers = Array.from({ length: 4_000 }, anyId);
      const end = fc.nat(made.length - 1);
      const lines = fc.array(fc.tuple(end, end, owner, fc.nat(2)), { maxLength: 6 });
      const known: (readonly [Line["source"], Line["target"], string])[] = [];

      await fc.assert(
        fc.asyncProperty(lines, fc.uniqueArray(end), async (added, asked) => {
          for (const [source, target, userId, second] of added) {
            await link(place, made[source], made[target], { type: "contradicts", userId, second });
          }
          known.push(...added.map(([source, target, userId]) => [source, target, userId] as const));
          const ids = asked.map((index) => idOf(made[index]));

          const few = await store.contradictionsAmong("ada", ids);

          const expected = known
            .filter(([source, target, userId]) => userId === "ada" && source < 10 && target < 10)
            .filter(([source, target]) => asked.includes(source) && asked.includes(target));
          expect(few).toHaveLength(expected.length);
          expect(few).toEqual(
            few.toSorted((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1)),
          );
          expect(await store.contradictionsAmong("ada", [...strangers, ...ids])).toEqual([...few]);
        }),
        { numRuns: 20 },
      );
    });
  });
}

/** More than a third of what a page may hold, and no words. */
export const LARGE = " ".repeat(LIMITS.pageChars / 3 + 1);

function describeLargePages(world: StoreWorld): void {
  const large = Array.from({ length: 5 }, (_, second) => ({ content: LARGE, second }));

  test("pages of memories end at eight Mi characters, and say exactly whether there are more", async () => {
    const { store } = await world.fresh();
    const nodes = await put(store, ...large);
    const ids = nodes.map(({ id }) => id);
    const query = { userId: "ada", lifecycleStates: ACTIVE_STATES, limit: 1000 };

    const sizes: (readonly [number, boolean])[] = [];
    let afterId: Uuid | undefined;
    const found: Uuid[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = await store.scanNodes({ ...query, afterId });
      sizes.push([page.items.length, page.hasMore]);
      found.push(...page.items.map(({ id }) => id));
      afterId = found.at(-1);
      hasMore = page.hasMore;
    }

    expect(sizes).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
    expect(found).toEqual(ids);
    const newest = await store.queryNodes({ ...query, owner: "ada", oldestFirst: false });
    expect(newest.map(({ id }) => id)).toEqual(ids.slice(-2).reverse());
    const blank = { ...query, owner: "ada", oldestFirst: true, contentContainsAny: [" "] };
    expect((await store.queryNodes(blank)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  test("pages of events and of what cites them end there too, with at least one item", async () => {
    const { store } = await world.fresh();
    const events = large.map(({ content, second }) => anEvent({ content, timestamp: at(second) }));
    const huge = anEvent({ content: LARGE.repeat(4), timestamp: at(9) });
    await store.admit(anAdmission([...events, huge]));
    const [cited] = events;
    if (cited === undefined) throw new Error("nothing was stored");
    const citing = events.map(() => aNode(cited));
    await store.addNodes(citing.map((node) => ({ node, vector: unit(1), at: at(5) })));
    const page = { userId: "ada", limit: 1000 };

    expect((await store.events({ ...page, offset: 0 })).map(({ id }) => id)).toEqual([huge.id]);
    expect((await store.events({ ...page, offset: 1 })).map(({ id }) => id)).toEqual(
      events
        .slice(-2)
        .map(({ id }) => id)
        .reverse(),
    );
    expect(await store.nodesCiting(cited.id, "ada")).toEqual(citing.slice(0, 2));

    let rest: readonly Uuid[] = [...events, huge].map(({ id }) => id);
    const met: Uuid[] = [];
    for (let hasMore = true; hasMore; ) {
      const found = await store.eventsById([...rest, freshId()], ALL_OWNERS);
      const ids = found.items.map(({ id }) => id);
      expect([1, 2]).toContain(ids.length);
      met.push(...ids);
      rest = rest.filter((id) => !ids.includes(id));
      expect(found.hasMore).toBe(rest.length > 0);
      hasMore = found.hasMore;
    }
    expect(met.toSorted()).toEqual([...events, huge].map(({ id }) => id).toSorted());
  });

  test("walks over edges end there too, with at least one memory", async () => {
    const { store, place } = await world.fresh();
    const [start, ...around] = await put(store, { content: "start" }, ...large);
    for (const node of around) await link(place, start, node);
    const near = await store.neighborhood({ ...WIDE, nodeId: idOf(start), maxHops: 1 });
    expect(near.map(({ id }) => id)).toEqual(around.slice(0, 2).map(({ id }) => id));

    const versions = await put(store, ...large, { content: LARGE.repeat(4), second: 9 });
    for (const [index, node] of versions.entries()) {
      if (index > 0) await link(place, node, versions[index - 1], { type: "supersedes" });
    }
    const chain = async (from: number, direction: "forward" | "backward") => {
      const read = {
        nodeId: idOf(versions[from]),
        owner: "ada",
        direction,
        maxSteps: 100,
      } as const;
      return (await store.chain(read)).map(({ id }) => versions.findIndex((one) => one.id === id));
    };
    expect(await chain(0, "forward")).toEqual([1, 2]);
    expect(await chain(5, "backward")).toEqual([4, 3]);
    expect(await chain(4, "forward")).toEqual([5]);
  });

  test("an event of which more than a thousand memories are made names the first thousand", async () => {
    const { store } = await world.fresh();
    const event = anEvent();
    await store.admit(anAdmission([event]));
    const nodes = Array.from({ length: 1001 }, () => aNode(event, { content: " " }));
    await store.addNodes(nodes.map((node) => ({ node, vector: unit(1), at: at(5) })));

    expect((await store.nodesCiting(event.id, "ada")).map(({ id }) => id)).toEqual(
      nodes.slice(0, 1000).map(({ id }) => id),
    );
  });
}

/** Scans, walks from one node, and what a node and an event say about each other. */
export function describeGraphReads(world: StoreWorld): void {
  describeScan(world);
  describeNeighborhood(world);
  describeChain(world);
  describeEvidence(world);
  describeContradictionEdges(world);
  describeLargePages(world);
}
