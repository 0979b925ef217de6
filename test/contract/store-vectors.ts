import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CandidateFilter,
  everythingOf,
  passesFilter,
} from "../../src/domain/candidate-filter.ts";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../src/domain/enums.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { Hit } from "../../src/ports/store/search-index.ts";
import { nodeKey } from "../node-keys.ts";
import { at, type Memory, put, unit } from "./samples.ts";
import type { RetrievalStore, World } from "./store-contract.ts";

/** A filter of `ada` that restricts nothing further. */
export const ANYTHING = everythingOf("ada");

/** The contents that hits stand for, in the order of the hits. */
export async function contentsOf(
  store: RetrievalStore,
  hits: readonly Hit[],
  userId = "ada",
): Promise<string[]> {
  const nodes = await store.nodesByKey(
    userId,
    hits.map(({ key }) => key),
  );
  const byKey = new Map(nodes.map(({ key, node }) => [key, node.content]));
  return hits.map(({ key }) => byKey.get(key) ?? "no such node");
}

const direction = fc
  .array(fc.integer({ min: -9, max: 9 }), { minLength: 8, maxLength: 8 })
  .filter((numbers) => numbers.some((value) => value !== 0))
  .map((numbers) => unit(...numbers));

const second = fc.integer({ min: 0, max: 12 });

const memory: fc.Arbitrary<Memory> = fc.record(
  {
    second,
    vector: direction,
    userId: fc.constantFrom("ada", "ada", "ada", "bob"),
    scope: fc.constantFrom(...SCOPES),
    nodeType: fc.constantFrom(...NODE_TYPES),
    sourceType: fc.constantFrom(...SOURCE_TYPES),
    lifecycleState: fc.constantFrom(...ACTIVE_STATES, ...ACTIVE_STATES, ...LIFECYCLE_STATES),
    eventTime: fc.option(second.map(at), { nil: undefined }),
    validFrom: second.map(at),
    validTo: fc.option(second.map(at), { nil: undefined }),
  },
  { requiredKeys: ["second", "vector", "userId", "lifecycleState"] },
);

function some<T>(values: readonly T[]): fc.Arbitrary<T[] | undefined> {
  return fc.option(fc.subarray([...values]), { nil: undefined, freq: 3 });
}

const moment = fc.option(second.map(at), { nil: undefined, freq: 1 });

const filters: fc.Arbitrary<CandidateFilter> = fc.record({
  userId: fc.constantFrom("ada", "ada", "bob", "nobody"),
  scopes: some(SCOPES),
  excludeNodeTypes: some(NODE_TYPES),
  sourceTypes: some(SOURCE_TYPES),
  knowledgeAt: moment,
  eventTimeFrom: moment,
  eventTimeTo: moment,
  timeFrom: moment,
  timeTo: moment,
});

