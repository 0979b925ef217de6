import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { NearNode } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { DIMENSION, type Memory, put, unit } from "./samples.ts";
import { retire } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { OTHER, rebuildAll } from "./store-rebuild.ts";
import { ANYTHING } from "./store-vectors.ts";

const QUESTION = { userId: "ada", scope: "personal", count: 9 } as const;
const everyone = (nearest: readonly NearNode[]) => nearest;

/** The texts of what is near, nearest first. */
async function near(store: Store, given: Partial<Parameters<Store["nearNodes"]>[1]> = {}) {
  const found = await store.nearNodes(unit(1), { ...QUESTION, ...given }, everyone);
  return found.map(({ node }) => node.content);
}

/** A memory at an angle to the question; the greater, the farther away. */
const away = (angle: number, given: Memory = {}): Memory => ({
  content: `at ${angle}`,
  vector: unit(Math.cos(angle), Math.sin(angle)),
  ...given,
});

/** Memories near to a vector, as the lifecycle and the organizer look for them. */
export function describeNear(world: StoreWorld): void {
  describe("near memories", () => {
    test("are the nearest active ones of an owner and scope, best first, with their cosines", async () => {
      const { store } = await world.fresh();
      const nodes = await put(
        store,
        away(0.8),
        away(0.2),
        away(0.1, { scope: "project" }),
        away(0.1, { userId: "bob" }),
        away(0.1, { lifecycleState: "archived" }),
        away(0.5, { lifecycleState: "contested" }),
        { content: "without a vector" },
      );
      const shown: NearNode[] = [];
      const chosen = await store.nearNodes(unit(1), QUESTION, (nearest) => {
        shown.push(...nearest);
        return nearest.toReversed().slice(0, 2);
      });
      const exact = await store.searchVectors(unit(1), ANYTHING, 9);

      expect(shown.map(({ node }) => node)).toEqual([nodes[1]!, nodes[5]!, nodes[0]!]);
      for (const [index, { cosine }] of shown.entries()) {
        expect(Math.abs(cosine - Math.cos([0.2, 0.5, 0.8][index] ?? 9))).toBeLessThan(0.01);
      }
      expect(chosen.map(({ node }) => node)).toEqual([nodes[0]!, nodes[5]!]);
      for (const { key, cosine } of chosen) {
        expect(exact).toContainEqual({ key, score: cosine });
      }
      expect(await store.nearNodes(unit(1), QUESTION, () => [])).toEqual([]);
      expect(await near(store, { count: 1 })).toEqual(["at 0.2"]);
      expect(await near(store, { scope: "project" })).toEqual(["at 0.1"]);
      expect(await near(store, { scope: "agent" })).toEqual([]);
      expect(await near(store, { userId: "bob" })).toEqual(["at 0.1"]);
      expect(await near(store, { userId: "eve" })).toEqual([]);
    });

    test("are of the owner and scope among many of others, as an exact search finds them", async () => {
      const { store } = await world.fresh();
      const drawn = fc.sample(
        fc.record({
          userId: fc.constantFrom("ada", "bob"),
          scope: fc.constantFrom("personal" as const, "project" as const),
          vector: fc
            .array(fc.integer({ min: 1, max: 9 }), { minLength: DIMENSION, maxLength: DIMENSION })
            .map((numbers) => unit(...numbers)),
        }),
        { numRuns: 80, seed: 7 },
      );
      await put(store, ...drawn);
      for (const userId of ["ada", "bob"]) {
        for (const scope of ["personal", "project"] as const) {
          const filter = { ...ANYTHING, userId, scopes: [scope] };
          const scores = new Map(
            (await store.searchVectors(unit(1, 2, 3), filter, 200)).map(({ key, score }) => [
              key,
              score,
            ]),
          );
          const found = await store.nearNodes(unit(1, 2, 3), { userId, scope, count: 5 }, everyone);

          expect(found).toHaveLength(5);
          for (const { key, cosine } of found) expect(cosine).toBe(scores.get(key) ?? Number.NaN);
        }
      }
    });

    test("include what any store has written since, and leave out what was retired", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      await put(store, away(0.5));
      await Promise.all([
        store.readyForNear("ada"),
        other.readyForNear("ada"),
        store.readyForNear("eve"),
      ]);
      expect(await near(store)).toEqual(["at 0.5"]);

      const [closer] = await put(other, away(0.2));

      for (const one of [store, other]) expect(await near(one)).toEqual(["at 0.2", "at 0.5"]);
      await store.readyForNear("ada");
      await retire(other, "archived", closer);
      for (const one of [store, other]) expect(await near(one)).toEqual(["at 0.5"]);
    });

    test("are not chosen where choosing throws; what is thrown comes back unchanged", async () => {
      const { store } = await world.fresh();
      await put(store, away(0.5));
      const thrown = new TypeError("a mistake");
      const outcome = store.nearNodes(unit(1), QUESTION, () => {
        throw thrown;
      });

      expect(await outcome.catch((error: unknown) => error)).toBe(thrown);
      expect(await near(store)).toEqual(["at 0.5"]);
    });
  });

  test("a store knows whether the vectors are of its model, and compares none of another one", async () => {
    const { store, place } = await world.fresh();
    await put(store, away(0.5));
    const { embedding } = await store.manifest();
    const other = await world.open(place, { embedding: OTHER });
    const near = (one: Store) => one.nearNodes(unit(1), QUESTION, everyone);
    const mismatch = { code: "embedding_mismatch" };

    for (const one of [store, other]) {
      expect(await one.hasModel(embedding)).toBeTrue();
      expect(await one.hasModel({ ...embedding, version: "2" })).toBeFalse();
      expect(await one.hasModel({ ...embedding, dimension: DIMENSION + 1 })).toBeFalse();
      expect(await one.hasModel(OTHER)).toBeFalse();
    }
    await expect(near(other)).rejects.toMatchObject(mismatch);
    await expect(other.readyForNear("ada")).rejects.toMatchObject(mismatch);
    await store.readyForNear("ada");

    await rebuildAll(other, OTHER);

    for (const one of [store, other]) {
      expect(await one.hasModel(OTHER)).toBeTrue();
      expect(await one.hasModel(embedding)).toBeFalse();
    }
    expect(await near(other)).toHaveLength(1);
    await expect(near(store)).rejects.toMatchObject(mismatch);
    await expect(store.readyForNear("ada")).rejects.toMatchObject(mismatch);
  });
}
