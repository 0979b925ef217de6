import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { ContextNode, ReceiptPage, StoredReceipt } from "../../src/ports/store/records.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, at, freshId, put } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

/** A receipt of `ada`; members that are given replace the usual ones. */
export function aReceipt(given: Partial<StoredReceipt> = {}): StoredReceipt {
  return {
    requestId: freshId(),
    userId: "ada",
    createdAt: at(0),
    body: new TextEncoder().encode('{"query":"where is the spare key?"}'),
    ...given,
  };
}

/** Stores a receipt, and what was in the context of its answer. */
export async function saveShown(
  store: Store,
  receipt: StoredReceipt,
  context: readonly ContextNode[],
): Promise<void> {
  await store.saveReceipt(receipt);
  await store.noteContexts([{ ...receipt, context }]);
}

const placeOf = ({ createdAt, requestId }: StoredReceipt): string => `${createdAt} ${requestId}`;
const byPlace = (a: StoredReceipt, b: StoredReceipt): number => (placeOf(a) < placeOf(b) ? -1 : 1);

/** Records of retrievals, and the operations that are listed. */
export function describeReceipts(world: StoreWorld): void {
  describe("a receipt", () => {
    test("is read back byte for byte, by its owner and by whoever names no owner", async () => {
      const { store } = await world.fresh();
      const kept = aReceipt({ createdAt: at(5) });
      await store.saveReceipt(kept);

      expect(await store.receipt(kept.requestId, "ada")).toEqual(kept);
      expect(await store.receipt(kept.requestId, ALL_OWNERS)).toEqual(kept);
      expect(await store.receipt(kept.requestId, "bob")).toBeUndefined();
      expect(await store.receipt(freshId(), "ada")).toBeUndefined();
    });

    test("may have any bytes", async () => {
      const { store } = await world.fresh();
      const bodies = fc.oneof(
        fc.uint8Array({ maxLength: 2000 }),
        fc.string({ maxLength: 5000 }).map((text) => new TextEncoder().encode(text.repeat(20))),
        fc.uint8Array().map((tail) => new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, ...tail])),
      );
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const kept = aReceipt({ body });
          await store.saveReceipt(kept);
          expect(await store.receipt(kept.requestId, "ada")).toEqual(kept);
        }),
        { numRuns: 60 },
      );
    });

    test("is found by the memories in its context, newest first, by its owner alone", async () => {
      const { store } = await world.fresh();
      const [tea, cup] = await put(store, {}, {});
      if (!(tea && cup)) throw new Error("memories were stored");
      const as = (rank: number) => ({ rank, representation: rank === 2 ? "reference" : "full" });
      const shown = (nodeId: Uuid, rank: number) => ({ nodeId, ...as(rank) });
      const receipts = [1, 3, 3].map((second) => aReceipt({ createdAt: at(second) }));
      for (const [index, receipt] of receipts.entries()) {
        await saveShown(store, receipt, [shown(tea.id, index + 1), shown(freshId(), 9)]);
      }
      await saveShown(store, aReceipt({ userId: "bob", createdAt: at(4) }), [shown(tea.id, 1)]);
      await store.saveReceipt(aReceipt({ createdAt: at(5) }));
      const newest = receipts
        .map((receipt, index) => ({ receipt, ...as(index + 1) }))
        .toSorted((a, b) => byPlace(b.receipt, a.receipt));
      const read = (given: Partial<Parameters<typeof store.usesOf>[0]> = {}) =>
        store.usesOf({ userId: "ada", nodeId: tea.id, limit: 9, ...given });

      expect(await read()).toEqual({ items: newest, hasMore: false });
      expect(await read({ limit: 2 })).toEqual({ items: newest.slice(0, 2), hasMore: true });
      const second = newest[1]?.receipt;
      const before = second && { at: second.createdAt, id: second.requestId };
      expect(await read({ before })).toEqual({ items: newest.slice(2), hasMore: false });
      expect(await read({ nodeId: cup.id })).toEqual({ items: [], hasMore: false });
      expect((await read({ userId: "bob" })).items).toHaveLength(1);
      expect(await read({ userId: "eve" })).toEqual({ items: [], hasMore: false });
      expect(await store.pruneReceipts(at(3), 9)).toBe(1);
      expect(await read()).toEqual({ items: newest.slice(0, 2), hasMore: false });
    });

    test("goes to another owner with what its context tells", async () => {
      const { store } = await world.fresh();
      const [tea] = await put(store, {});
      if (tea === undefined) throw new Error("a memory was stored");
      const receipt = aReceipt();
      await saveShown(store, receipt, [{ nodeId: tea.id, rank: 2, representation: "full" }]);
      const ids = { id: freshId(), settingId: freshId(), actorId: "test" };
      await store.owners.move({ from: "ada", into: "bob", isJoin: false, ...ids });

      const of = async (userId: string) =>
        (await store.usesOf({ userId, nodeId: tea.id, limit: 9 })).items;
      expect([await of("ada"), await of("bob")]).toEqual([
        [],
        [{ rank: 2, representation: "full", receipt: { ...receipt, userId: "bob" } }],
      ]);
    });

    test("of a request that has one already is left as it is", async () => {
      const { store } = await world.fresh();
      const first = aReceipt();
      const second = { ...first, userId: "bob", createdAt: at(9), body: new Uint8Array([1]) };

      await Promise.all([store.saveReceipt(first), store.saveReceipt(second)]);
      await store.saveReceipt(second);

      expect(await store.receipt(first.requestId, ALL_OWNERS)).toEqual(first);
    });

    test("outlives the store and is seen by others at once", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const kept = aReceipt();
      await store.saveReceipt(kept);
      expect(await other.receipt(kept.requestId, "ada")).toEqual(kept);
      await store.close();
      await other.close();

      const again = await world.open(place);

      expect(await again.receipt(kept.requestId, "ada")).toEqual(kept);
    });

    test("is listed newest first, page after page, within a period, for its owner alone", async () => {
      const { store } = await world.fresh();
      const seconds = [30, 10, 20, 20, 40];
      const kept = seconds.map((second) =>
        aReceipt({ createdAt: at(second), body: new Uint8Array([second]) }),
      );
      const bobs = aReceipt({ createdAt: at(25), userId: "bob" });
      for (const receipt of [bobs, ...kept]) await store.saveReceipt(receipt);
      const wanted = [4, 0, 3, 2, 1].flatMap((index) => kept[index] ?? []);
      const list = (given: Partial<ReceiptPage> = {}) =>
        store.receipts({ userId: "ada", limit: 9, ...given });
      const after = ({ createdAt, requestId }: StoredReceipt) => ({ at: createdAt, id: requestId });

      expect(await list()).toEqual(wanted);
      expect(await list({ limit: 2 })).toEqual(wanted.slice(0, 2));
      for (const [index, receipt] of wanted.entries()) {
        expect(await list({ before: after(receipt) })).toEqual(wanted.slice(index + 1));
      }
      expect(await list({ before: after(bobs) })).toEqual(wanted.slice(2));
      expect(await list({ timeFrom: at(20), timeTo: at(40) })).toEqual(wanted.slice(1, 4));
      const page = { timeFrom: at(20), before: after(wanted[1]!), limit: 1 };
      expect(await list(page)).toEqual(wanted.slice(2, 3));
      const ends = [
        [20, 1, 4],
        [20, 2, 4],
        [40, 1, 2],
      ] as const;
      for (const [second, last, from] of ends) {
        const end = { timeTo: at(second), before: after(wanted[last]!) };
        expect(await list(end)).toEqual(wanted.slice(from));
      }
      expect(await list({ timeTo: at(10) })).toEqual([]);
      expect(await list({ userId: "bob" })).toEqual([bobs]);
      expect(await list({ userId: "eve" })).toEqual([]);
    });

    test("is removed once it is old, the oldest first and so many at a time", async () => {
      const { store } = await world.fresh();
      const ages = [30, 10, 50, 20, 40];
      const receipts = ages.map((second) =>
        aReceipt({ createdAt: at(second), userId: second === 20 ? "bob" : "ada" }),
      );
      for (const receipt of receipts) await store.saveReceipt(receipt);
      const left = async () => {
        const found = await Promise.all(
          receipts.map(({ requestId }) => store.receipt(requestId, ALL_OWNERS)),
        );
        return ages.filter((_, i) => found[i] !== undefined).sort();
      };

      expect(await store.pruneReceipts(at(10), 9)).toBe(0);
      expect(await store.pruneReceipts(at(40), 0)).toBe(0);
      expect(await store.pruneReceipts(at(40), 2)).toBe(2);
      expect(await left()).toEqual([30, 40, 50]);
      expect(await store.pruneReceipts(at(40), 2)).toBe(1);
      expect(await left()).toEqual([40, 50]);
      expect(await store.pruneReceipts(at(999), 100)).toBe(2);
      expect(await left()).toEqual([]);
    });
  });

  describe("operations", () => {
    test("are listed by kind and owner, by target, page after page", async () => {
      const { store } = await world.fresh();
      const targets = Array.from({ length: 5 }, () => freshId());
      // Their own ids are in the opposite order.
      const cited = targets
        .toReversed()
        .map((targetId) =>
          anAuditRecord({ opType: "ANSWER_CITATIONS_RECORDED", namespaceId: "ada", targetId }),
        )
        .toReversed();
      const direct = anAuditRecord({ opType: "DIRECT_STORE_REQUESTED", namespaceId: "ada" });
      const others = [
        anAuditRecord({ opType: "RELEVANCE_RECORDED", namespaceId: "ada" }),
        anAuditRecord({ opType: "ANSWER_CITATIONS_RECORDED", namespaceId: "bob" }),
        anAuditRecord({ opType: "ANSWER_CITATIONS_RECORDED", namespaceId: undefined }),
      ];
      const operations = [...cited.toReversed(), direct, ...others];
      await store.admit(anAdmission([], { auditRecords: operations }));
      const read = (afterTargetId: string | undefined, limit: number, given = {}) =>
        store.auditRecordsOf({
          opType: "ANSWER_CITATIONS_RECORDED",
          userId: "ada",
          afterTargetId,
          limit,
          ...given,
        });

      expect(await read(undefined, 9)).toEqual({ items: cited, hasMore: false });
      expect(await read(undefined, 5)).toEqual({ items: cited, hasMore: false });
      expect(await read(undefined, 2)).toEqual({ items: cited.slice(0, 2), hasMore: true });
      expect(await read(targets[1], 2)).toEqual({ items: cited.slice(2, 4), hasMore: true });
      expect(await read(targets[4], 2)).toEqual({ items: [], hasMore: false });
      expect((await read(undefined, 9, { opType: direct.opType })).items).toEqual([direct]);
      expect((await read(undefined, 9, { userId: "eve" })).items).toEqual([]);
    });

    test("are found by their id", async () => {
      const { store } = await world.fresh();
      const operation = anAuditRecord({ payload: { nested: { list: [1, null, "ü"] } } });
      await store.admit(anAdmission([], { auditRecords: [operation] }));

      expect(await store.auditRecord(operation.id, ALL_OWNERS)).toEqual(operation);
      expect(await store.auditRecord(freshId(), ALL_OWNERS)).toBeUndefined();
    });
  });
}
