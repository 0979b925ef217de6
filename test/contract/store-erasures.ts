import { describe, expect, test } from "bun:test";
import { ERASED_HASH, erasedBy, erasedPayload, FORGOTTEN } from "../../src/domain/erasure.ts";
import { isTakenOver } from "../../src/domain/jobs.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Erasure } from "../../src/ports/store/events.ts";
import type { Store } from "../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  aPlan,
  at,
  freshId,
  put,
  unit,
} from "./samples.ts";
import { anEdge, retire, write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { aReceipt } from "./store-receipts.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

const SECRET = "The vault opens with marmalade.";

/** An erasure of memories with the events that they rest on. */
export function anErasure(
  nodes: readonly MemoryNode[],
  given: Partial<Erasure> = {},
): Erasure & { readonly forgetId: Uuid } {
  const forgetId = given.forgetId ?? freshId();
  return {
    forgetId,
    userId: "ada",
    actorId: "ada",
    at: at(100),
    events: [...new Set(nodes.flatMap(({ evidenceRefs }) => evidenceRefs))],
    nodes: nodes.map(({ id }) => id),
    kept: [],
    texts: nodes.map(({ content }) => content),
    isTold: (body) => new TextDecoder().decode(body).includes("marmalade"),
    recordOf: (counts) =>
      anAuditRecord({
        id: forgetId,
        opType: FORGOTTEN,
        namespaceId: "ada",
        targetId: forgetId,
        payload: { ...counts },
        createdAt: at(100),
      }),
    ...given,
  };
}

async function found(store: Store, question: string): Promise<readonly string[]> {
  const hits = await store.searchText(question, { ...ANYTHING, userId: "ada" }, 100);
  return contentsOf(store, hits, "ada");
}

/** A memory with a vector among two turns of its conversation. */
async function conversation(store: Store): Promise<readonly [MemoryNode, MemoryNode, MemoryNode]> {
  const [before, secret, after] = await put(
    store,
    { content: "How does the vault open?", sessionId: "s", second: 1, vector: unit(1, 0) },
    { content: SECRET, sessionId: "s", second: 2, vector: unit(0, 1) },
    { content: "Thanks.", sessionId: "s", second: 3, vector: unit(1, 1) },
  );
  if (before === undefined || secret === undefined || after === undefined) throw new Error("three");
  return [before, secret, after];
}

/** The erasure of content: what is gone, and what stays. */
export function describeErasures(world: StoreWorld): void {
  describe("an erasure", () => {
    test("leaves the event as a tombstone in its place, and no memory", async () => {
      const { store } = await world.fresh();
      const [before, secret, after] = await conversation(store);
      const [eventId] = secret.evidenceRefs;
      const erasure = anErasure([secret]);
      await store.erase(erasure);

      const tombstone = await store.event(eventId ?? freshId(), "ada");
      expect(tombstone).toEqual({
        ...anEvent({ content: "", sessionId: "s", timestamp: at(2) }),
        id: eventId ?? freshId(),
        contentHash: ERASED_HASH,
        metadata: { erased: erasure.forgetId, erased_at: at(100) },
      });
      expect(await store.node(secret.id, "ada")).toBeUndefined();
      expect(await store.countEvents("ada")).toBe(2);
      expect(await store.countNodes("ada")).toBe(2);
      expect((await store.node(before.id, "ada"))?.content).toBe(before.content);
      expect((await store.node(after.id, "ada"))?.content).toBe(after.content);
    });

    test("leaves nothing in either index, nor in what is indexed for the turns around", async () => {
      const { store } = await world.fresh();
      const [before, secret, after] = await conversation(store);
      expect(await found(store, "marmalade")).toContain(secret.content);
      await store.erase(anErasure([secret]));

      expect(await found(store, "marmalade")).toEqual([]);
      const near = await store.searchVectors(unit(0, 1), { ...ANYTHING, userId: "ada" }, 10);
      expect(new Set(await contentsOf(store, near, "ada"))).toEqual(
        new Set([before.content, after.content]),
      );
      // As if it had never been said.
      const { store: other } = await world.fresh();
      await put(
        other,
        { content: before.content, sessionId: "s", second: 1, vector: unit(1, 0) },
        { content: after.content, sessionId: "s", second: 3, vector: unit(1, 1) },
      );
      const without = await other.searchVectors(unit(0, 1), { ...ANYTHING, userId: "ada" }, 10);
      expect(near.map(({ score }) => score)).toEqual(without.map(({ score }) => score));
    });

    test.each([{}, { sessionId: "s" }])(
      "takes the vector along that a retired memory keeps of its own text: %j",
      async (given) => {
        const { store } = await world.fresh();
        const [old, next] = await put(
          store,
          { content: "old tea", vector: unit(1), userId: "eve", ...given },
          { content: "new tea", vector: unit(3, 1), userId: "eve", ...given },
        );
        if (old === undefined || next === undefined) throw new Error("nothing was written");
        // In the order of the keys: the port promises none.
        const kept = async () =>
          [...(await store.keptEntries("eve", [old.id, next.id, freshId()])).values()].sort(
            (one, other) => one.key - other.key,
          );
        const before = await kept();
        const cosine = before[0]?.vector?.reduce((sum, x, at) => sum + x * (unit(1)[at] ?? 0), 0);
        expect(cosine).toBeCloseTo(1, 3);

        await retire(store, "archived", old);

        expect(await kept()).toEqual(before);
        expect(await store.keptEntries("bob", [old.id])).toEqual(new Map());
        await store.erase(anErasure([old], { userId: "eve" }));
        expect((await kept()).map(({ vector }) => vector)).toEqual([before[1]?.vector]);
      },
    );

    test("empties the operations that keep any of it, and leaves the others as they are", async () => {
      const { store } = await world.fresh();
      const event = anEvent({ content: SECRET });
      const node = aNode(event);
      const other = anEvent({ content: "Ada has a cat." });
      const own = anAuditRecord({ opType: "PIN", targetId: node.id, payload: { why: "none" } });
      const batch = anAuditRecord({
        targetId: freshId(),
        payload: { event_ids: [event.id, other.id], input_sha256: sha256Hex("both") },
      });
      const telling = anAuditRecord({
        opType: "MEMORIES_MERGED",
        targetId: other.id,
        payload: { record: JSON.stringify({ before: { id: node.id, content: SECRET } }) },
      });
      const naming = anAuditRecord({
        opType: "REINFORCE",
        targetId: other.id,
        payload: { evidence_id: event.id },
      });
      await store.admit(
        anAdmission([event, other], {
          plans: [aPlan(event, node)],
          auditRecords: [own, batch, telling, naming],
        }),
      );
      await store.materialize([aMaterialization(event, node)]);
      const counts = await store.reached(anErasure([node]));
      const erasure = anErasure([node]);
      const record = await store.erase(erasure);

      expect(counts).toMatchObject({ operations: 4, textEntries: 1, edges: 0 });
      expect(record.payload).toEqual({ ...counts });
      for (const { id } of [own, batch, telling]) {
        const kept = await store.auditRecord(id, ALL_OWNERS);
        expect(kept?.payload).toEqual(erasedPayload(erasure.forgetId));
      }
      expect(await store.auditRecord(naming.id, ALL_OWNERS)).toEqual(naming);
      const plans = await store.auditRecordsOn({ targetId: event.id, after: undefined, limit: 10 });
      expect(plans.items.map(({ payload }) => erasedBy(payload))).toEqual([erasure.forgetId]);
    });

    test("takes edges and the receipts that tell of it along", async () => {
      const { store } = await world.fresh();
      const [before, secret, after] = await conversation(store);
      const stays = anEdge(before, after);
      await write(store, { edges: [anEdge(secret, before), stays] });
      const told = aReceipt({ body: new TextEncoder().encode("is it marmalade?") });
      const untold = aReceipt();
      const foreign = aReceipt({ userId: "bob", body: told.body });
      for (const receipt of [told, untold, foreign]) await store.saveReceipt(receipt);
      await store.erase(anErasure([secret]));

      expect(await store.edgesAt(before.id)).toEqual([stays]);
      expect(await store.receipt(told.requestId, "ada")).toBeUndefined();
      expect(await store.receipt(untold.requestId, "ada")).toEqual(untold);
      expect(await store.receipt(foreign.requestId, "bob")).toEqual(foreign);
    });

    test("keeps what was made of it before from being written after it", async () => {
      const { store } = await world.fresh();
      const [, secret, stays] = await conversation(store);
      const event = anEvent({ sessionId: "s" });
      await store.admit(anAdmission([event], { extracts: true, leaseJobs: false }));
      const claim = await store.claimExtraction({ owner: "ada", isDueOnly: false }, 60);
      await store.erase(anErasure([secret]));
      const about = anAuditRecord({ targetId: event.id, payload: { events: [secret.id] } });

      const [before, now] = [await store.forgettings("bob"), await store.forgettings("ada")];
      expect([before, now]).toEqual([0, 1]);
      const asked = aReceipt();
      expect(await store.saveReceipt(asked, now - 1)).toBe(false);
      expect(await store.receipt(asked.requestId, "ada")).toBeUndefined();
      expect(await store.saveReceipt(asked, now)).toBe(true);
      const bobs = aReceipt({ userId: "bob" });
      expect(await store.saveReceipt(bobs, before)).toBe(true);
      const refusal = new Error("forgotten");
      const citing = (node: MemoryNode) => ({
        ...anAdmission([], { auditRecords: [anAuditRecord()] }),
        named: { userId: "ada", ids: [node.id], refusal },
      });
      await expect(store.admitOnce(citing(secret), freshId())).rejects.toBe(refusal);
      expect(await store.admitOnce(citing(stays), freshId())).toBeUndefined();
      if (claim === undefined) throw new Error("no claim");
      expect(await store.saveExtractions(claim, [about]).catch(isTakenOver)).toBe(true);
      expect(await store.auditRecord(about.id, ALL_OWNERS)).toBeUndefined();
    });

    test("is done once: the same again changes nothing and gives the first record", async () => {
      const { store } = await world.fresh();
      const [, secret] = await conversation(store);
      const erasure = anErasure([secret]);
      const first = await store.erase(erasure);

      expect(await store.erase(erasure)).toEqual(first);
      expect(store.erase(anErasure([secret]))).rejects.toMatchObject({ code: "request_conflict" });
    });

    test("is refused for another owner's, and when more rests on the event than was named", async () => {
      const { store } = await world.fresh();
      const [, secret] = await conversation(store);
      const [foreign] = await put(store, { userId: "bob", content: SECRET });
      const [eventId = freshId()] = secret.evidenceRefs;
      const second = aNode(anEvent({ id: eventId, sessionId: "s" }), { content: "marmalade" });
      await store.addNodes([{ node: second, vector: unit(1), at: at(4) }]);
      if (foreign === undefined) throw new Error("no memory");
      const refused = { code: "request_conflict" };

      await expect(store.erase(anErasure([foreign]))).rejects.toMatchObject(refused);
      await expect(store.erase(anErasure([secret]))).rejects.toMatchObject(refused);
      expect((await store.event(eventId, "ada"))?.content).toBe(SECRET);
      await store.erase(anErasure([secret], { kept: [second.id] }));
      expect((await store.node(second.id, "ada"))?.content).toBe("marmalade");
      const resting = await store.restingOn("ada", [eventId]);
      expect(resting.map(({ id }) => id)).toEqual([second.id]);
      expect((await store.node(foreign.id, "bob"))?.content).toBe(SECRET);
    });

    test("ends work on the event: what a worker made of it meanwhile is not written", async () => {
      const { store } = await world.fresh();
      const event = anEvent({ content: SECRET });
      await store.admit(anAdmission([event], { leaseJobs: false }));
      const [job] = await store.claimJobs("ada", 1);
      const node = aNode(event);
      await store.erase(anErasure([], { events: [event.id], nodes: [], texts: [SECRET] }));
      await store.materialize([
        aMaterialization(event, node, {
          generation: job?.generation,
          vector: unit(1),
        }),
      ]);

      expect(await store.node(node.id, "ada")).toBeUndefined();
      expect(await store.countJobs("ada")).toEqual({ pending: 0, failed: 0 });
      expect(await store.claimJobs("ada", 10)).toEqual([]);
    });

    test("keeps a memory that was forgotten from being written again under its id", async () => {
      const { store } = await world.fresh();
      const [, secret] = await conversation(store);
      await store.erase(anErasure([secret]));
      await store.addNodes([{ node: secret, vector: unit(0, 1), at: at(200) }]);

      expect(await store.node(secret.id, "ada")).toBeUndefined();
      expect(await found(store, "marmalade")).toEqual([]);
    });

    test("gives the place of a memory to no other one", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [, , last] = await conversation(store);
      const ask = () => other.searchVectors(unit(1, 1), { ...ANYTHING, userId: "ada" }, 10);
      await ask();
      await ask();
      await store.erase(anErasure([last]));
      const [bobs] = await put(store, { userId: "bob", content: "Bob's own.", vector: unit(1, 1) });

      const contents = await contentsOf(other, await ask(), "ada");
      expect(contents).toHaveLength(2);
      expect(contents).not.toContain(bobs?.content ?? "");
    });

    test("is settled afterwards, and its stage says so", async () => {
      const { store } = await world.fresh();
      const [before, secret] = await conversation(store);
      const erasure = anErasure([secret]);
      expect(await store.hasUnsettledErasures()).toBe(false);
      await store.erase(erasure);
      expect(await store.hasUnsettledErasures()).toBe(true);
      expect(await store.erasureStage(erasure.forgetId)).toBe("logical");

      expect(await store.settleErasures(5000)).toBe(true);
      expect(await store.hasUnsettledErasures()).toBe(false);
      expect(await store.erasureStage(erasure.forgetId)).toBe("physical");
      const scan = await store.scan(["marmalade", "How does the vault open?"], "ada");
      if (scan !== undefined) {
        expect(scan.pages?.found).toEqual([1]);
        expect([...scan.held]).toEqual([1]);
        expect(scan.heldBy).toContain(before.id);
      }
      expect(await found(store, "vault")).toContain(before.content);
    });

    test("is not looked for in what others have: one owner's scan does not tell of them", async () => {
      const { store } = await world.fresh();
      const [, secret] = await conversation(store);
      const [bobs] = await put(store, { userId: "bob", content: SECRET });
      await store.erase(anErasure([secret]));
      await store.settleErasures(5000);
      const texts = ["marmalade", "MARMALADE", "bob", "How does the vault open?"];
      const own = await store.scan(texts, "ada");
      if (own === undefined) return;
      expect(own.pages).toBeUndefined();
      expect([...own.held]).toEqual([3]);
      expect(own.heldBy).not.toContain(bobs?.id ?? "");
      const all = await store.scan(texts, ALL_OWNERS);
      expect(all?.pages?.found).toContain(0);
      expect(all?.heldBy).toContain(bobs?.id ?? "");
    });

    test("has one signing key", async () => {
      const { store } = await world.fresh();
      expect(await store.signingKey("first")).toBe("first");
      expect(await store.signingKey("second")).toBe("first");
    });
  });
}
