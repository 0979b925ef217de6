import { expect, test } from "bun:test";
import { asUuid, type Uuid } from "../../src/lib/uuid.ts";
import { anAdmission, anAuditRecord, at, freshId } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";
import { LARGE } from "./store-graph-reads.ts";

/** Pages of operations. */
export function describeAuditReads(world: StoreWorld): void {
  const large = Array.from({ length: 5 }, (_, second) => ({ content: LARGE, second }));

  test("operations on a target come by time, then id, page after page", async () => {
    const { store } = await world.fresh();
    const targetId = freshId();
    const seconds = [5, 1, 3, 3, 3, 1, 0.000_001];
    const operations = seconds.map((second) =>
      anAuditRecord({
        id: asUuid(crypto.randomUUID()),
        targetId,
        createdAt: at(second),
        payload: { second },
      }),
    );
    const others = [anAuditRecord({ createdAt: at(2) }), anAuditRecord({ targetId: freshId() })];
    await store.admit(anAdmission([], { auditRecords: [...operations, ...others] }));
    const expected = operations.toSorted((a, b) =>
      `${a.createdAt}${a.id}` < `${b.createdAt}${b.id}` ? -1 : 1,
    );

    for (let limit = 1; limit <= seconds.length + 1; limit += 1) {
      const found: typeof operations = [];
      for (let hasMore = true; hasMore; ) {
        const page = await store.auditRecordsOn({ targetId, after: found.at(-1), limit });
        found.push(...page.items);
        expect(page.hasMore).toBe(found.length < expected.length);
        hasMore = page.hasMore;
      }
      expect(found).toEqual(expected);
    }
    expect(await store.auditRecordsOn({ targetId: freshId(), after: undefined, limit: 9 })).toEqual(
      {
        items: [],
        hasMore: false,
      },
    );
  });

  test("pages of operations end at eight Mi characters", async () => {
    const { store } = await world.fresh();
    const targetId = freshId();
    const operations = large.map(({ content, second }) =>
      anAuditRecord({ targetId, payload: { content }, createdAt: at(second) }),
    );
    await store.admit(anAdmission([], { auditRecords: operations }));

    const first = await store.auditRecordsOn({ targetId, after: undefined, limit: 1000 });
    const third = await store.auditRecordsOn({ targetId, after: operations[3], limit: 1000 });

    expect(first).toEqual({ items: operations.slice(0, 2), hasMore: true });
    expect(third).toEqual({ items: operations.slice(4), hasMore: false });

    const listed = large.map(({ content }) =>
      anAuditRecord({
        opType: "NOTED",
        namespaceId: "ada",
        targetId: freshId(),
        payload: { content },
      }),
    );
    await store.admit(anAdmission([], { auditRecords: listed }));
    const query = { opType: "NOTED", userId: "ada", limit: 1000 };
    expect(await store.auditRecordsOf({ ...query, afterTargetId: undefined })).toEqual({
      items: listed.slice(0, 2),
      hasMore: true,
    });
    expect(await store.auditRecordsOf({ ...query, afterTargetId: listed[3]?.targetId })).toEqual({
      items: listed.slice(4),
      hasMore: false,
    });
  });

  test("operations of one kind are listed by what their payloads mention", async () => {
    const { store } = await world.fresh();
    const [tea, cup] = [freshId(), freshId()];
    const listed = [{ cited: [tea] }, { cited: [cup, tea] }, { cited: [cup] }, {}].map((payload) =>
      anAuditRecord({ opType: "NOTED", namespaceId: "ada", targetId: freshId(), payload }),
    );
    await store.admit(anAdmission([], { auditRecords: listed }));
    const query = { opType: "NOTED", userId: "ada", afterTargetId: undefined, limit: 9 };
    const namesOf = async (mentions: Uuid | undefined) =>
      (await store.auditRecordsOf({ ...query, mentions })).items.map(({ id }) => id).toSorted();
    const idsOf = (...places: readonly number[]) =>
      places.flatMap((place) => listed[place]?.id ?? []).toSorted();

    expect(await namesOf(tea)).toEqual(idsOf(0, 1));
    expect(await namesOf(cup)).toEqual(idsOf(1, 2));
    expect(await namesOf(freshId())).toEqual([]);
    expect(await namesOf(undefined)).toEqual(idsOf(0, 1, 2, 3));
  });
}
