import { describe, expect, test } from "bun:test";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { planRecordId } from "../../src/domain/jobs.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import type { PlannedChange } from "../../src/ports/store/graph.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { nodeKeys } from "../node-keys.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  put,
  unit,
} from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

/** What the events and jobs of a store come to. */
async function totals(store: Store): Promise<{ events: number; pending: number }> {
  const [events, jobs] = await Promise.all([
    store.countEvents(ALL_OWNERS),
    store.countJobs(ALL_OWNERS),
  ]);
  return { events, pending: jobs.pending };
}

/** Admission, the event log and closing. */
export function describeAdmission(world: StoreWorld): void {
  describe("admission", () => {
    test("keeps every member of an event, awkward text included", async () => {
      const { store } = await world.fresh();
      const event = anEvent({
        sessionId: "s 1/ü",
        scope: "organisation",
        role: "human",
        content: 'line one\nline two\u0000 "quoted" \u2028 日本語 👩‍👩‍👧 end',
        metadata: { deep: { list: [1, 2.5, null, true, "'"] }, ключ: "" },
        eventTime: at(-86_400),
        timestamp: at(0.000_001),
      });

      await store.admit(anAdmission([event]));

      expect(await store.event(event.id, "ada")).toEqual(event);
    });

    test("keeps absent members absent", async () => {
      const { store } = await world.fresh();
      const event = anEvent();

      await store.admit(anAdmission([event]));

      expect(await store.event(event.id, ALL_OWNERS)).toStrictEqual(event);
    });

    test("gives every event one pending job", async () => {
      const { store } = await world.fresh();
      const events = [anEvent(), anEvent()];

      await store.admit(anAdmission(events));

      expect(await Promise.all(events.map(({ id }) => store.jobStatus(id, "ada")))).toEqual(
        events.map(({ id, timestamp }) => ({
          eventId: id,
          status: "pending",
          attempts: 0,
          lastError: undefined,
          updatedAt: timestamp,
        })),
      );
    });

    test("stores nothing of an admission one of whose events exists already", async () => {
      const { store } = await world.fresh();
      const old = anEvent({ content: "first" });
      await store.admit(anAdmission([old]));
      const guard = anAuditRecord();

      const refused = store.admit(
        anAdmission([anEvent(), { ...old, content: "second" }], { auditRecords: [guard] }),
      );

      expect(refused).rejects.toMatchObject({ code: "storage_failed" });
      await refused.catch(() => {});
      expect(await totals(store)).toEqual({ events: 1, pending: 1 });
      expect((await store.event(old.id, "ada"))?.content).toBe("first");
      expect(await store.admitOnce(anAdmission([]), guard.id)).toBeUndefined();
    });

    test("stores nothing of an admission one of whose records exists already", async () => {
      const { store } = await world.fresh();
      const operation = anAuditRecord();
      await store.admit(anAdmission([], { auditRecords: [operation] }));

      const refused = store.admit(anAdmission([anEvent()], { auditRecords: [operation] }));

      expect(refused).rejects.toMatchObject({ code: "storage_failed" });
      await refused.catch(() => {});
      expect(await totals(store)).toEqual({ events: 0, pending: 0 });
    });

    test("lets one failing call of a group fail alone", async () => {
      const { store } = await world.fresh();
      const twice = anEvent();
      const calls = [...Array.from({ length: 10 }, () => anEvent()), twice, anEvent(), twice];

      const outcomes = await Promise.allSettled(
        calls.map((event) => store.admit(anAdmission([event, anEvent()]))),
      );

      expect(outcomes.map(({ status }) => status)).toEqual([
        ...Array.from({ length: 12 }, () => "fulfilled" as const),
        "rejected",
      ]);
      expect(await totals(store)).toEqual({ events: 24, pending: 24 });
    });

    test("applies overlapping calls in the order in which they were made", async () => {
      const { store } = await world.fresh();
      const guard = asUuid("01900000-0000-7000-8000-00000000aaaa");
      const records = ["a", "b", "c"].map((targetId) => anAuditRecord({ id: guard, targetId }));

      const found = await Promise.all(
        records.map((operation) =>
          store.admitOnce(anAdmission([], { auditRecords: [operation] }), guard),
        ),
      );

      expect(found.map((operation) => operation?.targetId)).toEqual([undefined, "a", "a"]);
    });

    test("keeps what was acknowledged when the store is opened again", async () => {
      const { store, place } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event]));
      await store.close();

      const again = await world.open(place);

      expect(await again.event(event.id, "ada")).toEqual(event);
      expect(await totals(again)).toEqual({ events: 1, pending: 1 });
    });
  });

  describe("admission with a change", () => {
    test("makes the change in the transaction that writes its nodes", async () => {
      const { store } = await world.fresh();
      const [old] = await put(store, { content: "old" });
      const event = anEvent({ content: "new" });
      const node = aNode(event);

      await store.admit({
        ...anAdmission([event], { nodes: [{ node, lexical: true }] }),
        change: retiring(old!, node),
      });

      expect(await store.node(old!.id, "ada")).toMatchObject({ lifecycleState: "superseded" });
      expect((await store.nodesById("ada", [old!.id, node.id])).map((k) => k.node.id)).toEqual([
        node.id,
      ]);
      const words = await store.searchText("old new", FILTER, 9);
      expect(
        (
          await store.nodesByKey(
            "ada",
            words.map(({ key }) => key),
          )
        ).length,
      ).toBe(1);
    });

    test("leaves nothing when the change adds nodes of its own", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      const added = [{ node: aNode(event), vector: unit(1), at: at(1) }];
      const change = { nodes: [], added, edges: [], auditRecords: [] };
      const admitted = store.admit({
        ...anAdmission([event]),
        change: {
          reads: { nodeIds: [], auditRecordIds: [], eventIds: [] },
          decide: () => ({ change, result: undefined }),
        },
      });

      await expect(admitted).rejects.toMatchObject({ code: "internal" });
      expect(await totals(store)).toEqual({ events: 0, pending: 0 });
      expect(await store.countNodes(ALL_OWNERS)).toBe(0);
    });

    test.each(["admit", "admitOnce"] as const)(
      "%s leaves nothing when the change is refused, alone and in a group",
      async (call) => {
        const { store } = await world.fresh();
        const refuse = () => {
          throw new SvcError("not_found", "no such memory");
        };
        const guard = anAuditRecord();
        const event = anEvent();
        const admission = {
          ...anAdmission([event], { nodes: [{ node: aNode(event), lexical: true }] }),
          auditRecords: [guard],
          change: { reads: { nodeIds: [], auditRecordIds: [], eventIds: [] }, decide: refuse },
        };
        const run = () =>
          call === "admit" ? store.admit(admission) : store.admitOnce(admission, guard.id);

        expect(run()).rejects.toMatchObject({ code: "not_found" });
        await run().catch(() => {});
        const group = await Promise.allSettled([
          store.admit(anAdmission([anEvent()])),
          run(),
          store.admit(anAdmission([anEvent()])),
        ]);

        expect(group.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
        expect(await totals(store)).toEqual({ events: 2, pending: 2 });
        expect(await store.countNodes(ALL_OWNERS)).toBe(0);
        expect(await store.auditRecord(guard.id, ALL_OWNERS)).toBeUndefined();
      },
    );
  });

  describe("admission under a guard", () => {
    test("returns the complete record of the earlier call", async () => {
      const { store } = await world.fresh();
      const operation = anAuditRecord({
        payload: { event_ids: ["x"], nested: { n: 1.5 } },
        namespaceId: "personal",
      });
      await store.admitOnce(anAdmission([anEvent()], { auditRecords: [operation] }), operation.id);

      const found = await store.admitOnce(
        anAdmission([anEvent()], { auditRecords: [{ ...operation, targetId: "other" }] }),
        operation.id,
      );

      expect(found).toEqual(operation);
      expect(await totals(store)).toEqual({ events: 1, pending: 1 });
    });

    test("leaves one record of parallel identical calls through two stores", async () => {
      const { store, place } = await world.fresh();
      const second = await world.open(place);
      const operation = anAuditRecord();

      const found = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? store : second).admitOnce(
            anAdmission([anEvent()], { auditRecords: [operation] }),
            operation.id,
          ),
        ),
      );

      expect(found.filter((earlier) => earlier === undefined)).toHaveLength(1);
      expect(found.filter((earlier) => earlier !== undefined)).toEqual(
        Array.from({ length: 29 }, () => operation),
      );
      expect(await totals(store)).toEqual({ events: 1, pending: 1 });
    });
  });

  describe("the event log", () => {
    test("is read at once after a write of another process", async () => {
      const { store, place } = await world.fresh();
      expect(await store.countEvents("ada")).toBe(0);

      const { did } = await world.start(place, "admit", "from elsewhere");

      expect(await store.countEvents("ada")).toBe(1);
      expect((await store.event(asUuid(did[0] ?? ""), "ada"))?.content).toBe("from elsewhere");
    });

    test("keeps what a process was promised that is killed right afterwards", async () => {
      const { store, place } = await world.fresh();
      await store.close();
      const { did, kill } = await world.start(place, "admit", "last words");

      await kill();

      const again = await world.open(place);
      expect((await again.event(asUuid(did[0] ?? ""), "ada"))?.content).toBe("last words");
    });
  });

  describe("closing", () => {
    test("finishes the writes that were accepted", async () => {
      const { store, place } = await world.fresh();
      const writes = Array.from({ length: 50 }, () => store.admit(anAdmission([anEvent()])));

      await store.close();

      await Promise.all(writes);
      expect(await totals(await world.open(place))).toEqual({ events: 50, pending: 50 });
    });

    test("may be asked for again", async () => {
      const { store } = await world.fresh();

      await Promise.all([store.close(), store.close()]);

      expect(await store.close()).toBeUndefined();
    });

    test("rejects every later call", async () => {
      const { store } = await world.fresh();
      await store.close();

      for (const { name, call } of CALLS) {
        const code = await call(store).then(
          () => "none",
          (error: unknown) => Reflect.get(Object(error), "code"),
        );
        expect([name, code]).toEqual([name, "engine_closed"]);
      }
    });
  });
}