function isActive(node: MemoryNode): boolean {
  return ACTIVE_STATES.some((state) => state === node.lifecycleState);
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** A store with 120 memories of every kind, each with the word "shared" and its own number in its text. */
async function variety(world: World) {
  const memories = fc
    .sample(memory, { numRuns: 120, seed: 7 })
    .map((given, index) => ({ ...given, content: `shared ${index}` }));
  const { store } = await world.fresh();
  const nodes = await put(store, ...memories);
  return { store, nodes, vectors: memories.map(({ vector }) => vector ?? unit(1)) };
}

/** The vector index, and the filters that both indexes apply. */
export function describeVectorSearch(world: World): void {
  describe("search filters", () => {
    test("let through what the rules of the domain let through, in both indexes", async () => {
      const { store, nodes } = await variety(world);

      await fc.assert(
        fc.asyncProperty(filters, direction, async (filter, vector) => {
          const allowed = nodes
            .filter((node) => isActive(node) && passesFilter(node, filter))
            .map(({ content }) => content)
            .sort();
          const byVector = await store.searchVectors(vector, filter, 500);
          const byText = await store.searchText("shared", filter, 500);

          expect((await contentsOf(store, byVector, filter.userId)).sort()).toEqual(allowed);
          expect((await contentsOf(store, byText, filter.userId)).sort()).toEqual(allowed);
        }),
        { numRuns: 80, seed: 11 },
      );
    });

    test("narrow the search itself, not its first hits", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        ...Array.from({ length: 80 }, () => ({ vector: unit(1), content: "tea tea tea" })),
        { vector: unit(0, 1), content: "tea and a long tail of other words", scope: "agent" },
      );

      const narrowed = { ...ANYTHING, scopes: ["agent" as const] };

      expect(await store.searchVectors(unit(1), narrowed, 1)).toHaveLength(1);
      expect(await store.searchText("tea", narrowed, 1)).toHaveLength(1);
    });

    test("without a source type let nothing through", async () => {
      const { store } = await world.fresh();
      await put(store, { vector: unit(1) });

      expect(await store.searchVectors(unit(1), { ...ANYTHING, sourceTypes: [] }, 9)).toEqual([]);
      expect(await store.searchText("tea", { ...ANYTHING, sourceTypes: [] }, 9)).toEqual([]);
    });
  });

  describe("the parts of long texts", () => {
    const LONG = "word ".repeat(300);
    const partsOf = ({ id: nodeId, userId }: MemoryNode, ...vectors: readonly Float32Array[]) => ({
      ...{ nodeId, userId, vectors },
    });

    test("make a memory as near as the nearest of them, and no other one", async () => {
      const { store } = await world.fresh();
      const [long] = await put(
        store,
        { content: LONG, vector: unit(1), scope: "project" },
        { content: "near", vector: unit(0, 1, 1) },
        { content: "far", vector: unit(0, -1), scope: "project" },
      );
      const wanted = unit(0, 1);
      const search = (k: number, filter = {}) =>
        store.searchVectors(wanted, { ...ANYTHING, ...filter }, k);
      expect(await contentsOf(store, await search(1))).toEqual(["near"]);

      if (long) await store.putParts([partsOf(long, unit(0, 0, 1), wanted)]);

      const hits = await search(3);
      expect(await contentsOf(store, hits)).toEqual([LONG, "near", "far"]);
      expect(hits[0]?.score).toBeCloseTo(1, 5);
      expect(await contentsOf(store, await search(1))).toEqual([LONG]);
      expect(await contentsOf(store, await search(3, { scopes: ["personal"] }))).toEqual(["near"]);
      const keys = hits.map(({ key }) => key);
      const cosines = await store.cosines(wanted, "ada", keys);
      expect(cosines.toSorted((a, b) => b.score - a.score)).toEqual([...hits]);
      expect(await store.searchVectors(wanted, { ...ANYTHING, userId: "bob" }, 3)).toEqual([]);
    });

    test("are missing where a long text has a vector and none of them is kept", async () => {
      const { store } = await world.fresh();
      const [long, other] = await put(
        store,
        { content: LONG, vector: unit(1) },
        { content: `${LONG}again`, vector: unit(1), userId: "bob" },
        { content: "short", vector: unit(1) },
        { content: `${LONG}gone`, vector: unit(1), lifecycleState: "archived" },
      );
      const ids = async (limit: number): Promise<(string | undefined)[]> =>
        (await store.textsWithoutParts(1000, limit)).map(({ id }) => id);
      expect((await ids(9)).sort()).toEqual([long?.id, other?.id].sort());
      expect(await ids(1)).toHaveLength(1);
      expect(await store.textsWithoutParts(2000, 9)).toEqual([]);

      if (long) await store.putParts([partsOf(long)]);

      expect(await ids(9)).toEqual([other?.id]);
      expect((await store.searchVectors(unit(0, 1), ANYTHING, 9))[0]?.score).toBeCloseTo(0, 5);
    });
  });

  describe("vector search", () => {
    test("orders by cosine as computing all of them does", async () => {
      const { store, nodes, vectors } = await variety(world);

      await fc.assert(
        fc.asyncProperty(direction, fc.integer({ min: 1, max: 40 }), async (question, k) => {
          const expected = nodes
            .map((node, index) => ({ node, score: cosine(question, vectors[index] ?? unit(1)) }))
            .filter(({ node }) => node.userId === "ada" && isActive(node))
            .sort((a, b) => b.score - a.score)
            .slice(0, k);

          const hits = await store.searchVectors(question, ANYTHING, k);

          expect(hits).toHaveLength(expected.length);
          hits.forEach(({ score }, index) => {
            expect(score).toBeCloseTo(expected[index]?.score ?? Number.NaN, 5);
          });
        }),
        { numRuns: 60, seed: 13 },
      );
    });

    test("gives the cosine as the score, from 1 to -1", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { vector: unit(-1), content: "opposite" },
        { vector: unit(1), content: "same" },
        { vector: unit(0, 1), content: "square" },
        { vector: unit(3, 4), content: "slanted" },
      );

      const hits = await store.searchVectors(unit(1), ANYTHING, 10);

      expect(await contentsOf(store, hits)).toEqual(["same", "slanted", "square", "opposite"]);
      const scores = [1, 0.6, 0, -1];
      hits.forEach(({ score }, index) => {
        expect(score).toBeCloseTo(scores[index] ?? Number.NaN, 6);
      });
    });

    test("orders equal vectors by key, also where the last place is contested", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        ...Array.from({ length: 200 }, (_, index) => ({
          vector: unit(1, 2),
          content: `twin ${index}`,
        })),
      );

      const hits = await store.searchVectors(unit(1), ANYTHING, 5);

      expect(await contentsOf(store, hits)).toEqual([
        "twin 0",
        "twin 1",
        "twin 2",
        "twin 3",
        "twin 4",
      ]);
    });

    test("never shows an owner what belongs to another", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { userId: "bob", vector: unit(1), content: "of bob" },
        { userId: "Ada", vector: unit(1), content: "of Ada" },
        { userId: "ada ", vector: unit(1), content: "of ada with a blank" },
        { userId: "ada", vector: unit(0, 1), content: "of ada" },
      );

      const hits = await store.searchVectors(unit(1), ANYTHING, 10);

      expect(await contentsOf(store, hits)).toEqual(["of ada"]);
      // A key says nothing about the memories of another owner, who may have one with the same key.
      expect(await contentsOf(store, hits, "bob")).not.toContain("of ada");
      expect(await store.searchVectors(unit(1), { ...ANYTHING, userId: "eve" }, 10)).toEqual([]);
    });

    test("asked for none gives none", async () => {
      const { store } = await world.fresh();
      await put(store, { vector: unit(1) });

      expect(await store.searchVectors(unit(1), ANYTHING, 0)).toEqual([]);
    });

    test("compares with chosen memories of the owner that have a vector", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { vector: unit(1), content: "same" },
        { vector: unit(3, 4), content: "slanted" },
        { content: "without a vector" },
        { vector: unit(1), content: "of bob", userId: "bob" },
      );
      const all = await store.searchText("same slanted without vector", ANYTHING, 9);
      const [foreign] = await store.searchVectors(unit(1), { ...ANYTHING, userId: "bob" }, 1);
      const keys = [...all.map(({ key }) => key), foreign?.key ?? nodeKey(0), nodeKey(999_999)];

      const compared = await store.cosines(unit(0, 1), "ada", keys);

      const byContent = (await contentsOf(store, compared)).map((content, index) => ({
        content,
        score: Math.round((compared[index]?.score ?? Number.NaN) * 1e6) / 1e6,
      }));
      expect(byContent.sort((a, b) => a.score - b.score)).toEqual([
        { content: "same", score: 0 },
        { content: "slanted", score: 0.8 },
      ]);
      expect(await store.cosines(unit(1), "ada", [])).toEqual([]);
      expect(await store.cosines(unit(1), "nobody", keys)).toEqual([]);
    });

    test("answers a repeated question alike", async () => {
      const { store } = await variety(world);
      const question = unit(1, 2, 3, -4);
      const narrowed = { ...ANYTHING, scopes: ["personal" as const, "agent" as const] };

      for (const filter of [ANYTHING, narrowed]) {
        const first = await store.searchVectors(question, filter, 17);
        for (let round = 0; round < 3; round += 1) {
          expect(await store.searchVectors(question, filter, 17)).toEqual(first);
        }
      }
    });

    test("finds a memory as soon as its write was acknowledged, through any store", async () => {
      const { store, place } = await world.fresh();
      const second = await world.open(place);

      for (let round = 0; round < 5; round += 1) {
        await put(store, { vector: unit(1), content: `round${round}` });
        expect(await second.searchVectors(unit(1), ANYTHING, 50)).toHaveLength(round + 1);
        expect(await second.searchText(`round${round}`, ANYTHING, 50)).toHaveLength(1);
      }
    });
  });
}
