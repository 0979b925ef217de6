import { describe, expect, test } from "bun:test";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import type { MemoryEvent } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Instant } from "../../src/lib/instant.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { MaterializationJob } from "../../src/ports/store/work.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  aPlan,
  at,
  freshId,
  unit,
} from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

function idsOf(jobs: readonly MaterializationJob[]): string[] {
  return jobs.map(({ event }) => event.id);
}

async function admitted(store: Store, count: number, given: Partial<MemoryEvent> = {}) {
  const events = Array.from({ length: count }, () => anEvent(given));
  await store.admit(anAdmission(events));
  return events;
}

/** The work queue and what materialization makes visible. */
export function describeJobs(world: StoreWorld): void {
  describe("claims", () => {
    test("hand out the event, and the planned node of a direct store", async () => {
      const { store } = await world.fresh();
      const raw = anEvent({ timestamp: at(0) });
      const planned = anEvent({ timestamp: at(1) });
      const node = aNode(planned, {
        nodeType: "fact",
        content: "projected",
        metadata: { a: [1, null] },
        validTo: at(50),
        ttlDays: undefined,
      });
      await store.admit(anAdmission([raw, planned], { plans: [aPlan(planned, node)] }));

      expect(await store.claimJobs("ada", 10)).toEqual([
        { event: raw, plannedNode: undefined, generation: 1 },
        { event: planned, plannedNode: node, generation: 1 },
      ]);
    });

    test("take fewest attempts first, then in the order of admission", async () => {
      const { store } = await world.fresh();
      const tried = anEvent({ timestamp: at(1) });
      const first = anEvent({ timestamp: at(5) });
      const second = anEvent({ timestamp: at(5) });
      const late = anEvent({ timestamp: at(3) });
      for (const event of [tried, first, second, late]) await store.admit(anAdmission([event]));
      await store.failJobs([tried.id], "model_failed", at(10));

      const claimed = await store.claimJobs("ada", 10);

      expect(idsOf(claimed)).toEqual([first.id, second.id, late.id, tried.id]);
    });

    test("take at most as many as are asked for", async () => {
      const { store } = await world.fresh();
      await admitted(store, 3);

      expect(await store.claimJobs("ada", 0)).toEqual([]);
      expect(await store.claimJobs("ada", 2)).toHaveLength(2);
      expect(await store.claimJobs("ada", 2)).toHaveLength(1);
      expect(await store.claimJobs("ada", 2)).toEqual([]);
    });

    test("take the owner's jobs only, or everybody's when no owner is named", async () => {
      const { store } = await world.fresh();
      const [ofAda] = await admitted(store, 1);
      const [ofBob] = await admitted(store, 1, { userId: "bob", timestamp: at(1) });
      const [ofEve] = await admitted(store, 1, { userId: "eve", timestamp: at(2) });

      expect(await store.claimJobs("nobody", 10)).toEqual([]);
      expect(idsOf(await store.claimJobs("bob", 10))).toEqual([ofBob?.id ?? ""]);
      expect(idsOf(await store.claimJobs(ALL_OWNERS, 10))).toEqual([
        ofAda?.id ?? "",
        ofEve?.id ?? "",
      ]);
    });

    test("of two stores never hold the same job", async () => {
      const { store, place } = await world.fresh();
      const second = await world.open(place);
      const events = await admitted(store, 60);

      const rounds = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : second).claimJobs("ada", 4),
        ),
      );

      const taken = rounds.flatMap(idsOf);
      expect(taken).toHaveLength(60);
      expect(new Set(taken)).toEqual(new Set(events.map(({ id }) => id as string)));
    });

    test("pass over jobs that the admitting call keeps for itself", async () => {
      const { store, place } = await world.fresh();
      const second = await world.open(place);
      const event = anEvent();
      await store.admit(anAdmission([event], { leaseJobs: true }));

      expect(await second.claimJobs("ada", 10)).toEqual([]);
      expect(await store.claimJobs("ada", 10)).toEqual([]);

      await store.releaseJobs([event.id]);
      expect(idsOf(await second.claimJobs("ada", 10))).toEqual([event.id]);
    });

    test("are free again once they were given back or have failed", async () => {
      const { store } = await world.fresh();
      const [one, two, three] = await admitted(store, 3);
      await store.claimJobs("ada", 10);

      await store.releaseJobs([one?.id ?? freshId(), freshId()]);
      await store.failJobs([two?.id ?? freshId(), freshId()], "model_failed", at(5));

      expect(idsOf(await store.claimJobs("ada", 10))).toEqual([one?.id ?? "", two?.id ?? ""]);
      expect(await store.jobStatus(three?.id ?? freshId(), "ada")).toMatchObject({ attempts: 0 });
    });

    test("end with their lease", async () => {
      let now: Instant = at(0);
      const { store } = await world.fresh({ clock: { now: () => now } });
      const [event] = await admitted(store, 1);
      expect(await store.claimJobs("ada", 1)).toHaveLength(1);
      expect(await store.claimJobs("ada", 1)).toHaveLength(0);

      now = at(86_400);

      expect(idsOf(await store.claimJobs("ada", 1))).toEqual([event?.id ?? ""]);
    });

    test("of a process that was killed become free, those of a live one do not", async () => {
      const { store, place } = await world.fresh();
      const events = await admitted(store, 5);
      const killed = await world.start(place, "claim", "2");
      const alive = await world.start(place, "claim", "1");
      expect(new Set([...killed.did, ...alive.did]).size).toBe(3);

      await killed.kill();

      const taken = idsOf(await store.claimJobs("ada", 10));
      expect(new Set(taken)).toEqual(
        new Set(events.map(({ id }) => id as string).filter((id) => !alive.did.includes(id))),
      );
    });

    test("pass over complete jobs", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      await store.materialize([aMaterialization(event, aNode(event))]);
      await store.releaseJobs([event.id]);
      await store.failJobs([event.id], "too_late", at(9));

      expect(await store.claimJobs(ALL_OWNERS, 10)).toEqual([]);
      expect(await store.jobStatus(event.id, "ada")).toMatchObject({
        status: "complete",
        attempts: 1,
        lastError: undefined,
      });
    });
  });

  describe("job states", () => {
    test("count finished tries and keep the last reason until success", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      const node = aNode(event);
      const states = [];

      await store.failJobs([event.id], "disk_full", at(1));
      states.push(await store.jobStatus(event.id, "ada"));
      await store.materialize([
        aMaterialization(event, node, { failure: "model_failed", at: at(2) }),
      ]);
      states.push(await store.jobStatus(event.id, "ada"));
      await store.materialize([aMaterialization(event, node, { vector: unit(1), at: at(3) })]);
      states.push(await store.jobStatus(event.id, ALL_OWNERS));

      const eventId = event.id;
      expect(states).toEqual([
        { eventId, status: "pending", attempts: 1, lastError: "disk_full", updatedAt: at(1) },
        { eventId, status: "pending", attempts: 2, lastError: "model_failed", updatedAt: at(2) },
        { eventId, status: "complete", attempts: 3, lastError: undefined, updatedAt: at(3) },
      ]);
    });

    test("are unknown for a foreign or missing event", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      await admitted(store, 1, { userId: "bob" });

      expect(await store.jobStatus(event?.id ?? freshId(), "bob")).toBeUndefined();
      expect(await store.jobStatus(freshId(), "ada")).toBeUndefined();
      expect(await store.jobStatus(event?.id ?? freshId(), "nobody")).toBeUndefined();
    });

    test("are counted by owner; failed ones are among the pending", async () => {
      const { store } = await world.fresh();
      const [first, second, third] = await admitted(store, 3);
      await admitted(store, 2, { userId: "bob" });
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      await store.failJobs([first.id], "model_failed", at(1));
      await store.materialize([aMaterialization(second, aNode(second))]);

      expect(await store.countJobs("ada")).toEqual({ pending: 2, failed: 1 });
      expect(await store.countJobs("bob")).toEqual({ pending: 2, failed: 0 });
      expect(await store.countJobs("nobody")).toEqual({ pending: 0, failed: 0 });
      expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: 4, failed: 1 });
    });
  });

  describe("materialization", () => {
    test("keeps every member of a node", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1, { sessionId: "s", scope: "project" });
      if (event === undefined) throw new Error("no event");
      const node = aNode(event, {
        nodeType: "task",
        content: "two\nlines\u0000 and “quotes”",
        lifecycleState: "contested",
        confidence: 0.123456789012345,
        salience: 1,
        confidenceBase: 0,
        salienceBase: 0.1,
        reinforcementBoost: 2.5,
        lastReinforcedAt: at(1),
        decayProfile: "permanent",
        epistemicType: "conditional",
        sourceType: "tool_output",
        metadata: { condition: "if", nested: [{}] },
        updatedAt: at(2),
        eventTime: at(3),
        validFrom: at(4),
        validTo: at(5),
        ttlDays: 0,
        supersededBy: freshId(),
        evidenceRefs: [event.id, freshId()],
        pinned: true,
      });

      await store.materialize([aMaterialization(event, node)]);

      expect(await store.node(node.id, "ada")).toStrictEqual(node);
    });

    test("repeated, changes nothing", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      const node = aNode(event);
      const item = aMaterialization(event, node, { vector: unit(1) });

      await Promise.all([store.materialize([item, item]), store.materialize([item])]);
      await store.materialize([
        aMaterialization(event, aNode(event, { content: "another node" }), { at: at(9) }),
      ]);

      expect(await store.countNodes("ada")).toBe(1);
      expect(await store.node(node.id, "ada")).toEqual(node);
      expect(await store.jobStatus(event.id, "ada")).toMatchObject({
        attempts: 1,
        updatedAt: at(1),
      });
    });

    test("keeps a node that exists and indexes the text that is kept", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      const node = aNode(event, { content: "original words" });
      await store.materialize([
        aMaterialization(event, node, { lexical: false, failure: "model_failed" }),
      ]);

      await store.materialize([
        aMaterialization(event, { ...node, content: "changed words" }, { vector: unit(1) }),
      ]);

      expect(await store.node(node.id, "ada")).toEqual(node);
      expect(await store.searchText("original", ALL, 10)).toHaveLength(1);
      expect(await store.searchText("changed", ALL, 10)).toHaveLength(0);
      expect(await store.searchVectors(unit(1), ALL, 10)).toHaveLength(1);
    });

    test.each(["superseded", "deprecated", "archived"] as const)(
      "never indexes a node that is %s",
      async (lifecycleState) => {
        const { store } = await world.fresh();
        const [born, kept] = await admitted(store, 2);
        if (born === undefined || kept === undefined) throw new Error("no event");
        const bornInactive = aNode(born, { lifecycleState });
        const keptInactive = aNode(kept, { lifecycleState });
        await store.materialize([
          aMaterialization(born, bornInactive, { vector: unit(1) }),
          aMaterialization(kept, keptInactive, { vector: unit(1), failure: "model_failed" }),
        ]);

        await store.materialize([
          aMaterialization(
            kept,
            { ...keptInactive, lifecycleState: "stable" },
            { vector: unit(1) },
          ),
        ]);

        expect(await store.searchText("tea", ALL, 10)).toEqual([]);
        expect(await store.searchVectors(unit(1), ALL, 10)).toEqual([]);
        expect((await store.node(kept.id, "ada")) ?? keptInactive).toEqual(keptInactive);
        expect(await store.jobStatus(kept.id, "ada")).toMatchObject({ status: "complete" });
        expect(await store.countNodes("ada")).toBe(0);
      },
    );

    test("writes the entries that it is given and no others", async () => {
      const { store } = await world.fresh();
      const [text, vector] = await admitted(store, 2);
      if (text === undefined || vector === undefined) throw new Error("no event");
      await store.materialize([
        aMaterialization(text, aNode(text), { failure: "model_failed" }),
        aMaterialization(vector, aNode(vector), { vector: unit(1), lexical: false }),
      ]);

      expect(await store.searchText("tea", ALL, 10)).toHaveLength(1);
      expect(await store.searchVectors(unit(1), ALL, 10)).toHaveLength(1);
      expect(await store.searchText("tea", ALL, 10)).not.toEqual(
        await store.searchVectors(unit(1), ALL, 10),
      );
    });

    test("replaces the entries of an earlier try", async () => {
      const { store } = await world.fresh();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      const node = aNode(event);
      await store.materialize([
        aMaterialization(event, node, { vector: unit(1), failure: "later" }),
      ]);

      await store.materialize([aMaterialization(event, node, { vector: unit(0, 1) })]);

      const hits = await store.searchVectors(unit(0, 1), ALL, 10);
      expect(hits.map(({ score }) => score)).toEqual([1]);
      expect(await store.searchText("tea", ALL, 10)).toHaveLength(1);
    });

    test("passes over an event that does not exist", async () => {
      const { store } = await world.fresh();
      const missing = anEvent();
      const [event] = await admitted(store, 1);
      if (event === undefined) throw new Error("no event");
      const node = aNode(event);

      await store.materialize([
        aMaterialization(missing, aNode(missing)),
        aMaterialization(event, node),
      ]);

      expect(await store.countNodes(ALL_OWNERS)).toBe(1);
      expect(await store.node(node.id, "ada")).toEqual(node);
    });

    test("writes all of its items or none", async () => {
      const { store } = await world.fresh();
      const [first, second] = await admitted(store, 2);
      if (first === undefined || second === undefined) throw new Error("no event");

      const refused = store.materialize([
        aMaterialization(first, aNode(first), { vector: unit(1) }),
        aMaterialization(second, aNode(second), { vector: new Float32Array(3) }),
      ]);

      expect(refused).rejects.toMatchObject({ code: "storage_failed" });
      await refused.catch(() => {});
      expect(await store.countNodes(ALL_OWNERS)).toBe(0);
      expect(await store.searchText("tea", ALL, 10)).toEqual([]);
      expect(await store.searchVectors(unit(1), ALL, 10)).toEqual([]);
      expect(await store.countJobs("ada")).toEqual({ pending: 2, failed: 0 });
    });
  });

  describe("an unknown identifier", () => {
    test("is no error where there is nothing to do", async () => {
      const { store } = await world.fresh();
      const unknown = asUuid("01900000-0000-7000-8000-ffffffffffff");

      await store.releaseJobs([unknown]);
      await store.releaseJobs([]);
      await store.failJobs([unknown], "reason", at(0));
      await store.materialize([]);

      expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
    });
  });
}

const ALL = everythingOf("ada");
