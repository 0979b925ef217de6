import { describe, expect, test } from "bun:test";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { EmbeddingIdentity } from "../../src/ports/models.ts";
import type { KeyedNode, NodeVector, RebuildPlan } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  DIMENSION,
  freshId,
  put,
  unit,
} from "./samples.ts";
import { retire } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

/** Another model of the same dimension, and one of another dimension. */
export const OTHER: EmbeddingIdentity = { model: "other", version: "7", dimension: DIMENSION };
const SMALL: EmbeddingIdentity = { model: "small", version: "1", dimension: 4 };

/** A vector of a model, told from those of every other model by its direction. */
function vectorOf({ content }: { readonly content: string }, identity: EmbeddingIdentity) {
  const vector = new Float32Array(identity.dimension);
  vector[(content.length + identity.model.length) % identity.dimension] = 1;
  return vector;
}

function entryOf({ key, node }: KeyedNode, identity: EmbeddingIdentity): NodeVector {
  return { key, vector: vectorOf(node, identity), contentHash: sha256Hex(node.content) };
}

/** All stale nodes, read in pages of `limit`. */
async function allStale(store: Store, plan: RebuildPlan, limit = 100): Promise<KeyedNode[]> {
  const found: KeyedNode[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await store.rebuild.stale(plan, after, limit);
    found.push(...page.nodes);
    ({ scannedTo: after, hasMore } = page);
  }
  return found;
}

/** A whole rebuild. @returns how many nodes were embedded */
export async function rebuildAll(
  store: Store,
  identity: EmbeddingIdentity,
  all = false,
): Promise<number> {
  const plan = await store.rebuild.begin(all);
  const stale = await allStale(store, plan);
  await store.rebuild.put(
    plan,
    stale.map((node) => entryOf(node, identity)),
  );
  expect(await store.rebuild.swap(plan)).toBe(true);
  while ((await store.rebuild.rewriteTexts(2)).hasMore);
  await store.rebuild.end("finished");
  return stale.length;
}

const FIVE = ["a", "bb", "ccc", "dddd", "eeeee"].map((content) => ({
  content,
  vector: vectorOf({ content }, { model: "hand-made", version: "1", dimension: DIMENSION }),
}));

