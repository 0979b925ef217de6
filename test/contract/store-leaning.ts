import { describe, expect, test } from "bun:test";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { NodeKey } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { nodeKey } from "../node-keys.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  type Memory,
  put,
  unit,
} from "./samples.ts";
import { retire } from "./store-change.ts";
import type { RetrievalStore, StoreWorld, World } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

const OWN = [unit(1), unit(0, 1), unit(0, 0, 1), unit(0, 0, 0, 1), unit(0, 0, 0, 0, 1)];

/** The n-th turn of one session; its own vector is square to those of all others. */
function turn(index: number): Memory {
  return { content: `turn ${index}`, second: index, sessionId: "s", vector: OWN[index] ?? unit(1) };
}

/** Cosines of each memory with the own vector of the n-th turn, by content, in thousandths. */
async function near(
  store: RetrievalStore,
  index: number,
): Promise<Readonly<Record<string, number>>> {
  const hits = await store.searchVectors(OWN[index] ?? unit(1), ANYTHING, 50);
  const contents = await contentsOf(store, hits);
  return Object.fromEntries(
    contents.map((content, place) => [content, Math.round((hits[place]?.score ?? 9) * 1000)]),
  );
}

/** What the vector index says of all turns. */
async function picture(
  store: RetrievalStore,
): Promise<readonly Readonly<Record<string, number>>[]> {
  return await Promise.all(OWN.map((_, index) => near(store, index)));
}

/** The vectors of the own texts of ada's memories, by content. */
async function ownVectorsOf(store: RetrievalStore, keys: readonly NodeKey[]) {
  const found = [...(await store.ownVectors("ada", keys))];
  const contents = await contentsOf(
    store,
    found.map(([key]) => ({ key, score: 0 })),
  );
  return Object.fromEntries(found.map(([, vector], index) => [contents[index] ?? "", vector]));
}

/** The vectors of conversation turns, which lean towards those of their neighbours. */
export function describeLeaning(world: World): void {
  test("the own vectors of an owner's active memories lean towards nothing and have length one", async () => {
    const { store } = await world.fresh();
    const slanted = unit(3, -1, 4, 1, -5, 9, 2, 6);
    await put(
      store,
      turn(0),
      { ...turn(1), vector: slanted },
      turn(2),
      { content: "no turn", vector: slanted },
      { content: "no vector" },
      { content: "contested", vector: unit(2, 1), lifecycleState: "contested" },
    );
    const [gone] = await put(store, { content: "gone", vector: unit(1, 1) });
    await put(store, { content: "of bob", vector: unit(1), userId: "bob" });
    const hits = await store.searchVectors(unit(1), ANYTHING, 9);
    const bobs = await store.searchVectors(unit(1), everythingOf("bob"), 9);
    const words = await store.searchText("vector", ANYTHING, 9);
    const keys = [...hits, ...bobs, ...words, { key: nodeKey(999_999) }].map(({ key }) => key);
    await retire(store, "archived", gone);

    const found = await ownVectorsOf(store, [...keys, ...keys]);

    const expected = {
      ...{ "turn 0": unit(1), "turn 1": slanted, "turn 2": unit(0, 0, 1) },
      ...{ "no turn": slanted, contested: unit(2, 1) },
    };
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
    for (const [content, vector] of Object.entries(expected)) {
      const own = found[content] ?? new Float32Array();
      expect(own).toHaveLength(vector.length);
      expect(Math.hypot(...own)).toBeCloseTo(1, 3);
      // A store may keep it in half the bytes.
      for (const [place, value] of vector.entries()) expect(own[place]).toBeCloseTo(value, 3);
    }
    expect([...(await store.ownVectors("bob", keys)).keys()]).toEqual(bobs.map(({ key }) => key));
    expect((await store.ownVectors("eve", keys)).size).toBe(0);
    expect((await store.ownVectors("ada", [])).size).toBe(0);
  });

  describe("the vector of a turn", () => {
    test("leans by 0.25 towards those of the turns before and after it", async () => {
      const { store } = await world.fresh();
      await put(store, turn(0), turn(1), turn(2), turn(3));

      // Lengths: one neighbour sqrt(1.0625), two neighbours sqrt(1.125).
      expect(await near(store, 1)).toEqual({
        "turn 0": Math.round(250 / Math.sqrt(1.0625)),
        "turn 1": Math.round(1000 / Math.sqrt(1.125)),
        "turn 2": Math.round(250 / Math.sqrt(1.125)),
        "turn 3": 0,
      });
      const hits = await store.searchVectors(OWN[1] ?? unit(1), ANYTHING, 9);
      const keys = hits.map(({ key }) => key);
      const compared = await store.cosines(OWN[1] ?? unit(1), "ada", keys);
      expect(new Map(compared.map(({ key, score }) => [key, score]))).toEqual(
        new Map(hits.map(({ key, score }) => [key, score])),
      );
    });

    test("is the same in whatever order and groups the turns arrive", async () => {
      const { store: expected } = await world.fresh();
      await put(expected, ...OWN.map((_, index) => turn(index)));
      const picturedAs = await picture(expected);

      for (const order of [
        [4, 3, 2, 1, 0],
        [2, 0, 4, 1, 3],
        [1, 3, 0, 2, 4],
      ]) {
        const { store } = await world.fresh();
        for (const index of order.slice(0, 3)) await put(store, turn(index));
        await put(store, ...order.slice(3).map(turn));
        expect(await picture(store)).toEqual(picturedAs);
      }
    });

    test("leans over a turn whose vector is still to come, until it is there", async () => {
      const { store } = await world.fresh();
      await put(store, turn(0), turn(2));
      const event = anEvent({ content: "turn 1", sessionId: "s", timestamp: at(1) });
      await store.admit(anAdmission([event]));
      const node = aNode(event);
      await store.materialize([aMaterialization(event, node, { failure: "embedding_failed" })]);
      const lean = Math.round(250 / Math.sqrt(1.0625));
      expect(await near(store, 0)).toEqual({
        "turn 0": Math.round(1000 / Math.sqrt(1.0625)),
        "turn 2": lean,
      });

      await store.materialize([aMaterialization(event, node, { vector: OWN[1] })]);

      expect(await near(store, 0)).toEqual({
        "turn 0": Math.round(1000 / Math.sqrt(1.0625)),
        "turn 1": Math.round(250 / Math.sqrt(1.125)),
        "turn 2": 0,
      });
    });

    test.each([
      { name: "another session", given: { sessionId: "t" } },
      { name: "no session", given: { sessionId: undefined } },
      { name: "another scope", given: { scope: "project" as const } },
      { name: "another owner", given: { userId: "bob" } },
      { name: "another type", given: { nodeType: "fact" as const } },
      { name: "an inactive state", given: { lifecycleState: "archived" as const } },
    ])("does not lean across to $name", async ({ given }) => {
      const { store } = await world.fresh();
      await put(store, turn(0), { ...turn(1), ...given });

      expect((await near(store, 0))["turn 0"]).toBe(1000);
      expect((await near(store, 1))["turn 0"]).toBe(0);
    });
  });
}

