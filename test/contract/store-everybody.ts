import { describe, expect, test } from "bun:test";
import { ALL_OWNERS, type Owner } from "../../src/domain/owner.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anEvent, at, freshId, put } from "./samples.ts";
import { anEdge, write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";

/** Names that could be taken for everybody. */
const NAMES = ["all-owners", "allOwners", "*", "null", "undefined", "[object Object]"] as const;

/** What is found of ada's two memories, of the event that one of them cites, and of the receipt. */
async function foundBy(store: Store, owner: Owner, ids: Awaited<ReturnType<typeof fill>>) {
  const { event, older, newer, request } = ids;
  const step = { owner, maxHops: 1, maxVisited: 9 };
  const filter = { lifecycleStates: ["tentative"], oldestFirst: true, limit: 9 } as const;
  return {
    events: await store.countEvents(owner),
    event: (await store.event(event, owner)) !== undefined,
    byId: (await store.eventsById([event], owner)).items.length,
    nodes: await store.countNodes(owner),
    node: (await store.node(newer, owner)) !== undefined,
    queried: (await store.queryNodes({ ...filter, owner })).length,
    near: (await store.neighborhood({ ...step, nodeId: newer })).length,
    chain: (await store.chain({ owner, nodeId: newer, direction: "backward", maxSteps: 9 })).length,
    citing: (await store.nodesCiting(event, owner)).length,
    contradictions: (await store.contradictionsOf(older, owner)).length,
    receipt: (await store.receipt(request, owner)) !== undefined,
  };
}

const EVERYTHING = {
  events: 3,
  event: true,
  byId: 1,
  nodes: 2,
  node: true,
  queried: 2,
  near: 1,
  chain: 1,
  citing: 1,
  contradictions: 1,
  receipt: true,
};

const NOTHING = {
  events: 0,
  event: false,
  byId: 0,
  nodes: 0,
  node: false,
  queried: 0,
  near: 0,
  chain: 0,
  citing: 0,
  contradictions: 0,
  receipt: false,
};

async function fill(store: Store) {
  const event = anEvent();
  await store.admit(anAdmission([event]));
  const [older, newer] = await put(store, {}, { evidenceRefs: [event.id] });
  if (older === undefined || newer === undefined) throw new Error("nothing was written");
  await write(store, {
    edges: [
      anEdge(newer, older, { edgeType: "supersedes" }),
      anEdge(newer, older, { edgeType: "contradicts" }),
    ],
  });
  const request = freshId();
  const body = new Uint8Array([1]);
  await store.saveReceipt({ requestId: request, userId: "ada", createdAt: at(0), body });
  return { event: event.id, older: older.id, newer: newer.id, request };
}

/** Reads are of one owner, or of everybody by name. */
export function describeEverybody(world: StoreWorld): void {
  describe("reads of everybody", () => {
    test("find what the owner finds", async () => {
      const { store } = await world.fresh();
      const ids = await fill(store);

      expect(await foundBy(store, "ada", ids)).toEqual(EVERYTHING);
      expect(await foundBy(store, ALL_OWNERS, ids)).toEqual(EVERYTHING);
    });

    test.each(NAMES)("are not those of a user called %s", async (name) => {
      const { store } = await world.fresh();
      const ids = await fill(store);

      expect(await foundBy(store, name, ids)).toEqual(NOTHING);

      await store.admit(anAdmission([anEvent({ userId: name })]));

      expect(await foundBy(store, name, ids)).toEqual({ ...NOTHING, events: 1 });
    });
  });
}
