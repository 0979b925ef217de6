import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { IterateQuery, ScanQuery } from "../../../src/engine/inspect/api.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { freshId, put } from "../../contract/samples.ts";
import { expectInvalid, useEngines } from "../engines.ts";

const { open } = useEngines();

const contents = (nodes: readonly MemoryNode[]) => nodes.map(({ content }) => content);

async function all(engine: MemoryEngine, query: IterateQuery): Promise<MemoryNode[]> {
  return await Array.fromAsync(engine.iterNodes(query));
}

/** Five memories of ada, the newest with the lowest id, and one of bob in between. */
async function five() {
  const opened = await open();
  await put(
    opened.store,
    { content: "n0", second: 9 },
    { content: "n1", second: 8, nodeType: "fact", lifecycleState: "stable" },
    { content: "of bob", userId: "bob" },
    { content: "n2", second: 7, scope: "project", lifecycleState: "contested" },
    { content: "n3", second: 6, nodeType: "fact", lifecycleState: "archived" },
    { content: "n4", second: 5, scope: "project", lifecycleState: "superseded" },
    { content: "n5", second: 4 },
    { content: "n6", second: 3, nodeType: "fact" },
  );
  return opened;
}

describe("a scan", () => {
  test("reads an owner's active memories by id, whatever their age", async () => {
    const { engine } = await five();

    const page = await engine.scanNodes({ userId: "ada" });

    expect(contents(page.nodes)).toEqual(["n0", "n1", "n2", "n5", "n6"]);
    expect(page).toMatchObject({ hasMore: false, nextCursor: undefined });
  });

  test.each<{ limit: number; pages: string[][] }>([
    { limit: 1, pages: [["n0"], ["n1"], ["n2"], ["n5"], ["n6"]] },
    { limit: 2, pages: [["n0", "n1"], ["n2", "n5"], ["n6"]] },
    { limit: 4, pages: [["n0", "n1", "n2", "n5"], ["n6"]] },
    { limit: 5, pages: [["n0", "n1", "n2", "n5", "n6"]] },
    { limit: 6, pages: [["n0", "n1", "n2", "n5", "n6"]] },
  ])("by pages of $limit says exactly whether there is more", async ({ limit, pages }) => {
    const { engine } = await five();

    const read: string[][] = [];
    let afterId: string | undefined;
    do {
      const page = await engine.scanNodes({ userId: "ada", limit, afterId });
      read.push(contents(page.nodes));
      expect(page.hasMore).toBe(page.nextCursor !== undefined);
      if (page.hasMore) expect(page.nextCursor).toBe(page.nodes.at(-1)?.id);
      afterId = page.nextCursor;
    } while (afterId !== undefined);

    expect(read).toEqual(pages);
  });

  test.each<{ name: string; query: Partial<ScanQuery>; expected: readonly string[] }>([
    { name: "a scope", query: { scope: "project" }, expected: ["n2"] },
    { name: "a type", query: { nodeType: "fact" }, expected: ["n1", "n6"] },
    {
      name: "states",
      query: { lifecycleStates: ["archived", "superseded"] },
      expected: ["n3", "n4"],
    },
    {
      name: "no restriction on states",
      query: { lifecycleStates: null },
      expected: ["n0", "n1", "n2", "n5", "n6"],
    },
    { name: "an empty list of states", query: { lifecycleStates: [] }, expected: [] },
    { name: "another owner", query: { userId: "bob" }, expected: ["of bob"] },
    { name: "an owner without memories", query: { userId: "eve" }, expected: [] },
    {
      name: "all at once",
      query: { scope: "personal", nodeType: "fact", lifecycleStates: ["stable", "archived"] },
      expected: ["n1", "n3"],
    },
  ])("knows $name", async ({ query, expected }) => {
    const { engine } = await five();

    const page = await engine.scanNodes({ userId: "ada", ...query });

    expect(contents(page.nodes)).toEqual([...expected]);
    expect(page.hasMore).toBe(false);
  });

  test("begins behind any id, also one that is nobody's, in any spelling", async () => {
    const { engine, store } = await open();
    const [first] = await put(store, { content: "first" });
    const between = freshId();
    await put(store, { content: "second" });

    const after = async (afterId: string) =>
      contents((await engine.scanNodes({ userId: "ada", afterId })).nodes);

    expect(await after(between)).toEqual(["second"]);
    expect(await after(`{${first?.id.toUpperCase()}}`)).toEqual(["second"]);
    expect(await after("ffffffff-ffff-ffff-ffff-ffffffffffff")).toEqual([]);
  });

  test("shows no work that is still to be done", async () => {
    const { engine } = await open();
    await engine.ingestFast({ content: "later", userId: "ada" });

    expect((await engine.scanNodes({ userId: "ada" })).nodes).toEqual([]);
    expect(await all(engine, { userId: "ada" })).toEqual([]);
    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 0, eventCount: 1 });
  });

  const REFUSED: readonly {
    name: string;
    query: Readonly<Record<string, unknown>>;
    field: string;
  }[] = [
    { name: "no owner", query: { userId: undefined }, field: "user_id" },
    { name: "a blank owner", query: { userId: " " }, field: "user_id" },
    { name: "an unknown scope", query: { scope: "galaxy" }, field: "scope" },
    { name: "an unknown type", query: { nodeType: "idea" }, field: "node_type" },
    { name: "an unknown state", query: { lifecycleStates: ["dead"] }, field: "lifecycle_states" },
    {
      name: "states that are no list",
      query: { lifecycleStates: "stable" },
      field: "lifecycle_states",
    },
    { name: "a cursor that is no UUID", query: { afterId: "7" }, field: "after_id" },
    { name: "a limit of 0", query: { limit: 0 }, field: "limit" },
    { name: "a limit above 1000", query: { limit: 1001 }, field: "limit" },
    { name: "half a limit", query: { limit: 1.5 }, field: "limit" },
  ];

  test.each(REFUSED)("refuses $name", async ({ query, field }) => {
    const { engine } = await open();

    // SAFETY: wrong types are what is tested.
    await expectInvalid(engine.scanNodes({ userId: "ada", ...query } as ScanQuery), { field });
  });
});

