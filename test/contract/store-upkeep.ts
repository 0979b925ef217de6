import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CandidateFilter, passesFilter } from "../../src/domain/candidate-filter.ts";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { expiredAt, retentionEnd } from "../../src/domain/retention.ts";
import { nodeKey } from "../node-keys.ts";
import { aNode, anAdmission, anEvent, at, DIMENSION, freshId, put, unit } from "./samples.ts";
import type { World } from "./store-contract.ts";

const DAY = 86_400;
const ADA: CandidateFilter = {
  userId: "ada",
  scopes: undefined,
  excludeNodeTypes: undefined,
  sourceTypes: undefined,
  knowledgeAt: undefined,
  eventTimeFrom: undefined,
  eventTimeTo: undefined,
  timeFrom: undefined,
  timeTo: undefined,
};

/** Memories whose retention ends, and nodes that no job stands for. */
export function describeUpkeep(world: World): void {
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
      const read = { userId: undefined, now: at(3 * DAY), limit: 10 };

      expect(await store.expired(read)).toEqual(places.flatMap((place) => nodes[place] ?? []));
      expect(await store.expired({ ...read, limit: 2 })).toEqual(
        places.slice(0, 2).flatMap((place) => nodes[place] ?? []),
      );
    });

    test("are those of one owner when one is named", async () => {
      const { store } = await world.fresh();
      const [, bobs] = await put(store, { ttlDays: 1 }, { ttlDays: 1, userId: "bob" });
      const read = { now: at(3 * DAY), limit: 10 };

      expect(await store.expired({ ...read, userId: "bob" })).toEqual(bobs ? [bobs] : []);
      expect(await store.expired({ ...read, userId: "eve" })).toEqual([]);
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
          const found = await store.expired({ userId: "ada", now, limit: 1000 });
          const expected = active
            .filter(expiredAt(now))
            .map((node) => `${retentionEnd(node)} ${node.id}`)
            .sort();

          expect(found.map((node) => `${retentionEnd(node)} ${node.id}`)).toEqual(expected);
        }
      }
    });

    test("are what a search for memories that are kept leaves out, to the microsecond", async () => {
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
          const filter = { ...ADA, aliveAt };
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

  describe("nodes that no job stands for", () => {
    test("are found by words and by vector, and keep every member", async () => {
      const { store } = await world.fresh();
      const event = anEvent({ sessionId: "monday" });
      await store.admit(anAdmission([event]));
      const node = aNode(event, { content: "Lapsang souchong", metadata: { qa_pair: true } });

      await store.addNodes([{ node, vector: unit(1, 2), at: at(5) }]);

      expect(await store.node(node.id, "ada")).toEqual(node);
      const [byText] = await store.searchText("lapsang", ADA, 5);
      const [byVector] = await store.searchVectors(unit(1, 2), ADA, 5);
      expect(byText?.key).toBe(byVector?.key ?? nodeKey(-1));
      expect(byVector?.score).toBeCloseTo(1, 6);
      expect(await store.countJobs("ada")).toEqual({ pending: 1, failed: 0 });
    });

    test("are kept as they are when they exist, and not indexed once they are retired", async () => {
      const { store } = await world.fresh();
      const [archived] = await put(store, { content: "Oolong", lifecycleState: "archived" });
      if (archived === undefined) throw new Error("nothing was stored");
      const again = { ...archived, lifecycleState: "stable", content: "Assam" } as const;

      await store.addNodes([{ node: again, vector: unit(3), at: at(5) }]);

      expect(await store.node(archived.id, "ada")).toEqual(archived);
      expect(await store.searchText("oolong assam", ADA, 5)).toEqual([]);
      expect(await store.searchVectors(unit(3), ADA, 5)).toEqual([]);
    });

    test("are all written, or none", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event]));
      const good = aNode(event, { content: "Sencha" });
      const bad = aNode(event, { id: freshId(), content: "Matcha" });

      const outcome = await store
        .addNodes([
          { node: good, vector: unit(1), at: at(1) },
          { node: bad, vector: new Float32Array(DIMENSION + 1), at: at(1) },
        ])
        .then(
          () => "written",
          () => "refused",
        );

      expect(outcome).toBe("refused");
      expect(await store.node(good.id, "ada")).toBeUndefined();
      expect(await store.searchText("sencha", ADA, 5)).toEqual([]);
    });

    test("are refused with vectors of another model than the pack's", async () => {
      const { store, place } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event]));
      const embedding = { model: "another", version: "1", dimension: DIMENSION };
      const other = await world.open(place, { embedding });
      const node = aNode(event);

      const outcome = await other
        .addNodes([{ node, vector: unit(1), at: at(1) }])
        .catch((error: { code: string }) => error.code);

      expect(outcome).toBe("embedding_mismatch");
      expect(await store.node(node.id, "ada")).toBeUndefined();
    });
  });
}
