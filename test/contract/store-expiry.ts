import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { passesFilter } from "../../src/domain/candidate-filter.ts";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { expiredAt, retentionEnd } from "../../src/domain/fading.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { at, put, unit } from "./samples.ts";
import type { StoreWorld, World } from "./store-contract.ts";
import { ANYTHING } from "./store-vectors.ts";

const DAY = 86_400;
/** Memories whose retention ends. */
export function describeExpiry(world: StoreWorld): void {
  describe("expired nodes", () => {
    test("are active ones whose retention ended before the moment, the earliest ended first", async () => {
      const { store } = await world.fresh();
      const nodes = await put(
        store,
        { second: 30, ttlDays: 1 },
        { second: 10, ttlDays: 2 },
        { second: 20, ttlDays: 1 },
        { second: 0, ttlDays: undefined },
        { second: 0, ttlDays: 0, pinned: true },
        { second: 0, ttlDays: 0, lifecycleState: "archived" },
        { second: 0, ttlDays: 0, lifecycleState: "superseded" },
        { second: 40, ttlDays: 0, lifecycleState: "contested" },
      );
      const places = [7, 2, 0, 1];
      const read = { owner: ALL_OWNERS, now: at(3 * DAY), limit: 10 };

      expect(await store.expired(read)).toEqual(places.flatMap((place) => nodes[place] ?? []));
      expect(await store.expired({ ...read, limit: 2 })).toEqual(
        places.slice(0, 2).flatMap((place) => nodes[place] ?? []),
      );
    });

    test("are those of one owner when one is named", async () => {
      const { store } = await world.fresh();
      const [, bobs] = await put(store, { ttlDays: 1 }, { ttlDays: 1, userId: "bob" });
      const read = { now: at(3 * DAY), limit: 10 };

      expect(await store.expired({ ...read, owner: "bob" })).toEqual(bobs ? [bobs] : []);
      expect(await store.expired({ ...read, owner: "eve" })).toEqual([]);
    });

    test("are told to the microsecond, and follow the rule that the engine has", async () => {
      const { store } = await world.fresh();
      const second = fc.constantFrom(0, 0.000_001, 0.999_999, 1, 1.5);
      const memories = fc.sample(
        fc.record({
          second,
          ttlDays: fc.constantFrom(0, 1, 2, 1_000_000, undefined),
          pinned: fc.boolean(),
          lifecycleState: fc.constantFrom(...LIFECYCLE_STATES),
        }),
        { seed: 1, numRuns: 80 },
      );
      const nodes = await put(store, ...memories);
      const active = nodes.filter(({ lifecycleState }) =>
        ["tentative", "stable", "contested"].includes(lifecycleState),
      );
      for (const days of [0, 1, 2]) {
        for (const offset of [-0.000_001, 0, 0.000_001, 0.000_002, 0.5, 0.999_999, 1.000_001, 2]) {
          const now = at(days * DAY + offset);
          const found = await store.expired({ owner: "ada", now, limit: 1000 });
          const expected = active
            .filter(expiredAt(now))
            .map((node) => `${retentionEnd(node)} ${node.id}`)
            .sort();

          expect(found.map((node) => `${retentionEnd(node)} ${node.id}`)).toEqual(expected);
        }
      }
    });
  });
}

/** What a search makes of memories whose retention ended. */
export function describeRetention(world: World): void {
  describe("a search for memories that are kept", () => {
    test("leaves out those whose retention ended, to the microsecond", async () => {
      const { store } = await world.fresh();
      const memories = fc.sample(
        fc.record({
          second: fc.constantFrom(0, 0.000_001, 0.999_999, 1, 1.5),
          ttlDays: fc.constantFrom(0, 1, 2, 1_000_000, undefined),
          pinned: fc.boolean(),
          vector: fc.constant(unit(1)),
        }),
        { seed: 2, numRuns: 80 },
      );
      const nodes = await put(store, ...memories);
      for (const days of [0, 1, 2]) {
        for (const offset of [-0.000_001, 0, 0.000_001, 0.000_002, 0.5, 0.999_999, 1.000_001, 2]) {
          const aliveAt = at(days * DAY + offset);
          const isOver = expiredAt(aliveAt);
          const kept = nodes.filter((node) => !isOver(node)).map(({ id }) => id);
          const filter = { ...ANYTHING, aliveAt };
          const hits = await Promise.all([
            store.searchText("green tea", filter, 1000),
            store.searchVectors(unit(1), filter, 1000),
          ]);

          for (const found of hits) {
            const keyed = await store.nodesByKey(
              "ada",
              found.map(({ key }) => key),
            );
            expect(keyed.map(({ node }) => node.id).sort()).toEqual(kept.toSorted());
          }
          expect(nodes.filter((node) => passesFilter(node, filter)).map(({ id }) => id)).toEqual(
            kept,
          );
        }
      }
    });
  });
}