describe("walking over all memories", () => {
  test("reads a page only when it is needed", async () => {
    const pages: number[] = [];
    const { engine, store } = await open({
      alter: (opened) => ({
        scanNodes: (page) => {
          pages.push(page.limit);
          return opened.scanNodes(page);
        },
      }),
    });
    await put(store, ...Array.from({ length: 5 }, (_, index) => ({ content: `n${index}` })));

    const walk = engine.iterNodes({ userId: "ada", batchSize: 2 })[Symbol.asyncIterator]();
    expect(pages).toEqual([]);
    await walk.next();
    await walk.next();
    expect(pages).toEqual([2]);
    await walk.next();
    expect(pages).toEqual([2, 2]);
  });

  test("ends with the engine, also in the middle of a page", async () => {
    const { engine, store } = await open();
    await put(store, { content: "n0" }, { content: "n1" }, { content: "n2" });
    const walk = engine.iterNodes({ userId: "ada" })[Symbol.asyncIterator]();
    expect((await walk.next()).value?.content).toBe("n0");

    await engine.close();

    await expect(walk.next()).rejects.toMatchObject({ code: "engine_closed" });
    expect(await walk.next()).toEqual({ done: true, value: undefined });
    const another = engine.iterNodes({ userId: "ada" })[Symbol.asyncIterator]();
    await expect(another.next()).rejects.toMatchObject({ code: "engine_closed" });
  });

  test("ends with the engine between two pages", async () => {
    const { engine, store } = await open();
    await put(store, { content: "n0" }, { content: "n1" });
    const walk = engine.iterNodes({ userId: "ada", batchSize: 1 })[Symbol.asyncIterator]();
    await walk.next();

    await engine.close();

    await expect(walk.next()).rejects.toMatchObject({ code: "engine_closed" });
  });

  test("may be left at any time", async () => {
    const { engine, store } = await open();
    await put(store, { content: "n0" }, { content: "n1" });

    for await (const node of engine.iterNodes({ userId: "ada" })) {
      expect(node.content).toBe("n0");
      break;
    }

    await engine.close();
  });

  test.each([
    { name: "a batch of 0", query: { batchSize: 0 }, field: "batch_size" },
    { name: "a batch above 1000", query: { batchSize: 1001 }, field: "batch_size" },
    { name: "a blank owner", query: { userId: "" }, field: "user_id" },
  ])("is refused for $name", async ({ query, field }) => {
    const { engine } = await open();

    await expectInvalid(all(engine, { userId: "ada", ...query }), { field });
  });
});