/** The rebuild of both indexes. */
export function describeRebuild(world: StoreWorld): void {
  describe("a rebuild", () => {
    test("and a memory that is archived leave no vectors of parts", async () => {
      const { store: old, place } = await world.fresh();
      const content = "word ".repeat(300);
      const nodes = await put(
        old,
        { content, vector: unit(1) },
        { content: `${content}b`, vector: unit(1) },
      );
      const parts = nodes.map(({ id, userId }) => ({ nodeId: id, userId, vectors: [unit(0, 1)] }));
      await old.putParts(parts);
      await retire(old, "archived", nodes[0]);
      await old.putParts(parts);
      expect(await old.searchVectors(unit(0, 1), ANYTHING, 9)).toHaveLength(1);

      const store = await world.open(place, { embedding: OTHER });
      await rebuildAll(store, OTHER);

      expect((await store.textsWithoutParts(1000, 9)).map(({ id }) => id)).toEqual(
        nodes.slice(1).map(({ id }) => id),
      );
      await expect(old.putParts(parts)).rejects.toMatchObject({ code: "embedding_mismatch" });
    });

    test.each([
      { name: "the same dimension", identity: OTHER },
      { name: "another dimension", identity: SMALL },
    ])("to a model of $name changes all vectors and the manifest at once", async ({ identity }) => {
      const { store: old, place } = await world.fresh();
      await put(old, ...FIVE);
      const before = await old.manifest();
      const store = await world.open(place, { embedding: identity });
      const plan = await store.rebuild.begin(false);
      const stale = await allStale(store, plan, 2);

      expect(plan).toEqual({ vectors: "replace", isContinued: false });
      expect(stale.map(({ node }) => node.content)).toEqual(FIVE.map(({ content }) => content));
      for (const node of stale.slice(0, 4)) {
        await store.rebuild.put(plan, [entryOf(node, identity)]);
      }
      expect(await store.rebuild.swap(plan)).toBe(false);
      const [first] = FIVE;
      expect(await old.searchVectors(first?.vector ?? unit(1), ANYTHING, 9)).toHaveLength(5);
      expect(store.searchVectors(unit(1), ANYTHING, 9)).rejects.toMatchObject({
        code: "embedding_mismatch",
      });

      await store.rebuild.put(
        plan,
        stale.slice(4).map((node) => entryOf(node, identity)),
      );
      expect(await store.rebuild.swap(plan)).toBe(true);
      await store.rebuild.end("finished");

      expect(await store.manifest()).toEqual({
        ...before,
        embedding: identity,
        updatedAt: expect.any(String),
      });
      expect((await store.manifest()).updatedAt > before.updatedAt).toBe(true);
      for (const { content } of FIVE) {
        const hits = await store.searchVectors(vectorOf({ content }, identity), ANYTHING, 1);
        const [best] = await contentsOf(store, hits);
        expect(vectorOf({ content: best ?? "" }, identity)).toEqual(
          vectorOf({ content }, identity),
        );
        expect(hits[0]?.score).toBeCloseTo(1, 6);
      }
      expect(old.searchVectors(unit(1), ANYTHING, 9)).rejects.toMatchObject({
        code: "embedding_mismatch",
      });
      expect(await old.searchText("ccc", ANYTHING, 9)).toHaveLength(1);
    });

    test("takes in what was stored while it ran", async () => {
      const { store: old, place } = await world.fresh();
      await put(old, ...FIVE);
      const store = await world.open(place, { embedding: OTHER });
      const plan = await store.rebuild.begin(false);
      for (const node of await allStale(store, plan)) {
        await store.rebuild.put(plan, [entryOf(node, OTHER)]);
      }

      await put(old, { content: "late", vector: unit(1) });

      expect(await store.rebuild.swap(plan)).toBe(false);
      const late = await allStale(store, plan);
      expect(late.map(({ node }) => node.content)).toEqual(["late"]);
      await store.rebuild.put(
        plan,
        late.map((node) => entryOf(node, OTHER)),
      );
      expect(await store.rebuild.swap(plan)).toBe(true);
      const hits = await store.searchVectors(vectorOf({ content: "late" }, OTHER), ANYTHING, 9);
      expect(hits).toHaveLength(6);
    });

    test("keeps vectors of the old model out of the new index", async () => {
      const { store: old, place } = await world.fresh();
      const event = anEvent({ content: "too late" });
      await old.admit(anAdmission([event]));
      const store = await world.open(place, { embedding: OTHER });
      await rebuildAll(store, OTHER);

      await old.materialize([aMaterialization(event, aNode(event), { vector: unit(1) })]);

      expect(await store.searchVectors(unit(1), ANYTHING, 9)).toEqual([]);
      expect(await store.searchText("late", ANYTHING, 9)).toHaveLength(1);
      expect(await store.jobStatus(event.id, "ada")).toMatchObject({
        status: "pending",
        lastError: "embedding_mismatch",
      });
    });

    test("of another model renews the vectors that retired memories keep", async () => {
      const { store, place } = await world.fresh();
      const [old] = await put(store, ...FIVE);
      const id = old?.id ?? freshId();
      await retire(store, "archived", old);
      const small = await world.open(place, { embedding: SMALL });

      expect(await rebuildAll(small, SMALL)).toBe(5);

      expect((await small.keptEntries("ada", [id])).get(id)?.vector).toEqual(
        vectorOf({ content: "a" }, SMALL),
      );
      expect(
        await small.searchVectors(vectorOf({ content: "a" }, SMALL), ANYTHING, 9),
      ).toHaveLength(4);
    });

    test("of a current pack embeds nothing, unless all is asked for", async () => {
      const { store } = await world.fresh();
      await put(store, ...FIVE);
      const identity = (await store.manifest()).embedding;

      expect(await rebuildAll(store, identity)).toBe(0);
      expect(await rebuildAll(store, identity, true)).toBe(5);
      expect(await store.searchVectors(unit(1), ANYTHING, 9)).toHaveLength(5);
    });

    test("leaves other users of the store searching and storing", async () => {
      const { store, place } = await world.fresh();
      await put(store, ...FIVE);
      const other = await world.open(place);
      await put(other, { content: "before", vector: unit(1, 2, 3) });
      expect(await other.searchVectors(unit(1, 2, 3), ANYTHING, 9)).toHaveLength(6);

      await rebuildAll(store, (await store.manifest()).embedding, true);

      await put(other, { content: "after", vector: unit(1, 2, 3) });
      for (const user of [other, store]) {
        const hits = await user.searchVectors(unit(1, 2, 3), ANYTHING, 1);
        expect(await contentsOf(user, hits)).toEqual(["after"]);
        expect(await user.searchVectors(unit(1), ANYTHING, 9)).toHaveLength(7);
        expect(await user.searchText("before after", ANYTHING, 9)).toHaveLength(2);
      }
    });

    test("mends a missing vector in place, of a retired node too, which is not searched", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        ...FIVE,
        { content: "without a vector" },
        { content: " \t\n\u00a0" },
        { content: "archived", lifecycleState: "archived" },
      );

      const plan = await store.rebuild.begin(false);
      const stale = await allStale(store, plan);

      expect(plan.vectors).toBe("repair");
      expect(stale.map(({ node }) => node.content)).toEqual(["without a vector", "archived"]);
      await store.rebuild.put(
        plan,
        stale.map(({ key, node }) => ({
          key,
          vector: unit(1, 1),
          contentHash: sha256Hex(node.content),
        })),
      );
      const hits = await store.searchVectors(unit(1, 1), ANYTHING, 1);
      expect(await contentsOf(store, hits)).toEqual(["without a vector"]);
      expect(await store.rebuild.swap(plan)).toBe(true);
      expect(await store.rebuild.count()).toEqual({ total: 7, blank: 1 });
      const archived = stale.at(-1)?.node.id ?? freshId();
      expect((await store.keptEntries("ada", [archived])).get(archived)?.vector).toBeDefined();
    });

    test("goes on where it was cut off, in another process too", async () => {
      const { store: old, place } = await world.fresh();
      await put(old, ...FIVE);
      const first = await world.open(place, { embedding: OTHER });
      const begun = await first.rebuild.begin(false);
      const [one, two] = await allStale(first, begun);
      if (one === undefined || two === undefined) throw new Error();
      await first.rebuild.put(begun, [entryOf(one, OTHER), entryOf(two, OTHER)]);
      await first.rebuild.end("unfinished");
      await first.close();

      const second = await world.open(place, { embedding: OTHER });
      const plan = await second.rebuild.begin(false);

      expect(plan).toEqual({ vectors: "replace", isContinued: true });
      const rest = await allStale(second, plan);
      expect(rest.map(({ node }) => node.content)).toEqual(["ccc", "dddd", "eeeee"]);
    });

    test("continues an interrupted run over everything as one", async () => {
      const { store } = await world.fresh();
      await put(store, ...FIVE);
      const identity = (await store.manifest()).embedding;
      const begun = await store.rebuild.begin(true);
      const [one] = await allStale(store, begun);
      if (one === undefined) throw new Error();
      await store.rebuild.put(begun, [entryOf(one, identity)]);
      await store.rebuild.end("unfinished");

      expect(await rebuildAll(store, identity)).toBe(4);
      expect(await rebuildAll(store, identity)).toBe(0);
    });

    test("begun for one model is begun again for another", async () => {
      const { store: old, place } = await world.fresh();
      await put(old, ...FIVE);
      const first = await world.open(place, { embedding: OTHER });
      const begun = await first.rebuild.begin(false);
      for (const node of await allStale(first, begun)) {
        await first.rebuild.put(begun, [entryOf(node, OTHER)]);
      }
      await first.rebuild.end("unfinished");

      const second = await world.open(place, { embedding: SMALL });

      expect(await rebuildAll(second, SMALL)).toBe(5);
      expect((await second.manifest()).embedding).toEqual(SMALL);
    });

    test("has one process at a time; another one is refused until it ends", async () => {
      const { store, place } = await world.fresh();
      await put(store, ...FIVE);
      const other = await world.open(place);
      const plan = await store.rebuild.begin(false);

      expect(other.rebuild.begin(false)).rejects.toMatchObject({ code: "storage_busy" });
      expect(other.rebuild.put(plan, [])).rejects.toMatchObject({ code: "storage_busy" });
      expect(other.rebuild.swap(plan)).rejects.toMatchObject({ code: "storage_busy" });
      await other.rebuild.end("finished");
      expect(await store.rebuild.swap(plan)).toBe(true);
      await store.rebuild.end("finished");
      expect(await other.rebuild.begin(false)).toEqual({ vectors: "repair", isContinued: false });
    });

    test("restores lexical entries in steps", async () => {
      const { store } = await world.fresh();
      const [lost] = await put(store, ...FIVE);
      const event = anEvent({ content: "never indexed" });
      await store.admit(anAdmission([event]));
      await store.materialize([aMaterialization(event, aNode(event), { lexical: false })]);
      expect(await store.searchText("never", ANYTHING, 9)).toEqual([]);

      await store.rebuild.begin(false);
      const steps = [];
      for (let more = true; more; ) {
        const step = await store.rebuild.rewriteTexts(4);
        steps.push(step.written);
        more = step.hasMore;
      }
      await store.rebuild.end("finished");

      expect(steps).toEqual([4, 2]);
      expect(await store.searchText("never", ANYTHING, 9)).toHaveLength(1);
      expect(await store.searchText(lost?.content ?? "", ANYTHING, 9)).toHaveLength(1);
    });
  });
}
