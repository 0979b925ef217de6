import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../src/domain/node.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { NodeKey } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { at, freshId, type Memory, put, unit } from "./samples.ts";
import { retire, write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";

const DAY = 86_400;

/** A memory that was stored, and is dated, so many seconds after the beginning. */
const dated = (second: number, given: Memory = {}): Memory => ({
  second,
  createdAt: at(second),
  ...given,
});

/** The keys of active nodes, in their order. */
async function keysOf(store: Store, ...nodes: readonly (MemoryNode | undefined)[]) {
  const ids = nodes.flatMap((node) => node?.id ?? []);
  const users = new Set(nodes.flatMap((node) => node?.userId ?? []));
  const keys = new Map<string, NodeKey>();
  for (const userId of users) {
    for (const { key, node } of await store.nodesById(userId, ids)) keys.set(node.id, key);
  }
  return ids.flatMap((id) => keys.get(id) ?? []);
}

/** What jobs read that go over all memories of an owner. */
export function describeOrganizing(world: StoreWorld): void {
  describe("what the organizer reads", () => {
    describeWalkPlaces(world);
    describeNewNodes(world);
    describeRepeatedTexts(world);
    describePeriods(world);
    describeSummaries(world);
  });
}

function describeWalkPlaces(world: StoreWorld): void {
  test("says how far each job has come with each owner, also to other and later stores", async () => {
    const { store, place } = await world.fresh();
    const other = await world.open(place);
    await put(store, {}, { userId: "bob" });
    expect(await store.walkPlace("merge", "ada")).toBeUndefined();

    await store.saveWalkPlace("merge", "ada", { seen: 3 });
    await store.saveWalkPlace("sum", "ada", { day: "ü", list: [1, null] });
    await other.saveWalkPlace("merge", "ada", { seen: 2 });

    const again = await world.open(place);
    for (const each of [store, other, again]) {
      expect(await each.walkPlace("merge", "ada")).toEqual({ seen: 2 });
      expect(await each.walkPlace("sum", "ada")).toEqual({ day: "ü", list: [1, null] });
      for (const userId of ["bob", "eve"])
        expect(await each.walkPlace("merge", userId)).toBeUndefined();
    }
  });

  test("keeps the places of an owner's walks apart from all other work", async () => {
    const { store } = await world.fresh();
    await put(store, {});
    const work = { kind: "merge", owner: "ada" };
    await store.saveWalkPlace("merge", "ada", { seen: 1 });

    const claim = await store.takeWork(work, true);

    if (typeof claim !== "object") throw new Error("it is not free");
    await store.finishWork(claim, { failure: undefined, cooldownSeconds: 9 });
    expect(await store.walkPlace("merge", "ada")).toEqual({ seen: 1 });
    expect(await store.countJobs("ada")).toEqual({ pending: 0, failed: 0 });
    expect(await store.claimJobs("ada", 9)).toEqual([]);
    expect(await store.countExtractions("ada")).toEqual({ pending: 0, failed: 0 });
  });

  test("begins again with an owner who was given the memories of another, not with a renamed one", async () => {
    const { store } = await world.fresh();
    await put(store, {}, { userId: "bob" }, { userId: "carl" });
    for (const userId of ["ada", "bob", "carl"])
      await store.saveWalkPlace("merge", userId, { userId });
    const move = (from: string, into: string, isJoin: boolean) =>
      store.owners.move({
        from,
        into,
        isJoin,
        id: freshId(),
        settingId: freshId(),
        actorId: "test",
      });

    await move("bob", "ada", true);
    await move("carl", "cora", false);

    expect(await store.walkPlace("merge", "ada")).toBeUndefined();
    expect(await store.walkPlace("merge", "bob")).toBeUndefined();
    expect(await store.walkPlace("merge", "cora")).toEqual({ userId: "carl" });
    expect(await store.walkPlace("merge", "carl")).toBeUndefined();
  });

  test("does not keep a place with an owner who has nothing", async () => {
    const { store } = await world.fresh();
    await store.saveWalkPlace("merge", "eve", { seen: 1 });
    expect(await store.walkPlace("merge", "eve")).toBeUndefined();
    expect(await store.owners.list()).toEqual([]);
  });
}

function describeNewNodes(world: StoreWorld): void {
  test("knows the newest key of an owner by the order of writing, whatever the clock said", async () => {
    const { store } = await world.fresh();
    expect(await store.newestKey("ada")).toBe(0);
    const [first] = await put(store, dated(9 * DAY));
    const [firstKey] = await keysOf(store, first);
    expect(await store.newestKey("ada")).toBe(firstKey ?? -1);
    const [bobs] = await put(store, dated(0, { userId: "bob" }));
    const [bobsKey] = await keysOf(store, bobs);

    expect(await store.newestKey("bob")).toBe(bobsKey ?? -1);
    expect(Number(await store.newestKey("ada"))).toBeGreaterThanOrEqual(Number(firstKey));
    const [next] = await put(store, dated(DAY));
    const [nextKey] = await keysOf(store, next);
    expect(await store.newestKey("ada")).toBe(nextKey ?? -1);
    expect(Number(nextKey)).toBeGreaterThan(Number(firstKey));
    await retire(store, "archived", next);
    expect(await store.newestKey("ada")).toBeGreaterThanOrEqual(Number(firstKey));
  });

  test("finds the tentative and stable memories that are newer than a key, of a type or any but summaries", async () => {
    const { store } = await world.fresh();
    // The clock goes backwards: what is newer is told by the order of writing.
    const nodes = await put(
      store,
      dated(80),
      dated(70, { nodeType: "fact", lifecycleState: "stable", scope: "project" }),
      dated(60, { userId: "bob" }),
      dated(50, { lifecycleState: "contested" }),
      dated(40, { lifecycleState: "archived" }),
      dated(30, { nodeType: "summary" }),
      dated(20, { content: " " }),
      dated(10, { nodeType: "fact" }),
    );
    const [note, fact, bobs, , , summary, blank, last] = nodes;
    const read = async (
      newerThan: number,
      given: Partial<Parameters<Store["newNodes"]>[0]> = {},
    ) => {
      const found = await store.newNodes({ userId: "ada", newerThan, limit: 9, ...given });
      expect(found.map(({ key }) => key)).toEqual(
        await keysOf(store, ...found.map(({ node }) => node)),
      );
      return found.map(({ node }) => node);
    };
    const [noteKey = 0] = await keysOf(store, note);
    const newest = await store.newestKey("ada");

    expect(await read(0)).toEqual([note!, fact!, blank!, last!]);
    expect(await read(noteKey)).toEqual([fact!, blank!, last!]);
    expect(await read(0, { limit: 2 })).toEqual([note!, fact!]);
    expect(await read(0, { nodeType: "fact" })).toEqual([fact!, last!]);
    expect(await read(0, { nodeType: "summary" })).toEqual([summary!]);
    expect(await read(0, { userId: "bob" })).toEqual([bobs!]);
    expect(await read(newest)).toEqual([]);
    expect(await read(0, { userId: "eve" })).toEqual([]);
  });

  test("finds the newest of a type by their moments, ties by id", async () => {
    const { store } = await world.fresh();
    const nodes = await put(
      store,
      dated(20),
      dated(30, { lifecycleState: "stable" }),
      dated(10),
      dated(20, { scope: "project" }),
      dated(90, { lifecycleState: "contested" }),
      dated(90, { lifecycleState: "superseded" }),
      dated(90, { userId: "bob" }),
      dated(90, { nodeType: "fact" }),
    );
    const read = async (userId: string, limit: number) => {
      const found = await store.newestOfType(userId, "note", limit);
      expect(found.map(({ key }) => key)).toEqual(
        await keysOf(store, ...found.map(({ node }) => node)),
      );
      return found.map(({ node }) => nodes.indexOf(nodes.find(({ id }) => id === node.id)!));
    };

    expect(await read("ada", 9)).toEqual([1, 3, 0, 2]);
    expect(await read("ada", 2)).toEqual([1, 3]);
    expect(await read("bob", 9)).toEqual([6]);
    expect(await read("eve", 9)).toEqual([]);
    expect((await store.newestOfType("ada", "note", 1))[0]?.node).toEqual(nodes[1]!);
  });

  test("lists all active entities of an owner, with their scopes", async () => {
    const { store } = await world.fresh();
    const entity = (content: string, given: Memory = {}): Memory => ({
      ...{ nodeType: "entity", content },
      ...given,
    });
    const nodes = await put(
      store,
      entity("Ada"),
      entity("Zoë", { scope: "project", lifecycleState: "contested" }),
      entity("Ada", { lifecycleState: "stable" }),
      entity("Gone", { lifecycleState: "archived" }),
      entity("Bob", { userId: "bob" }),
      { content: "no entity" },
    );
    const keys = await keysOf(store, ...nodes.slice(0, 3));
    const found = (await store.entityNames("ada")).toSorted((one, other) => one.key - other.key);

    expect(found).toEqual(
      nodes.slice(0, 3).map(({ scope, content }, index) => ({ key: keys[index]!, scope, content })),
    );
    expect((await store.entityNames("bob")).map(({ content }) => content)).toEqual(["Bob"]);
    expect(await store.entityNames("eve")).toEqual([]);
  });
}

function describeRepeatedTexts(world: StoreWorld): void {
  test("finds texts of several active memories by hash, one of them newer than a key", async () => {
    const { store } = await world.fresh();
    const told = (content: string, given: Memory = {}): Memory => ({
      ...{ content, vector: unit(1, content.length) },
      ...given,
    });
    const texts = ["Tea at four.", "The key is under the mat.", "The door is blue."];
    const [tea = "", key = "", door = ""] = texts;
    const old = await put(store, told(tea), told(key), told(tea), told(door), told("Once."));
    const between = await store.newestKey("ada");
    const fresh = await put(
      store,
      told(tea, { scope: "project" }),
      told(door, { lifecycleState: "contested" }),
      told(key, { userId: "bob" }),
      told(tea, { userId: "bob" }),
      told(key.toUpperCase()),
      told("Once.", { lifecycleState: "archived" }),
    );
    const all = [
      { hash: sha256Hex(tea), keys: await keysOf(store, old[0], old[2], fresh[0]) },
      { hash: sha256Hex(door), keys: await keysOf(store, old[3], fresh[1]) },
    ].sort((one, other) => (one.hash < other.hash ? -1 : 1));
    const read = async (given: Partial<Parameters<Store["repeatedTexts"]>[0]> = {}) => {
      const asked = { userId: "ada", newerThan: 0, afterHash: "", limit: 9, ...given };
      const found = await store.repeatedTexts(asked);
      return found.map(({ hash, keys }) => ({
        hash: texts.map(sha256Hex).find((whole) => hash.length >= 32 && whole.startsWith(hash)),
        keys: [...keys].sort((a, b) => a - b),
      }));
    };

    expect(await read()).toEqual(all);
    expect(await read({ newerThan: between })).toEqual(all);
    expect(await read({ limit: 1 })).toEqual(all.slice(0, 1));
    expect(await read({ afterHash: all[0]?.hash ?? "" })).toEqual(all.slice(1));
    expect(await read({ afterHash: all[1]?.hash ?? "" })).toEqual([]);
    for (const userId of ["bob", "eve"]) expect(await read({ userId })).toEqual([]);
    expect(await read({ newerThan: await store.newestKey("ada") })).toEqual([]);

    await retire(store, "superseded", fresh[0], fresh[1]);

    const left = [{ hash: sha256Hex(tea), keys: await keysOf(store, old[0], old[2]) }];
    expect(await read()).toEqual(left);
    expect(await read({ newerThan: between })).toEqual([]);
  });
}

function describePeriods(world: StoreWorld): void {
  test("finds what a day tells by the time that it speaks of, else by when it was stored", async () => {
    const { store } = await world.fresh();
    const nodes = await put(
      store,
      dated(0, { salienceBase: 0.25, confidenceBase: 0.75 }),
      dated(DAY - 0.000001, { scope: "project", lifecycleState: "contested" }),
      dated(DAY),
      dated(5 * DAY, { eventTime: at(3600) }),
      dated(60, { eventTime: at(7 * DAY), lifecycleState: "stable" }),
      dated(60, { nodeType: "summary" }),
      dated(60, { lifecycleState: "archived" }),
      dated(DAY + 60, { userId: "bob" }),
    );
    const keys = await keysOf(store, ...nodes.slice(0, 5));
    const read = async (days: readonly string[] | number, userId = "ada") =>
      (await store.periodSources(userId, days)).toSorted((one, other) => one.key - other.key);
    const shownOf = (node: MemoryNode, index: number) => {
      const moment = node.eventTime ?? node.createdAt;
      const { id, scope, salienceBase, confidenceBase } = node;
      const told = { id, scope, salienceBase, confidenceBase };
      return { ...told, key: keys[index]!, day: moment.slice(0, 10), at: moment };
    };
    const all = nodes.slice(0, 5).map(shownOf);
    const onFirst = [all[0]!, all[1]!, all[3]!];

    expect(await read(["2026-01-01"])).toEqual(onFirst);
    expect(await read(["2026-01-02", "2026-01-08", "2025-12-31"])).toEqual([all[2]!, all[4]!]);
    expect(await read([])).toEqual([]);
    expect(await read(0)).toEqual(all);
    // The newest one is of the first day: then the whole day is asked for.
    expect(await read((keys[2] ?? 0) as number)).toEqual([...onFirst, all[4]!]);
    expect((await read(["2026-01-02"], "bob")).map(({ id }) => id)).toEqual([nodes[7]!.id]);
    expect(await read(await store.newestKey("ada"))).toEqual([]);
    expect(await read(["2026-01-01"], "eve")).toEqual([]);
  });
}

/** A summary as the organizer publishes it. */
function aSummary(about: string, metadata: JsonObject, given: Memory = {}): Memory {
  return {
    nodeType: "summary",
    content: `[summary of ${about}]`,
    metadata: {
      consolidation_summary: true,
      consolidation_key: about,
      consolidation_request_hash: `made from ${about}`,
      consolidation_generation: 1,
      ...metadata,
    },
    ...given,
  };
}

const outdatedOf = async (store: Store, userId: string, since?: ReturnType<typeof at>) =>
  (await store.publishedSummaries(userId, since)).map(({ about, isOutdated }) => [
    about,
    isOutdated,
  ]);

function describeSummaries(world: StoreWorld): void {
  test("lists active summaries that were published, oldest first, with what they are about", async () => {
    const { store } = await world.fresh();
    const [source, other] = await put(store, {}, {});
    const ids = [source!.id, other!.id];
    const daily = {
      summarization_level: "daily",
      period_key: "2026-01-01",
      source_node_ids: [freshId()],
    };
    const nodes = await put(
      store,
      aSummary("a day", daily, dated(20, { lifecycleState: "stable", eventTime: at(5) })),
      aSummary(
        "a set",
        { source_node_ids: ids, consolidation_generation: 3 },
        dated(10, { lifecycleState: "contested", scope: "project", salienceBase: 0.25 }),
      ),
      aSummary("gone", { source_node_ids: [freshId()] }, { lifecycleState: "superseded" }),
      aSummary("bob's", { source_node_ids: [freshId()] }, { userId: "bob" }),
      { nodeType: "summary", content: "A person wrote this summary." },
    );
    const [dayKey, setKey] = await keysOf(store, nodes[0], nodes[1]);

    expect(await store.publishedSummaries("ada")).toEqual([
      {
        ...{ key: setKey!, id: nodes[1]!.id, scope: "project", isOpen: false, at: at(10) },
        ...{ salienceBase: 0.25, confidenceBase: 0.8, about: "a set", level: undefined },
        ...{ periodKey: undefined, requestHash: "made from a set", generation: 3 },
        isOutdated: false,
      },
      {
        ...{ key: dayKey!, id: nodes[0]!.id, scope: "personal", isOpen: true, at: at(5) },
        ...{ salienceBase: 0.5, confidenceBase: 0.8, about: "a day", level: "daily" },
        ...{ periodKey: "2026-01-01", requestHash: "made from a day", generation: 1 },
        isOutdated: false,
      },
    ]);
    expect(await store.consolidatedIds("ada")).toEqual(new Set(ids));
    expect((await store.publishedSummaries("bob")).map(({ about }) => about)).toEqual(["bob's"]);
    expect(await store.publishedSummaries("eve")).toEqual([]);
    expect(await store.consolidatedIds("eve")).toEqual(new Set());
  });

  test("tells which summaries hold a text that stopped being active of late, and was not replaced by them", async () => {
    const { store } = await world.fresh();
    const [gone, replaced, kept, grouped, again] = await put(store, {}, {}, {}, {}, {});
    const holding = (...nodes: readonly (MemoryNode | undefined)[]): JsonObject => ({
      selected_source_node_ids: nodes.flatMap((node) => node?.id ?? []),
    });
    const summaries = await put(
      store,
      aSummary("gone", holding(gone, kept), dated(1)),
      aSummary("replaced", holding(replaced), dated(2)),
      aSummary("kept", holding(kept), dated(3)),
      aSummary("missing", { selected_source_node_ids: [freshId()] }, dated(4)),
      aSummary("mentioned", { source_node_ids: [gone!.id] }, dated(5)),
      aSummary("grouped", { ...holding(grouped), summarization_level: "daily" }, dated(6)),
      aSummary("again", { ...holding(again), summarization_level: "weekly" }, dated(7)),
    );
    const [, by, , , , aDay] = summaries;
    await write(store, {
      nodes: [
        { ...gone!, lifecycleState: "archived", updatedAt: at(50) },
        { ...replaced!, lifecycleState: "superseded", supersededBy: by!.id, updatedAt: at(50) },
        { ...grouped!, lifecycleState: "superseded", supersededBy: by!.id, updatedAt: at(50) },
        { ...again!, lifecycleState: "superseded", supersededBy: aDay!.id, updatedAt: at(50) },
      ],
    });
    const expected = (isOutdated: boolean) => [
      ["gone", isOutdated],
      ...["replaced", "kept", "missing", "mentioned", "grouped"].map((about) => [about, false]),
      ["again", isOutdated],
    ];

    expect(await outdatedOf(store, "ada")).toEqual(expected(true));
    expect(await outdatedOf(store, "ada", at(50))).toEqual(expected(true));
    expect(await outdatedOf(store, "ada", at(50.000001))).toEqual(expected(false));
  });

  test("learns nothing of another owner's memories from a summary that names them", async () => {
    const { store } = await world.fresh();
    const [bobs] = await put(store, { userId: "bob" });
    await put(store, aSummary("bob's", { selected_source_node_ids: [bobs!.id] }));
    await retire(store, "archived", bobs);

    expect(await outdatedOf(store, "ada")).toEqual([["bob's", false]]);
  });
}
