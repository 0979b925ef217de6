import { describe, expect, test } from "bun:test";
import type { DerivationPlan } from "../../src/domain/extraction/plan/derivation.ts";
import type { MemoryEvent, MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { ExtractionClaim } from "../../src/ports/store/work.ts";
import { aPlanOf, claimed, extractable } from "./extraction-samples.ts";
import { aMaterialization, aNode, anEvent, at, freshId, put, unit } from "./samples.ts";
import { retire } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

const ANY = { owner: ALL_OWNERS, isDueOnly: false };
const VECTORS = [unit(1), unit(0, 1), unit(0, 0, 1)];

/** A claimed event and a plan for it that is kept. */
async function prepared(
  store: Store,
  given: Parameters<typeof aPlanOf>[1] = {},
  event: MemoryEvent = anEvent({ content: "Ada moved to Graz." }),
) {
  await store.admit(extractable([event]));
  const claim = await claimed(store, ANY);
  const plan = aPlanOf(claim, given);
  await store.savePlan(claim, plan, at(2));
  return { claim, plan, event };
}

async function published(
  store: Store,
  { claim, plan }: { readonly claim: ExtractionClaim; readonly plan: DerivationPlan },
  vectors: readonly (Float32Array | undefined)[] = VECTORS,
) {
  return await store.publishPlan(claim, { plan, vectors, at: at(3) });
}

async function nodesOf(store: Store, ids: readonly Uuid[]): Promise<readonly MemoryNode[]> {
  const found = await Promise.all(ids.map((id) => store.node(id, ALL_OWNERS)));
  return found.flatMap((node) => node ?? []);
}

async function operationsOn(store: Store, event: MemoryEvent): Promise<readonly string[]> {
  const page = await store.auditRecordsOn({ targetId: event.id, after: undefined, limit: 20 });
  return page.items.map(({ opType }) => opType);
}

/** What a search for words and one for meaning find. */
async function found(store: Store, words: string, vector: Float32Array) {
  return {
    texts: await contentsOf(store, await store.searchText(words, ANYTHING, 9)),
    vectors: await contentsOf(store, await store.searchVectors(vector, ANYTHING, 9)),
  };
}

/** What carrying out a plan does. */
export function describePublication(world: StoreWorld): void {
  describe("a plan", () => {
    test("that is carried out is there whole: nodes, edges, index entries, receipt and the end of the work", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const { claim, plan, event } = await prepared(store);
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({
        ...{ phase: "publication", planId: plan.id, planRevision: 1 },
      });

      expect(await published(store, { claim, plan })).toBeUndefined();

      const ids = plan.nodes.map(({ id }) => id);
      expect(await nodesOf(other, ids)).toEqual([...plan.nodes]);
      const [subject, object, stated] = ids;
      if (stated === undefined) throw new Error("the plan has no claim");
      const near = await other.neighborhood({
        ...{ owner: "ada", nodeId: stated, maxHops: 1, maxVisited: 9 },
      });
      expect(near.map(({ id }) => id)).toEqual(
        [subject, object].flatMap((id) => id ?? []).toSorted(),
      );
      expect(await found(other, "ada graz lives", unit(1))).toEqual({
        texts: ["Ada lives in Graz."],
        vectors: ["Ada", "Graz", "Ada lives in Graz."],
      });
      expect(await operationsOn(other, event)).toEqual([
        "DERIVATION_PREPARED",
        "DERIVATION_COMMITTED",
      ]);
      expect(await other.extractionJob(event.id, "ada")).toMatchObject({
        ...{ status: "complete", phase: "complete", planId: plan.id, lastError: undefined },
        ...{ leaseExpiresAt: undefined, nextAttemptAt: undefined },
      });
      expect(await other.claimExtraction(ANY, 300)).toBeUndefined();
    });

    test("that is carried out again changes nothing", async () => {
      const { store } = await world.fresh();
      const { claim, plan, event } = await prepared(store);
      await published(store, { claim, plan });
      const before = await store.extractionJob(event.id, "ada");

      expect(await published(store, { claim, plan })).toBeUndefined();
      expect(await store.endExtraction(claim, { failure: "TimeoutError" }, at(9))).toEqual(
        before ?? expect.anything(),
      );
      expect(await store.countNodes("ada")).toBe(3);
      expect((await operationsOn(store, event)).length).toBe(2);
    });

    test("is kept once for each revision, and handed out with the next claim", async () => {
      const { store } = await world.fresh();
      const { claim, plan } = await prepared(store);
      const kept = await store.savePlan(claim, { ...plan, edges: [] }, at(9));
      await store.endExtraction(claim, "cancelled", at(3));

      expect(kept.createdAt).toBe(at(2));
      expect(await claimed(store, ANY)).toMatchObject({ plan: kept, revision: 1 });
    });

    test("that breaks a promise, or was not kept, is refused whole", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      await store.admit(extractable([event]));
      const claim = await claimed(store, ANY);
      const plan = aPlanOf(claim);
      const foreign = aPlanOf({ event: { ...event, userId: "bob" }, revision: 1 });
      const mixed = { ...plan, nodes: [...plan.nodes.slice(0, 2), ...foreign.nodes.slice(2)] };

      await expect(store.savePlan(claim, mixed, at(2))).rejects.toMatchObject({ code: "internal" });
      await expect(published(store, { claim, plan })).rejects.toMatchObject({ code: "internal" });
      expect(await store.countNodes("ada")).toBe(0);
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({ status: "running" });
    });

    test("retires what it replaces, in both indexes and with what its neighbours had of it", async () => {
      const { store } = await world.fresh();
      const [before, old, after] = await put(
        store,
        { content: "alpha", sessionId: "s", second: 0, vector: unit(0, 0, 0, 1) },
        { content: "bravo", sessionId: "s", second: 1, vector: unit(0, 0, 0, 0, 1) },
        { content: "charlie", sessionId: "s", second: 2, vector: unit(0, 0, 0, 0, 0, 1) },
      );
      if (old === undefined || before === undefined || after === undefined) throw new Error();
      const { claim, plan } = await replacing(store, old);

      expect(await published(store, { claim, plan })).toBeUndefined();

      expect(await store.node(old.id, "ada")).toMatchObject({
        ...{ lifecycleState: "superseded", supersededBy: plan.nodes[2]?.id },
        ...{ updatedAt: at(3), validTo: plan.nodes[2]?.validFrom },
      });
      expect(await found(store, "bravo", unit(0, 0, 0, 0, 1))).toMatchObject({ texts: [] });
      const hits = await store.searchVectors(unit(0, 0, 0, 0, 1), ANYTHING, 9);
      expect(hits.map(({ score }) => Math.round(score * 1000))).toEqual([0, 0, 0, 0, 0]);
      const chain = await store.chain({
        ...({ owner: "ada", nodeId: old.id, direction: "forward", maxSteps: 3 } as const),
      });
      expect(chain.map(({ id }) => id)).toEqual([plan.nodes[2]?.id ?? freshId()]);
    });

    test("that relies on a memory which has changed writes nothing, and is made again when asked", async () => {
      const { store } = await world.fresh();
      const [old] = await put(store, { content: "Ada lives in Wien." });
      if (old === undefined) throw new Error();
      const { claim, plan, event } = await replacing(store, old);
      await retire(store, "archived", old);

      expect(await published(store, { claim, plan })).toEqual({ staleId: old.id });
      expect(await store.countNodes("ada")).toBe(0);
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({ status: "running" });
      const failure = "StaleDerivationPlanError";
      expect(await store.endExtraction(claim, { failure }, at(4))).toMatchObject({
        ...{ status: "pending", lastError: failure, phase: "publication" },
      });

      const again = await store.retryExtraction(event.id, "ada", { isReplan: true, at: at(5) });
      expect(again).toMatchObject({
        ...{ status: "pending", planId: undefined, planRevision: 2, generation: 2 },
        ...{ lastError: undefined, nextAttemptAt: at(5), phase: "extraction", attempts: 1 },
      });
      const page = { targetId: event.id, after: undefined, limit: 20 };
      const { items } = await store.auditRecordsOn(page);
      expect(items.at(-1)).toMatchObject({
        ...{ opType: "DERIVATION_REPLAN_REQUESTED", actorId: "derivation" },
        ...{ namespaceId: "personal", targetId: event.id },
        payload: {
          event_id: event.id,
          user_id: "ada",
          previous_plan_id: plan.id,
          revision: 2,
          generation: 2,
        },
      });
      const next = await claimed(store, ANY);
      expect(next).toMatchObject({ revision: 2, plan: undefined, generation: 3 });
      const second = aPlanOf(next);
      await store.savePlan(next, second, at(6));
      expect(await published(store, { claim: next, plan: second })).toBeUndefined();
      expect(await store.auditRecord(plan.id, ALL_OWNERS)).toBeDefined();
    });

    test("is given up only where there is one, and nobody holds it or has carried it out", async () => {
      const { store } = await world.fresh();
      const replan = { isReplan: true, at: at(5) };
      const { claim, plan, event } = await prepared(store);
      const held = await store.retryExtraction(event.id, "ada", replan);
      expect(held).toMatchObject({ status: "running", planRevision: 1, generation: 1 });
      expect(
        await store.retryExtraction(event.id, "ada", { isReplan: false, at: at(5) }),
      ).toMatchObject({ status: "running", leaseExpiresAt: held?.leaseExpiresAt });
      await published(store, { claim, plan });
      expect(await store.retryExtraction(event.id, "ada", replan)).toMatchObject({
        ...{ status: "complete", planRevision: 1, planId: plan.id },
      });

      const unplanned = anEvent();
      await store.admit(extractable([unplanned]));
      const before = await store.extractionJob(unplanned.id, "ada");
      expect(await store.retryExtraction(unplanned.id, "ada", replan)).toEqual(
        before ?? expect.anything(),
      );
      expect(await store.retryExtraction(unplanned.id, "bob", replan)).toBeUndefined();
      expect(await store.retryExtraction(freshId(), ALL_OWNERS, replan)).toBeUndefined();
    });

    test("of an owner who is called otherwise since is carried out under the new name", async () => {
      const { store } = await world.fresh();
      const [known] = await put(store, { content: "Ada lives in Wien." });
      if (known === undefined) throw new Error();
      const { claim, plan, event } = await replacing(store, known);
      await store.endExtraction(claim, "cancelled", at(3));
      const move = { from: "ada", into: "lovelace", isJoin: false, actorId: "ada" };
      await store.owners.move({ ...move, id: freshId(), settingId: freshId() });
      const next = await claimed(store, ANY);

      expect(next.event.userId).toBe("lovelace");
      expect(await published(store, { claim: next, plan })).toBeUndefined();
      expect(await store.countNodes("lovelace")).toBe(3);
      expect(await store.countNodes("ada")).toBe(0);
      expect(await store.extractionJob(event.id, "lovelace")).toMatchObject({ status: "complete" });
    });

    test("whose vectors are of another model, or missing, leaves them to the work on index entries", async () => {
      const { store, place } = await world.fresh();
      const event = anEvent({ content: "Ada moved to Graz." });
      const { claim, plan } = await prepared(store, {}, event);
      await store.materialize([aMaterialization(event, aNode(event, { id: event.id }))]);
      expect(await store.jobStatus(event.id, "ada")).toMatchObject({ status: "complete" });

      await published(store, { claim, plan }, [unit(1), undefined, undefined]);

      const other = await world.open(place);
      const [job] = await other.claimJobs("ada", 9);
      const [, object, stated] = plan.nodes;
      const ids = [object?.id ?? event.id, stated?.id ?? event.id].toSorted();
      expect(job?.unindexed?.map(({ id }) => id)).toEqual(ids);
      const nodes = job?.unindexed ?? [];
      await other.addNodes(nodes.map((node) => ({ node, vector: unit(0, 1), at: at(5) })));
      expect(await found(other, "graz", unit(0, 1))).toMatchObject({
        // An entity has no entry for words.
        texts: expect.not.arrayContaining(["Graz"]),
        vectors: expect.arrayContaining(["Graz", "Ada lives in Graz."]),
      });
    });
  });
}

/** A plan whose claim replaces a memory. */
async function replacing(store: Store, old: MemoryNode) {
  const event = anEvent({ content: "Ada moved to Graz.", timestamp: at(10) });
  await store.admit(extractable([event]));
  const claim = await claimed(store, ANY);
  const stated = aPlanOf(claim);
  const newId = stated.nodes[2]?.id ?? freshId();
  const plan = {
    ...stated,
    replacements: [{ oldId: old.id, newId }],
    snapshots: [old],
  };
  await store.savePlan(claim, plan, at(2));
  return { claim, plan, event };
}
