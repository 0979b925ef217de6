import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anEvent, at, freshId, type Memory, put, unit } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";
import { aReceipt } from "./store-receipts.ts";

const recordOf = () => ({ id: freshId(), actorId: "test", createdAt: at(99) });
const moveOf = (from: string, into: string, isJoin: boolean) => ({
  ...{ from, into, isJoin },
  ...{ id: freshId(), settingId: freshId(), actorId: "test" },
});

/** Moves that are not possible where ada and bob have something. */
const REFUSED = [
  ["carl", "ada", true],
  ["ada", "ada", true],
  ["ada", "carl", true],
  ["ada", "bob", false],
] as const;

/** Everything that an owner can find and read, twice, since the second question is answered from vectors in memory. */
async function holdingsOf(store: Store, userId: string) {
  const filter = everythingOf(userId);
  const search = async () => ({
    vectors: await store.searchVectors(unit(1, 2, 3), filter, 50),
    words: await store.searchText("tea river", filter, 50),
  });
  const events = await store.events({ userId, limit: 50, offset: 0 });
  return {
    nodes: await store.queryNodes({
      owner: userId,
      lifecycleStates: ["tentative", "archived"],
      oldestFirst: true,
      limit: 50,
    }),
    events: events.map(({ content, timestamp, userId: owner }) => [content, timestamp, owner]),
    first: await search(),
    second: await search(),
  };
}

/** How rare a word is counts an owner's own texts; how long a text is, is compared with those of the whole pack. */
function withoutScores({ first, second, ...rest }: Awaited<ReturnType<typeof holdingsOf>>) {
  const keysOf = ({ vectors, words }: typeof first) => ({
    vectors,
    words: words.map(({ key }) => key).sort((one, other) => one - other),
  });
  return { ...rest, first: keysOf(first), second: keysOf(second) };
}

const memories = fc.array(
  fc.record({
    userId: fc.constantFrom("ada", "bob", "carl"),
    sessionId: fc.constantFrom(undefined, "s1", "s2"),
    content: fc.constantFrom("Tea by the river.", "The river is cold.", "A cup of tea."),
    lifecycleState: fc.constantFrom("tentative" as const, "archived" as const),
    direction: fc.integer({ min: 1, max: 7 }),
  }),
  { minLength: 3, maxLength: 12 },
);