/** A whole rebuild that gives every memory the own vector of its turn, unless another one is given. */
async function rebuild(
  store: Store,
  all: boolean,
  given: (node: MemoryNode) => Float32Array | undefined = () => undefined,
): Promise<void> {
  const plan = await store.rebuild.begin(all);
  const { nodes } = await store.rebuild.stale(plan, 0, 100);
  const entries = nodes.map(({ key, node }) => ({
    key,
    vector: given(node) ?? OWN[Number(node.content.split(" ")[1])] ?? unit(1),
    contentHash: sha256Hex(node.content),
  }));
  await store.rebuild.put(plan, entries);
  expect(await store.rebuild.swap(plan)).toBe(true);
  await store.rebuild.end("finished");
}

async function replaceInPlace(store: Store, node: MemoryNode, vector: Float32Array): Promise<void> {
  await store.addNodes([{ node, vector, at: at(9) }]);
}

async function replaceByRebuild(
  store: Store,
  node: MemoryNode,
  vector: Float32Array,
): Promise<void> {
  await rebuild(store, true, (other) => (other.id === node.id ? vector : undefined));
}

/** The same after the indexes were built again. */
export function describeLeaningAfterRebuild(world: StoreWorld): void {
  describe("the vector of a turn", () => {
    test("is the same after a rebuild", async () => {
      const { store } = await world.fresh();
      for (const index of [2, 0, 4, 1, 3]) await put(store, turn(index));
      const before = await picture(store);

      for (const isWhole of [false, true]) {
        await rebuild(store, isWhole);
        expect(await picture(store)).toEqual(before);
      }
    });

    test.each([
      { name: "in place", replace: replaceInPlace },
      { name: "by a rebuild", replace: replaceByRebuild },
    ])("follows a neighbour whose vector is replaced $name", async ({ replace }) => {
      const { store } = await world.fresh();
      const [first] = await put(store, turn(0), turn(1));
      if (first === undefined) throw new Error("nothing was stored");

      await replace(store, first, unit(0, 0, 1));

      expect(await near(store, 0)).toEqual({ "turn 0": 0, "turn 1": 0 });
      expect(await near(store, 2)).toEqual({
        "turn 0": Math.round(1000 / Math.sqrt(1.0625)),
        "turn 1": Math.round(250 / Math.sqrt(1.0625)),
      });
    });
  });
}
