import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  DECAY_PROFILES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  type NodeType,
} from "../../src/domain/enums.ts";
import { canFade, decayed } from "../../src/domain/fading.ts";
import { isActive } from "../../src/domain/lifecycle.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../src/domain/owner.ts";
import type { Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { Aging } from "../../src/ports/store/work.ts";
import { anAuditRecord, at, freshId, put, unit } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";
import { saveShown } from "./store-receipts.ts";
import { ANYTHING } from "./store-vectors.ts";

const DAY = 86_400;

/** A whole walk, page by page. */
async function walked(store: Store, owner: Owner, what: Aging, limit: number) {
  const nodes: MemoryNode[] = [];
  let considered = 0;
  for (let after: string | undefined; ; ) {
    const page = await store.walkAging({ owner, at: what, after, limit });
    nodes.push(...page.nodes);
    considered += page.considered;
    after = page.next;
    if (after === undefined) return { ids: nodes.map(({ id }) => id).sort(), considered };
  }
}

const idsOf = (nodes: readonly MemoryNode[]) => nodes.map(({ id }) => id).sort();

/** What upkeep looks for. */
export function describeUpkeep(world: StoreWorld): void {
  describe("a walk over aging nodes", () => {
    test("stops at tentative ones of that age that cite enough, page by page", async () => {
      const { store } = await world.fresh();
      const nodes = await put(
        store,
        { second: 3 },
        { second: 1, userId: "bob" },
        { second: 2, lifecycleState: "stable" },
        { second: 5 },
        { second: 4, evidenceRefs: [] },
        { second: 1 },
      );
      const what: Aging = { kind: "tentative", createdBefore: at(4), evidence: 1 };

      for (const limit of [1, 2, 100]) {
        expect(await walked(store, "ada", what, limit)).toEqual({
          ids: idsOf([0, 5].flatMap((place) => nodes[place] ?? [])),
          considered: 3,
        });
        expect(await walked(store, ALL_OWNERS, what, limit)).toEqual({
          ids: idsOf([0, 1, 5].flatMap((place) => nodes[place] ?? [])),
          considered: 4,
        });
      }
      expect(await walked(store, "eve", what, 10)).toEqual({ ids: [], considered: 0 });
      expect((await store.walkAging({ owner: "ada", at: what, limit: 1 })).nodes).toEqual(
        nodes[5] === undefined ? [] : [nodes[5]],
      );
    });

    test("stops at those that have faded, by the rule that the engine has", async () => {
      const { store } = await world.fresh();
      const unit = fc.constantFrom(0, 0.05, 0.1, 0.15, 0.4, 0.5, 1);
      const given = fc.sample(
        fc.record({
          second: fc.integer({ min: 0, max: 300 * DAY }),
          salienceBase: unit,
          confidenceBase: unit,
          reinforcementBoost: fc.constantFrom(0, 0.15, 0.5),
          decayProfile: fc.constantFrom(...DECAY_PROFILES),
          epistemicType: fc.constantFrom(...EPISTEMIC_TYPES),
          lifecycleState: fc.constantFrom(...LIFECYCLE_STATES),
          nodeType: fc.constantFrom("note", "fact", "entity", "summary"),
          metadata: fc.constantFrom(undefined, { consolidation_summary: true }),
          ttlDays: fc.constantFrom(undefined, 400),
          pinned: fc.boolean(),
        }),
        { seed: 1, numRuns: 400 },
      );
      const nodes = await put(store, ...given);
      const now = at(250 * DAY);
      const alive = nodes.filter((node) => isActive(node.lifecycleState));
      for (const [fading, salience, confidence] of [
        ["original", 0.1, 0.15],
        ["original", 0.05, 0],
        ["original", 0, 0.4],
        ["own", 0.4, 0.4],
      ] as const) {
        const open = alive.filter((node) => canFade(node, fading));
        const faded = open.filter((node) => {
          const values = decayed(node, now);
          return values.salience < salience || values.confidence < confidence;
        });
        expect(faded.length).toBeGreaterThan(2);
        const unusedBefore = new Map();
        const what: Aging = { kind: "faded", now, fading, salience, confidence, unusedBefore };
        expect(await walked(store, ALL_OWNERS, what, 7)).toEqual({
          ids: idsOf(faded),
          considered: open.length,
        });
      }
      const unused = { note: at(40 * DAY), summary: at(100 * DAY) };
      const ofType = alive.filter(({ nodeType, pinned }) => nodeType in unused && !pinned);
      const old = ofType.filter(
        (node) => node.lastReinforcedAt < unused[node.nodeType === "note" ? "note" : "summary"],
      );
      expect(old.length).toBeGreaterThan(5);
      const marks = { now, fading: "own", salience: 0, confidence: 0 } as const;
      const unusedBefore = new Map(Object.entries(unused)) as ReadonlyMap<NodeType, Instant>;
      expect(await walked(store, ALL_OWNERS, { kind: "faded", ...marks, unusedBefore }, 7)).toEqual(
        { ids: idsOf(old), considered: ofType.length },
      );
    });

    test("whose nodes change behind it misses none of the others", async () => {
      const { store } = await world.fresh();
      const nodes = await put(store, { second: 1 }, { second: 2 }, { second: 2 }, { second: 3 });
      const what: Aging = { kind: "tentative", createdBefore: at(9), evidence: 1 };
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.walkAging({ owner: "ada", at: what, after, limit: 1 });
        for (const { id } of page.nodes) {
          seen.push(id);
          await store.change({ nodeIds: [id], auditRecordIds: [], eventIds: [] }, (snapshot) => {
            const node = snapshot.nodes.get(id);
            const changed =
              node === undefined ? [] : [{ ...node, lifecycleState: "stable" as const }];
            return { change: { nodes: changed, edges: [], auditRecords: [] }, result: undefined };
          });
        }
        after = page.next;
        if (after === undefined) break;
      }
      expect(seen).toEqual(nodes.map(({ id }) => id));
    });
  });

  test("nodes that are retired, and those with a retention, are walked over", async () => {
    const { store } = await world.fresh();
    const nodes = await put(
      store,
      { second: 1, lifecycleState: "archived" },
      { second: 2, lifecycleState: "deprecated", userId: "bob" },
      { second: 3, lifecycleState: "superseded" },
      { second: 4, ttlDays: 3 },
      { second: 5, ttlDays: 9, pinned: true },
    );
    const ids = (...places: readonly number[]) =>
      idsOf(places.flatMap((place) => nodes[place] ?? []));
    for (const limit of [1, 10]) {
      const walk = async (owner: Owner, kind: "retired" | "retained") =>
        (await walked(store, owner, { kind }, limit)).ids;
      expect(await walk(ALL_OWNERS, "retired")).toEqual(ids(0, 1));
      expect(await walk("ada", "retired")).toEqual(ids(0));
      expect(await walk("ada", "retained")).toEqual(ids(3));
    }
    expect(await store.countRetained("ada", at(3 * DAY + 4))).toBe(0);
    expect(await store.countRetained("ada", at(3 * DAY + 5))).toBe(1);
    expect(await store.countRetained(ALL_OWNERS, at(900 * DAY))).toBe(1);
  });

  test("a node that is active again is found again, and the last step of each is told", async () => {
    const { store } = await world.fresh();
    const [node, other] = await put(
      store,
      { second: 1, content: "lantern", vector: unit(1) },
      { second: 2, content: "lantern", vector: unit(0, 1) },
    );
    if (node === undefined || other === undefined) throw new Error("nothing was stored");
    const move = async (lifecycleState: "archived" | "stable", opType: string, second: number) => {
      const record = anAuditRecord({ opType, targetId: node.id, createdAt: at(second) });
      await store.change({ nodeIds: [node.id], auditRecordIds: [], eventIds: [] }, ({ nodes }) => {
        const after = { ...(nodes.get(node.id) ?? node), lifecycleState };
        const isBack = lifecycleState === "stable";
        const added = isBack ? [{ node: after, vector: unit(1), at: at(second) }] : [];
        return {
          change: { nodes: [after], added, edges: [], auditRecords: [record] },
          result: undefined,
        };
      });
      return record;
    };
    const found = async () => [
      (await store.searchText("lantern", ANYTHING, 9)).length,
      (await store.searchVectors(unit(1), ANYTHING, 9)).length,
    ];
    const whole = await found();
    const archived = await move("archived", "LIFECYCLE_CHANGED", 5);
    expect(await found()).toEqual([1, 1]);
    expect(await store.lastSteps([node.id, other.id])).toEqual(new Map([[node.id, archived]]));
    const swept = await move("archived", "TOMBSTONE_SWEEP", 6);
    await move("stable", "MEMORY_RESTORED", 7);
    expect(await found()).toEqual(whole);
    expect(whole).toEqual([2, 2]);
    expect(await store.lastSteps([node.id])).toEqual(new Map([[node.id, swept]]));
  });

  test("nodes tell when they were last in a context, and the pack whether anything has a date", async () => {
    const { store } = await world.fresh();
    const [used, unused] = await put(store, { second: 1 }, { second: 1, userId: "bob" });
    const body = new Uint8Array([1]);
    for (const second of [500, 700, 600]) {
      await saveShown(store, { requestId: freshId(), userId: "ada", createdAt: at(second), body }, [
        { nodeId: used?.id ?? freshId(), rank: 1, representation: "self" },
      ]);
    }

    const ids = [used, unused].flatMap((node) => (node === undefined ? [] : [node.id]));
    expect(Object.fromEntries(await store.lastUses(ids))).toEqual({ [ids[0] ?? ""]: at(700) });
    expect(await store.lastUses([])).toEqual(new Map());

    expect(await store.isDated(at(0), at(1))).toBe(true);
    expect(await store.isDated(at(2), at(499))).toBe(false);
    expect(await store.isDated(at(600), at(600))).toBe(true);

    expect(await store.doubtedClock()).toBeUndefined();
    await store.doubtClock(at(9));
    await store.doubtClock(at(8));
    expect(await store.doubtedClock()).toBe(at(8));
    await store.doubtClock(undefined);
    expect(await store.doubtedClock()).toBeUndefined();
  });

  test("nodes whose retention ends are counted without pinned and inactive ones", async () => {
    const { store } = await world.fresh();
    await put(
      store,
      { ttlDays: 1 },
      { ttlDays: 1, pinned: true },
      { ttlDays: undefined },
      { ttlDays: 1, lifecycleState: "archived" },
      { ttlDays: 9, lifecycleState: "contested", userId: "bob" },
    );

    expect(await store.countRetained(ALL_OWNERS)).toBe(2);
    expect(await store.countRetained("ada")).toBe(1);
    expect(await store.countRetained("eve")).toBe(0);
  });

  test("indexes of which every entry has its active node are left alone", async () => {
    const { store } = await world.fresh();
    await put(store, {}, { userId: "bob" });

    for (const owner of [ALL_OWNERS, "ada", "eve"]) {
      expect(await store.sweepIndexes(owner, 10)).toEqual({ found: 0, removed: 0 });
    }
  });
}
