import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { EntityPage } from "../../src/ports/store/graph.ts";
import { type Memory, put } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";
import { link } from "./store-graph.ts";

/** Entities and memories in all states, of two owners. */
const SAMPLES: readonly Memory[] = [
  ...["Ada", "Äther", "tea", "cup"].map((content): Memory => ({ content, nodeType: "entity" })),
  { content: "gone", nodeType: "entity", lifecycleState: "archived" },
  { content: "a", lifecycleState: "contested" },
  { content: "b" },
  { content: "c", lifecycleState: "superseded" },
  { content: "Ada", nodeType: "entity", userId: "bob" },
  { content: "d", userId: "bob" },
];

/** The entities of an owner with the number of their memories. */
export function describeEntities({ fresh }: StoreWorld): void {
  describe("entities", () => {
    const begin = async () => {
      const { store, place } = await fresh();
      const nodes = await put(store, ...SAMPLES);
      const [ada, ether, tea, cup, gone, a, b, c, bobsAda, d] = nodes;
      const pairs: readonly (readonly [MemoryNode | undefined, MemoryNode | undefined])[] = [
        [ether, a],
        [a, ether],
        [ether, b],
        [ada, b],
        [ada, c],
        [ada, tea],
        [ether, ada],
        [gone, a],
        [b, cup],
      ];
      for (const [from, to] of pairs) await link(place, from, to, { type: "has_fact" });
      await link(place, bobsAda, d, { type: "has_fact", userId: "bob" });
      const list = async (page: Partial<EntityPage> = {}) => {
        const { items, hasMore } = await store.entities({ userId: "ada", limit: 9, ...page });
        return [
          ...items.map(({ node, memories, contested }) => [node.content, memories, contested]),
          hasMore,
        ];
      };
      return { store, nodes, list };
    };

    test("come with the number of different active memories beside them, the most first, then by id", async () => {
      const { list } = await begin();

      expect(await list()).toEqual([
        ["Äther", 2, 1],
        ["Ada", 1, 0],
        ["cup", 1, 0],
        ["tea", 0, 0],
        false,
      ]);
      expect(await list({ userId: "bob" })).toEqual([["Ada", 1, 0], false]);
      expect(await list({ userId: "eve" })).toEqual([false]);
      expect(await list({ contains: "äTH" })).toEqual([["Äther", 2, 1], false]);
    });

    test("come page by page, each behind the last of the page before", async () => {
      const { store, nodes, list } = await begin();
      const all: string[] = [];
      let after: EntityPage["after"];
      for (let isMore = true; isMore; ) {
        const { items, hasMore } = await store.entities({ userId: "ada", limit: 1, after });
        const [found] = items;
        expect(items).toHaveLength(1);
        expect(nodes.find(({ id }) => id === found?.node.id)).toEqual(found?.node);
        all.push(found?.node.content ?? "");
        after = found && { memories: found.memories, id: found.node.id };
        isMore = hasMore;
      }

      expect(all).toEqual(["Äther", "Ada", "cup", "tea"]);
      expect(await list({ contains: "a", limit: 1, after })).toEqual([false]);
    });
  });
}
