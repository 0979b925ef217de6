import { describe, expect, test } from "bun:test";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { anAdmission, anEvent, at, freshId, put } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

const recordOf = () => ({ id: freshId(), actorId: "test", createdAt: at(9) });

/** Whose a pack is, and who has memories in it. */
export function describeOwners(world: StoreWorld): void {
  describe("the owner of a pack", () => {
    test("is nobody, then the only one who has anything, then one of several", async () => {
      const { store } = await world.fresh();
      expect(await store.owners.packOwner()).toEqual({ from: "nobody" });
      await store.admit(anAdmission([anEvent({ userId: "ada" })]));
      expect(await store.owners.packOwner()).toEqual({ from: "only", userId: "ada" });
      await store.admit(anAdmission([anEvent({ userId: "bob" })]));
      expect(await store.owners.packOwner()).toEqual({ from: "several" });
    });

    test("is whoever claims it first, for every process and for good", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const claims = [recordOf(), recordOf()] as const;

      const found = await Promise.all([
        store.owners.claimPack("ada", claims[0]),
        other.owners.claimPack("bob", claims[1]),
      ]);

      const [first] = found;
      expect(found[1]).toEqual(first);
      await other.admit(anAdmission([anEvent({ userId: "carl" })]));
      for (const one of [store, other]) expect(await one.owners.packOwner()).toEqual(first);
      const kept = await Promise.all(claims.map(({ id }) => store.auditRecord(id, ALL_OWNERS)));
      expect(kept.filter((operation) => operation !== undefined)).toHaveLength(1);
    });

    test("is not claimed where somebody has something", async () => {
      const { store } = await world.fresh();
      await store.admit(anAdmission([anEvent({ userId: "ada" })]));
      const claim = recordOf();
      expect(await store.owners.claimPack("bob", claim)).toEqual({ from: "only", userId: "ada" });
      expect(await store.auditRecord(claim.id, ALL_OWNERS)).toBeUndefined();
    });
  });

  test("owners are listed by how many memories they have, as many as are wanted", async () => {
    const { store } = await world.fresh();
    const owners = ["ada", "bob", "bob", "carl", "bob", "carl"];
    await put(store, ...owners.map((userId) => ({ userId })));
    await store.admit(anAdmission([anEvent({ userId: "dora" })]));
    const all = [
      { userId: "bob", memories: 3 },
      { userId: "carl", memories: 2 },
      { userId: "ada", memories: 1 },
    ];
    expect(await store.owners.withMemories(5)).toEqual(all);
    expect(await store.owners.withMemories(2)).toEqual(all.slice(0, 2));
  });
}
