import { describe, expect, test } from "bun:test";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, anEvent, at, freshId, put, unit } from "./samples.ts";
import { retire, write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { anErasure } from "./store-erasures.ts";
import { LARGE } from "./store-graph-reads.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

/** What has happened: events by time, conversations, and the state of the whole. */
export function describeActivity({ fresh, open }: StoreWorld): void {
  describe("activity", () => {
    test("events are read by time and id in both directions, page by page", async () => {
      const { store } = await fresh();
      const [early, late, tied, foreign, silent] = [
        anEvent({ sessionId: "talk", timestamp: at(1) }),
        anEvent({ sessionId: "talk", timestamp: at(2), scope: "project" }),
        anEvent({ sessionId: "talk", timestamp: at(2) }),
        anEvent({ sessionId: "talk", timestamp: at(3), userId: "bob" }),
        anEvent({ timestamp: at(4) }),
      ];
      await store.admit(anAdmission([late, silent, early, foreign, tied]));
      const read = async (given: Partial<Parameters<Store["eventsByTime"]>[0]>) => {
        const page = await store.eventsByTime({
          ...{ userId: "ada", oldestFirst: false, limit: 9 },
          ...given,
        });
        return [page.items, page.hasMore] as const;
      };
      const both = [late, tied].sort((a, b) => (a.id < b.id ? -1 : 1));

      expect(await read({})).toEqual([[silent, ...both.toReversed(), early], false]);
      expect(await read({ sessionId: "talk", oldestFirst: true })).toEqual([
        [early, ...both],
        false,
      ]);
      expect(await read({ scopes: ["project"] })).toEqual([[late], false]);
      expect(await read({ scopes: [] })).toEqual([[], false]);
      const first = await read({ oldestFirst: true, limit: 2 });
      expect(first).toEqual([[early, ...both.slice(0, 1)], true]);
      const after = { at: at(2), id: first[0].at(-1)?.id ?? freshId() };
      expect(await read({ oldestFirst: true, after })).toEqual([[...both.slice(1), silent], false]);
      expect(await read({ after })).toEqual([[early], false]);
      expect(await read({ userId: "eve" })).toEqual([[], false]);
    });

    test("sessions, owners and words of any length are kept, and found again", async () => {
      const { store } = await fresh();
      const word = (length: number): string => {
        let text = "";
        for (let part = 0; text.length < length; part += 1) text += sha256Hex(`${length} ${part}`);
        return text;
      };
      const long = word(20_000);
      const [sessionId, userId] = [`${long}a`, `${long}b`];
      const [own, other] = await put(
        store,
        { sessionId, userId, content: `tea ${word(9000)}` },
        { sessionId: `${long}c`, userId, second: 1, content: "coffee" },
      );

      const events = await store.events({ userId, sessionId, limit: 9, offset: 0 });
      expect(events.map(({ content }) => content)).toEqual([own?.content ?? ""]);
      const walk = { userId, sessionId, oldestFirst: true, limit: 9 };
      expect((await store.eventsByTime(walk)).items).toEqual(events);
      const { items } = await store.sessions({ userId, limit: 9 });
      expect(items.map((session) => session.sessionId)).toEqual([`${long}c`, sessionId]);
      expect(
        await contentsOf(store, await store.searchText("tea", { ...ANYTHING, userId }, 9), userId),
      ).toEqual([own?.content ?? ""]);
      expect(other?.sessionId).toBe(`${long}c`);
    });

    test("a page of events ends early at its bound, and says that there are more", async () => {
      const { store } = await fresh();
      const events = [1, 2, 3].map((second) => anEvent({ content: LARGE, timestamp: at(second) }));
      await store.admit(anAdmission(events));
      const page = await store.eventsByTime({ userId: "ada", oldestFirst: true, limit: 9 });

      expect(page.items.length).toBeLessThan(3);
      expect(page.items.length).toBeGreaterThan(0);
      expect(page.hasMore).toBe(true);
    });

    test("changes of an owner's memories are listed newest first, stores and foreign targets left out", async () => {
      const { store } = await fresh();
      const [tea, cup, foreign] = await put(store, {}, {}, { userId: "bob" });
      if (!(tea && cup && foreign)) throw new Error("memories were stored");
      const record = (targetId: string, second: number, given: object = {}) =>
        anAuditRecord({ opType: "PIN", targetId, createdAt: at(second), ...given });
      const mine = [
        record(tea.id, 1),
        record(cup.id, 3, { opType: "REINFORCE", actorId: "carl" }),
        record(tea.id, 3),
        record(tea.id, 5, { opType: "LIFECYCLE_CHANGED" }),
      ];
      const untold = [
        "DIRECT_STORE_REQUESTED",
        "FAST_INGEST_BATCH",
        "ANSWER_CITATIONS_RECORDED",
        "PAIR_CHANGE_REQUESTED",
      ].map((opType) => record(tea.id, 2, { opType }));
      const auditRecords = [...mine, ...untold, record("target", 2), record(freshId(), 2)];
      await write(store, { nodes: [tea, cup], auditRecords });
      await write(store, { nodes: [foreign], auditRecords: [record(foreign.id, 4)] });
      const read = async (given: Partial<Parameters<Store["changesOf"]>[0]> = {}) => {
        const page = await store.changesOf({ userId: "ada", limit: 9, ...given });
        return [page.items, page.hasMore] as const;
      };
      const newest = mine.toSorted((a, b) =>
        `${a.createdAt}${a.id}` < `${b.createdAt}${b.id}` ? 1 : -1,
      );

      expect(await read()).toEqual([newest, false]);
      expect(await read({ opTypes: ["REINFORCE", "x"] })).toEqual([mine.slice(1, 2), false]);
      expect(await read({ opTypes: [] })).toEqual([[], false]);
      expect(await read({ actorId: "carl" })).toEqual([mine.slice(1, 2), false]);
      expect(await read({ timeFrom: at(3), timeTo: at(5) })).toEqual([newest.slice(1, 3), false]);
      expect(await read({ limit: 2 })).toEqual([newest.slice(0, 2), true]);
      const [, second] = newest;
      const before = second && { at: second.createdAt, id: second.id };
      expect(await read({ before })).toEqual([newest.slice(2), false]);
      expect((await read({ userId: "bob" }))[0]).toHaveLength(1);
      expect(await read({ userId: "eve" })).toEqual([[], false]);
    });

    test("changes go with the memories that are given to another owner", async () => {
      const { store } = await fresh();
      const [tea, cup] = await put(store, {}, { userId: "bob" });
      if (!(tea && cup)) throw new Error("memories were stored");
      const pin = anAuditRecord({ opType: "PIN", targetId: tea.id, createdAt: at(1) });
      await write(store, { nodes: [tea], auditRecords: [pin] });
      const ids = { id: freshId(), settingId: freshId(), actorId: "test" };
      await store.owners.move({ from: "ada", into: "bob", isJoin: true, ...ids });

      const of = async (userId: string) => (await store.changesOf({ userId, limit: 9 })).items;
      expect([await of("ada"), await of("bob")]).toEqual([[], [pin]]);
    });

    test("what became of memories is read once, in the order of the commits, from any place on", async () => {
      const { store } = await fresh();
      const [tea, cup, pot] = await put(store, {}, {}, { lifecycleState: "superseded" });
      const [foreign] = await put(store, { userId: "bob" });
      if (!(tea && cup && pot && foreign)) throw new Error("memories were stored");
      await retire(store, "archived", cup);
      await write(store, { nodes: [{ ...tea, salience: 0.9 }] });
      const back = { ...cup, lifecycleState: "stable" } as const;
      await write(store, { nodes: [back], added: [{ node: back, vector: unit(1), at: at(9) }] });
      await store.erase(anErasure([tea]));
      const read = async (after: number | undefined, limit = 9, userId = "ada") => {
        const page = await store.changesAfter({ userId, after, limit });
        const told = page.items.map(({ place, nodeId, was, state, node }) => {
          return [place, nodeId, was, state, node?.lifecycleState];
        });
        return [told, page.hasMore, page.newest] as readonly unknown[];
      };
      const all: unknown[] = [
        [1, tea.id, undefined, "tentative", undefined],
        [2, cup.id, undefined, "tentative", "stable"],
        [3, pot.id, undefined, "superseded", "superseded"],
        [4, cup.id, "tentative", "archived", "stable"],
        [5, cup.id, "archived", "stable", "stable"],
        [6, tea.id, undefined, undefined, undefined],
      ];
      expect(await read(0)).toEqual([all, false, 6]);
      expect(await read(0, 2)).toEqual([all.slice(0, 2), true, 6]);
      expect(await read(4)).toEqual([all.slice(4), false, 6]);
      expect(await read(undefined)).toEqual([[], false, 6]);
      expect(await read(0, 9, "eve")).toEqual([[], false, 0]);
      const [last] = (await store.changesAfter({ userId: "ada", after: 5, limit: 1 })).items;
      expect(last?.at).toBe(at(100));

      const ids = { id: freshId(), settingId: freshId(), actorId: "test" };
      await store.owners.move({ from: "ada", into: "bob", isJoin: true, ...ids });
      const [joined] = await read(1, 9, "bob");
      expect(joined).toEqual([
        [2, cup.id, undefined, "stable", "stable"],
        [3, pot.id, undefined, "superseded", "superseded"],
      ]);
      expect(await read(0)).toEqual([[], false, 0]);
      await store.owners.move({ from: "bob", into: "carl", isJoin: false, ...ids, id: freshId() });
      expect((await read(0, 9, "carl"))[2]).toBe(3);
    });

    test("a reader of the changes misses none of several writers", async () => {
      const { store, place } = await fresh();
      const other = await open(place);
      const writers = [store, other].flatMap((one) => Array.from({ length: 4 }, () => one));
      const seen: number[] = [];
      let isWriting = true;
      const reading = (async () => {
        for (let isLast = false; !isLast; ) {
          isLast = !isWriting;
          const after = seen.at(-1) ?? 0;
          const { items } = await store.changesAfter({ userId: "ada", after, limit: 5 });
          seen.push(...items.map(({ place }) => place));
          isLast &&= items.length === 0;
          // A pack answers at once, and the writers need a turn.
          await new Promise(setImmediate);
        }
      })();
      await Promise.all(writers.map((writer) => put(writer, {}, {}, {})));
      isWriting = false;
      await reading;
      expect(seen).toEqual(Array.from({ length: 24 }, (_, place) => place + 1));
    });

    test("sessions are listed latest first with their events and their active memories", async () => {
      const { store } = await fresh();
      await put(
        store,
        { sessionId: "a", second: 1, createdAt: at(1) },
        { sessionId: "a", second: 5, createdAt: at(5), lifecycleState: "archived" },
        { sessionId: "b", second: 5, createdAt: at(5) },
        { sessionId: "c", second: 3, createdAt: at(3) },
        { second: 9, createdAt: at(9) },
        { sessionId: "a", second: 7, createdAt: at(7), userId: "bob" },
      );
      await store.admit(anAdmission([anEvent({ sessionId: "c", timestamp: at(8) })]));
      const sessions = [
        { sessionId: "c", firstAt: at(3), lastAt: at(8), events: 2, memories: 1 },
        { sessionId: "b", firstAt: at(5), lastAt: at(5), events: 1, memories: 1 },
        { sessionId: "a", firstAt: at(1), lastAt: at(5), events: 2, memories: 1 },
      ];
      const read = (given: Partial<Parameters<Store["sessions"]>[0]> = {}) =>
        store.sessions({ userId: "ada", limit: 9, ...given });

      expect(await read()).toEqual({ items: sessions, hasMore: false });
      expect(await read({ limit: 2 })).toEqual({ items: sessions.slice(0, 2), hasMore: true });
      const after = { at: at(5), sessionId: "b" };
      expect(await read({ after, limit: 1 })).toEqual({ items: sessions.slice(2), hasMore: false });
      expect((await read({ userId: "bob" })).items.map(({ sessionId }) => sessionId)).toEqual([
        "a",
      ]);
      expect(await read({ userId: "eve" })).toEqual({ items: [], hasMore: false });
    });

    test("the state of a store counts an owner's memories and receipts, or everybody's", async () => {
      const { store } = await fresh();
      await put(store, {}, {}, { lifecycleState: "archived" }, { userId: "bob" });
      const receipt = { createdAt: at(1), body: new Uint8Array([1]) };
      await store.saveReceipt({ ...receipt, requestId: freshId(), userId: "bob" });
      const of = async (owner: Parameters<Store["storeState"]>[0]) => {
        const { states, receipts } = await store.storeState(owner);
        return { states, receipts };
      };

      expect(await of("ada")).toEqual({ states: { tentative: 2, archived: 1 }, receipts: 0 });
      expect(await of("bob")).toEqual({ states: { tentative: 1 }, receipts: 1 });
      expect(await of(ALL_OWNERS)).toEqual({ states: { tentative: 3, archived: 1 }, receipts: 1 });
      expect(await of("eve")).toEqual({ states: {}, receipts: 0 });
      expect((await store.storeState("ada")).bytes).toBeGreaterThan(0);
    });

    test("the change sequence moves with every change, by whatever store, and with nothing else", async () => {
      const { store, place } = await fresh();
      const other = await open(place);
      const sequence = async () => (await store.storeState("ada")).changeSequence;
      const seen = new Set([await sequence()]);
      await store.eventsByTime({ userId: "ada", oldestFirst: true, limit: 1 });
      expect(seen).toContain(await sequence());
      for (const writer of [store, other, store]) {
        await put(writer, {});
        const next = await sequence();
        expect(seen).not.toContain(next);
        seen.add(next);
      }
      expect(seen).not.toContain((await other.storeState("ada")).changeSequence);
    });
  });
}