/** A memory that is replaced by one of the same admission. */
function retiring(old: MemoryNode, next: MemoryNode): PlannedChange {
  return {
    reads: { nodeIds: [old.id, next.id], auditRecordIds: [], eventIds: [] },
    decide: ({ nodes, at: moment }) => {
      const before = nodes.get(old.id);
      if (before === undefined || !nodes.has(next.id)) throw new Error("a node is not there");
      const after: MemoryNode = {
        ...before,
        lifecycleState: "superseded",
        supersededBy: next.id,
        updatedAt: moment,
      };
      return { change: { nodes: [after], edges: [], auditRecords: [] }, result: undefined };
    },
  };
}

const EVENT = anEvent();
const NODE = aNode(EVENT);
const FILTER = everythingOf("ada");

/** Every call of the port that answers with a promise. */
const CALLS: readonly { name: string; call: (store: Store) => Promise<unknown> }[] = [
  { name: "admit", call: (store) => store.admit(anAdmission([EVENT])) },
  {
    name: "admitOnce",
    call: (store) => store.admitOnce(anAdmission([EVENT]), planRecordId(EVENT.id)),
  },
  { name: "claimJobs", call: (store) => store.claimJobs(ALL_OWNERS, 1) },
  { name: "releaseJobs", call: (store) => store.releaseJobs([EVENT.id]) },
  { name: "materialize", call: (store) => store.materialize([aMaterialization(EVENT, NODE)]) },
  { name: "failJobs", call: (store) => store.failJobs([EVENT.id], "reason", at(0)) },
  { name: "jobStatus", call: (store) => store.jobStatus(EVENT.id, ALL_OWNERS) },
  { name: "countJobs", call: (store) => store.countJobs(ALL_OWNERS) },
  { name: "event", call: (store) => store.event(EVENT.id, ALL_OWNERS) },
  { name: "events", call: (store) => store.events({ userId: "ada", limit: 1, offset: 0 }) },
  { name: "node", call: (store) => store.node(NODE.id, ALL_OWNERS) },
  {
    name: "queryNodes",
    call: (store) =>
      store.queryNodes({ owner: "ada", lifecycleStates: ["stable"], oldestFirst: false, limit: 1 }),
  },
  { name: "countNodes", call: (store) => store.countNodes(ALL_OWNERS) },
  { name: "countEvents", call: (store) => store.countEvents(ALL_OWNERS) },
  { name: "searchVectors", call: (store) => store.searchVectors(new Float32Array(8), FILTER, 1) },
  { name: "cosines", call: (store) => store.cosines(new Float32Array(8), "ada", nodeKeys(1)) },
  { name: "searchText", call: (store) => store.searchText("tea", FILTER, 1) },
  { name: "nodesByKey", call: (store) => store.nodesByKey("ada", nodeKeys(1)) },
  { name: "sessionWindows", call: (store) => store.sessionWindows("ada", nodeKeys(1), 1) },
];
