import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { EventBlob } from "../../src/ports/store/records.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, anEvent, freshId } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";
import { anErasure } from "./store-erasures.ts";

const KEY = "frames/0a.jpg";
const PICTURE = new Uint8Array([0xff, 0xd8, 0, 1, 2, 0xff, 0xd9]);
const NONE = { count: 0, bytes: 0 };

/** A picture that an event names. */
export function aBlob(given: Partial<EventBlob> & Pick<EventBlob, "event">): EventBlob {
  return { key: KEY, mediaType: "image/jpeg", bytes: PICTURE, ...given };
}

/** Admits an event that names blobs. */
async function admitNaming(store: Store, userId: string, ...blobs: Partial<EventBlob>[]) {
  const event = anEvent({ userId });
  await store.admit(
    anAdmission([event], { blobs: blobs.map((blob) => aBlob({ event: event.id, ...blob })) }),
  );
  return event;
}

/** The erasure of an event of which no memory was made. */
function erasureOf(event: { readonly id: ReturnType<typeof freshId>; readonly userId: string }) {
  return anErasure([], { events: [event.id], userId: event.userId });
}

/** Blobs: whose they are, how long they stay. */
export function describeBlobs(world: StoreWorld): void {
  describe("a blob", () => {
    test("comes back byte for byte to its owner and to an operator, and to nobody else", async () => {
      const { store, place } = await world.fresh();
      await admitNaming(store, "ada", {});
      await admitNaming(store, "bob");
      const blob = { key: KEY, mediaType: "image/jpeg", bytes: PICTURE };
      for (const each of [store, await world.open(place)]) {
        expect(await each.blob(KEY, "ada")).toEqual(blob);
        expect(await each.blob(KEY, ALL_OWNERS)).toEqual(blob);
        expect(await each.blob(KEY, "bob")).toBeUndefined();
        expect(await each.blob(KEY, "nobody")).toBeUndefined();
        expect(await each.blob("frames/0b.jpg", "ada")).toBeUndefined();
      }
      expect(await store.blobTotals("ada")).toEqual({ count: 1, bytes: 7 });
      expect(await store.blobTotals("bob")).toEqual(NONE);
      expect(await store.blobTotals("nobody")).toEqual(NONE);
    });

    test("is stored once for each owner, however many events name it; the first stays", async () => {
      const { store } = await world.fresh();
      await admitNaming(store, "ada", {});
      await admitNaming(store, "ada", { bytes: new Uint8Array([9]), mediaType: "image/png" });
      await admitNaming(store, "bob", { bytes: new Uint8Array([1, 2]) });
      expect(await store.blob(KEY, "ada")).toMatchObject({ mediaType: "image/jpeg" });
      expect((await store.blob(KEY, "ada"))?.bytes).toEqual(PICTURE);
      expect((await store.blob(KEY, "bob"))?.bytes).toEqual(new Uint8Array([1, 2]));
      expect(await store.blobTotals(ALL_OWNERS)).toEqual({ count: 2, bytes: 9 });
    });

    test("is not there if its event is not", async () => {
      const { store } = await world.fresh();
      const guard = anAuditRecord();
      await store.admit(anAdmission([anEvent()], { auditRecords: [guard] }));
      const event = anEvent();
      const refused = anAdmission([event], {
        blobs: [aBlob({ event: event.id })],
        change: {
          reads: { nodeIds: [], auditRecordIds: [], eventIds: [] },
          decide: () => {
            throw new SvcError("invalid_argument", "not now");
          },
        },
      });
      expect(await store.admit(refused).catch(() => "refused")).toBe("refused");
      const later = anEvent();
      const repeated = anAdmission([later], { blobs: [aBlob({ event: later.id })] });
      expect(await store.admitOnce(repeated, guard.id)).toEqual(guard);
      const without = anEvent();
      await store.admit(anAdmission([without], { blobs: [aBlob({ event: freshId() })] }));
      expect(await store.blobTotals(ALL_OWNERS)).toEqual(NONE);
    });

    test("goes with the last event of its owner that names it", async () => {
      const { store } = await world.fresh();
      const first = await admitNaming(store, "ada", {}, { key: "frames/0b.jpg" });
      const second = await admitNaming(store, "ada", {});
      await admitNaming(store, "bob", {});
      expect((await store.reached(erasureOf(first))).blobs).toBe(1);
      await store.erase(erasureOf(first));
      expect(await store.blob("frames/0b.jpg", "ada")).toBeUndefined();
      expect((await store.blob(KEY, "ada"))?.bytes).toEqual(PICTURE);

      expect((await store.reached(erasureOf(second))).blobs).toBe(1);
      const record = await store.erase(erasureOf(second));
      expect(record.payload).toMatchObject({ blobs: 1 });
      expect(await store.blob(KEY, "ada")).toBeUndefined();
      expect((await store.blob(KEY, "bob"))?.bytes).toEqual(PICTURE);
      expect(await store.blobTotals(ALL_OWNERS)).toEqual({ count: 1, bytes: 7 });
    });

    test("goes once where several events that name it are erased together", async () => {
      const { store } = await world.fresh();
      const events = [await admitNaming(store, "ada", {}), await admitNaming(store, "ada", {})];
      const erasure = anErasure([], { events: events.map(({ id }) => id) });
      expect((await store.reached(erasure)).blobs).toBe(1);
      await store.erase(erasure);
      expect(await store.blobTotals(ALL_OWNERS)).toEqual(NONE);
    });

    test("moves with its owner, and joins those of another", async () => {
      const { store } = await world.fresh();
      const event = await admitNaming(store, "ada", {}, { key: "frames/0b.jpg" });
      const move = (from: string, into: string, isJoin: boolean) =>
        store.owners.move({
          ...{ from, into, isJoin, actorId: "test" },
          ...{ id: freshId(), settingId: freshId() },
        });
      await move("ada", "carl", false);
      expect(await store.blobTotals("ada")).toEqual(NONE);
      expect((await store.blob(KEY, "carl"))?.bytes).toEqual(PICTURE);
      await admitNaming(store, "bob", { bytes: new Uint8Array([5]) });
      await move("carl", "bob", true);
      expect(await store.blobTotals("carl")).toEqual(NONE);
      expect(await store.blobTotals("bob")).toEqual({ count: 2, bytes: 8 });
      expect((await store.blob(KEY, "bob"))?.bytes).toEqual(new Uint8Array([5]));
      await store.erase(erasureOf({ ...event, userId: "bob" }));
      expect(await store.blobTotals("bob")).toEqual({ count: 1, bytes: 1 });
    });
  });
}
