import { describe, expect, test } from "bun:test";
import { isTakenOver } from "../../src/domain/jobs.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { WorkClaim } from "../../src/ports/store/work.ts";
import { aMaterialization, aNode, anAdmission, anEvent, at, unit } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

const SWEEP = { kind: "sweep", owner: ALL_OWNERS };
const DONE = { failure: undefined, cooldownSeconds: 3600 };

async function taken(
  store: Store,
  work: Pick<WorkClaim, "kind" | "owner"> = SWEEP,
): Promise<WorkClaim> {
  const claim = await store.takeWork(work, true);
  if (typeof claim !== "object") throw new Error(`it is not free before ${claim}`);
  return claim;
}

/** What comes of a change that is made under a claim. */
function changed(store: Store, claim: WorkClaim): Promise<string> {
  const reads = { nodeIds: [], auditRecordIds: [], eventIds: [], claim };
  return store
    .change(reads, () => ({ change: undefined, result: "changed" }))
    .catch((error: unknown) => (isTakenOver(error) ? "taken over" : String(error)));
}

/** Two stores on one pack, with one clock. */
async function twoStores(world: StoreWorld) {
  const clock = { time: at(0), now: (): Instant => clock.time };
  const { store, place } = await world.fresh({ clock });
  return { store, other: await world.open(place, { clock }), clock };
}

/** Work that comes again and again, and what a claim is worth. */
export function describeWork(world: StoreWorld): void {
  describe("work that comes again and again", () => {
    test("has one holder, and rests when it was done", async () => {
      const { store, other, clock } = await twoStores(world);
      const claim = await taken(store);

      expect(await other.takeWork(SWEEP, true)).toBe(at(60));
      expect(await store.takeWork(SWEEP, false)).toBe(at(60));
      expect(await store.finishWork(claim, DONE)).toBeTrue();
      expect(await other.takeWork(SWEEP, true)).toBe(at(3600));
      clock.time = at(3600);
      expect(await taken(other)).toEqual({ ...SWEEP, generation: 2 });
    });

    test("is taken while it rests where its cooldown does not count, and is due as before when stopped", async () => {
      const { store, other, clock } = await twoStores(world);
      await store.finishWork(await taken(store), DONE);

      const claim = await other.takeWork(SWEEP, false);

      if (typeof claim !== "object") throw new Error("it is not free");
      expect(await other.finishWork(claim, "stopped")).toBeTrue();
      expect(await store.takeWork(SWEEP, true)).toBe(at(3600));
      clock.time = at(3601);
      expect(await taken(store)).toEqual({ ...SWEEP, generation: 3 });
    });

    test("is each owner's own, and that of nobody who has nothing", async () => {
      const { store, other } = await twoStores(world);
      await store.admit(anAdmission([anEvent(), anEvent({ userId: "bob" })]));

      await taken(store, { kind: "sweep", owner: "ada" });

      expect(await taken(other, { kind: "sweep", owner: "bob" })).toMatchObject({ generation: 1 });
      expect(await taken(other, { kind: "other", owner: "ada" })).toMatchObject({ generation: 1 });
      expect(await other.takeWork({ kind: "sweep", owner: "eve" }, true)).toBeUndefined();
    });

    test("that fails comes later each time, and at its time again after a success", async () => {
      const { store, clock } = await twoStores(world);
      const failed = { failure: "model_failed", cooldownSeconds: 60 };
      const waits: (number | undefined)[] = [];
      for (const outcome of [failed, failed, failed, failed, failed, failed, DONE, failed]) {
        const begin = Date.parse(clock.time);
        await store.finishWork(await taken(store), outcome);
        const due = await store.takeWork(SWEEP, true);
        clock.time = typeof due === "string" ? due : clock.time;
        waits.push((Date.parse(clock.time) - begin) / 1000);
      }

      expect(waits).toEqual([60, 60, 180, 1080, 3600, 3600, 3600, 60]);
    });

    test("goes on when the clock was set back", async () => {
      const { store, other, clock } = await twoStores(world);
      clock.time = at(86_400 * 365);
      await store.finishWork(await taken(store), DONE);
      await taken(store, { kind: "held", owner: ALL_OWNERS });

      clock.time = at(0);

      expect(await taken(other)).toEqual({ ...SWEEP, generation: 2 });
      expect(await taken(other, { kind: "held", owner: ALL_OWNERS })).toMatchObject({
        generation: 2,
      });
    });
  });

  describe("a claim", () => {
    test("lasts while it is renewed", async () => {
      const { store, other, clock } = await twoStores(world);
      const claim = await taken(store);
      clock.time = at(50);
      expect(await store.renewWork(claim)).toBeTrue();
      clock.time = at(100);

      expect(await other.takeWork(SWEEP, true)).toBe(at(110));
      expect(await changed(store, claim)).toBe("changed");
    });

    test("is worth nothing once another one was made", async () => {
      const { store, other, clock } = await twoStores(world);
      const former = await taken(store);
      clock.time = at(61);
      const present = await taken(other);

      expect(await changed(store, former)).toBe("taken over");
      expect(await store.renewWork(former)).toBeFalse();
      expect(await store.finishWork(former, DONE)).toBeFalse();
      expect(await store.finishWork(former, "stopped")).toBeFalse();

      expect(await changed(other, present)).toBe("changed");
      expect(await other.finishWork(present, DONE)).toBeTrue();
      expect(await changed(other, present)).toBe("taken over");
    });

    test("of a job is worth nothing once another one was made", async () => {
      const { store, other, clock } = await twoStores(world);
      const event = anEvent();
      await store.admit(anAdmission([event]));
      const [former] = await store.claimJobs("ada", 1);
      clock.time = at(61);
      const [present] = await other.claimJobs("ada", 1);
      const item = aMaterialization(event, aNode(event), { vector: unit(1), at: clock.time });

      const [refused] = await store.materialize([{ ...item, generation: former?.generation }]);
      await store.failJobs([event.id], "too_late", clock.time, former?.generation);
      await store.renewJobs([event.id]);
      await store.releaseJobs([event.id]);

      expect(refused).toMatchObject({ status: "pending", attempts: 0, lastError: undefined });
      expect(await store.countNodes("ada")).toBe(0);
      expect(await store.claimJobs("ada", 1)).toEqual([]);
      const [done] = await other.materialize([{ ...item, generation: present?.generation }]);
      expect(done).toMatchObject({ status: "complete", attempts: 1 });
    });

    test("of a job lasts while it is renewed", async () => {
      const { store, other, clock } = await twoStores(world);
      const event = anEvent();
      await store.admit(anAdmission([event], { leaseJobs: true }));
      clock.time = at(50);
      await store.renewJobs([event.id]);
      clock.time = at(100);

      expect(await other.claimJobs("ada", 1)).toEqual([]);
      clock.time = at(111);
      expect(await other.claimJobs("ada", 1)).toHaveLength(1);
    });

    test("passes over what failed a short while ago, if it is to", async () => {
      const { store, clock } = await twoStores(world);
      const event = anEvent();
      await store.admit(anAdmission([event]));
      await store.failJobs([event.id], "model_failed", clock.time);

      expect(await store.claimJobs("ada", 1, true)).toEqual([]);
      clock.time = at(5);
      expect(await store.claimJobs("ada", 1, true)).toHaveLength(1);
    });
  });
}