/** What happens to all that an owner has. */
export function describeOwnerMoves(world: StoreWorld): void {
  describe("an owner who is joined with another", () => {
    test("leaves a pack as if everything had always been the other's", async () => {
      await fc.assert(
        fc.asyncProperty(memories, async (drawn) => {
          const given = [{ userId: "ada" }, { userId: "bob" }, ...drawn].map(
            ({ userId, ...rest }, index): Memory => {
              const { direction = 1, ...members } = { direction: 1, ...rest };
              const vector = unit(direction, 1, 2);
              return { ...members, userId, id: freshId(), second: index, vector, evidenceRefs: [] };
            },
          );
          const { store, place } = await world.fresh();
          const { store: expected } = await world.fresh();
          await put(store, ...given);
          await put(
            expected,
            ...given.map((memory) => ({
              ...memory,
              userId: memory.userId === "bob" ? "ada" : (memory.userId ?? "ada"),
            })),
          );
          const other = await world.open(place);
          for (const one of [store, other]) await holdingsOf(one, "bob");
          const carls = withoutScores(await holdingsOf(store, "carl"));
          await store.saveReceipt(aReceipt({ userId: "bob" }));

          const moved = await store.owners.move(moveOf("bob", "ada", true));

          expect(moved.memories).toBe(given.filter(({ userId }) => userId === "bob").length);
          const wanted = await holdingsOf(expected, "ada");
          for (const one of [store, other]) {
            expect(await holdingsOf(one, "ada")).toEqual(wanted);
            expect(withoutScores(await holdingsOf(one, "carl"))).toEqual(carls);
            const left = await holdingsOf(one, "bob");
            expect([left.nodes, left.events, left.first, left.second]).toEqual([
              ...[[], [], { vectors: [], words: [] }, { vectors: [], words: [] }],
            ]);
          }
        }),
        { numRuns: 2 },
      );
    });

    test("takes his receipts and the pack along, and leaves a record", async () => {
      const { store } = await world.fresh();
      await put(store, { userId: "ada" }, { userId: "bob" });
      await store.owners.usePack("bob", recordOf());
      const kept = aReceipt({ userId: "bob" });
      await store.saveReceipt(kept);
      await store.owners.move(moveOf("bob", "ada", true));
      expect(await store.receipt(kept.requestId, "ada")).toEqual({ ...kept, userId: "ada" });
      expect(await store.receipt(kept.requestId, "bob")).toBeUndefined();
      expect(await store.owners.packOwner()).toEqual({ from: "set", userId: "ada" });
      const target = { targetId: "owner:bob", after: undefined, limit: 9 };
      expect((await store.auditRecordsOn(target)).items).toMatchObject([
        {
          opType: "OWNERS_JOINED",
          payload: { before: "bob", after: "ada", memories: 1, events: 1 },
        },
      ]);
    });
  });

  test("a renamed owner keeps everything under the new name, which may be his old one again", async () => {
    const { store } = await world.fresh();
    const [node] = await put(store, { userId: "bob", vector: unit(1, 2, 3) });
    const told = (userId: string) => store.changesAfter({ userId, after: 0, limit: 9 });
    const { items } = await told("bob");
    await store.owners.move(moveOf("bob", "rob", false));
    expect((await told("rob")).items).toMatchObject(
      items.map(({ place, was }) => ({ place, was })),
    );
    expect((await told("bob")).items).toEqual([]);
    expect((await holdingsOf(store, "rob")).nodes).toEqual([{ ...node!, userId: "rob" }]);
    expect((await holdingsOf(store, "bob")).nodes).toEqual([]);
    await store.owners.move(moveOf("rob", "bob", false));
    expect((await holdingsOf(store, "bob")).nodes).toEqual([node!]);
  });

  test("a move without a source, onto itself or onto the wrong kind of target changes nothing", async () => {
    const { store } = await world.fresh();
    await put(store, { userId: "ada" }, { userId: "bob" });
    const before = await store.owners.list();
    for (const [from, into, isJoin] of REFUSED) {
      const refused = store.owners.move(moveOf(from, into, isJoin));
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(await store.owners.list()).toEqual(before);
  });

  test("a preview says what a move would move and refuses what it would, and changes nothing", async () => {
    const { store } = await world.fresh();
    await put(store, { userId: "ada" }, { userId: "bob" }, { userId: "bob", second: 9 });
    await store.admit(anAdmission([anEvent({ userId: "bob" })]));
    const before = await store.owners.list();
    for (const [from, into, isJoin] of REFUSED) {
      const refused = store.owners.previewMove({ from, into, isJoin });
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
    }

    const join = await store.owners.previewMove({ from: "bob", into: "ada", isJoin: true });
    const rename = await store.owners.previewMove({ from: "bob", into: "rob", isJoin: false });

    const moved = { userId: "bob", memories: 2, events: 3, lastUsed: at(9) };
    expect([join, rename]).toEqual([moved, moved]);
    expect(await store.owners.list()).toEqual(before);
    expect(await store.owners.move(moveOf("bob", "ada", true))).toEqual(moved);
  });

  test("names are those that an owner had, in the order of the moves, whatever the clock said", async () => {
    const clock = { time: at(100), now: () => clock.time };
    const { store } = await world.fresh({ clock });
    await put(store, { userId: "ada" }, { userId: "bob" }, { userId: "carl" });
    const [none, now] = [undefined, undefined];
    expect(await store.owners.names("bob")).toEqual([{ userId: "bob", since: none, until: now }]);
    await store.owners.move(moveOf("bob", "rob", false));
    // The clock is set back.
    clock.time = at(50);
    await store.owners.move(moveOf("rob", "bob", false));

    expect(await store.owners.names("bob")).toEqual([
      { userId: "bob", since: at(100), until: now },
      { userId: "rob", since: none, until: at(50) },
      { userId: "bob", since: none, until: at(100) },
    ]);

    await store.owners.move(moveOf("bob", "ada", true));

    expect((await store.owners.names("ada")).map(({ userId, until }) => [userId, until])).toEqual([
      ["ada", now],
      ["bob", at(50)],
      ["rob", at(50)],
      ["bob", at(100)],
    ]);
    expect(await store.owners.names("carl")).toEqual([{ userId: "carl", since: none, until: now }]);
  });
}
