import { describe, expect, test } from "bun:test";
import { extractionRecordId } from "../../src/domain/extraction/work.ts";
import { isTakenOver } from "../../src/domain/jobs.ts";
import type { MemoryEvent } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Instant } from "../../src/lib/instant.ts";
import type { ExtractionClaim, ExtractionFilter } from "../../src/ports/store/work.ts";
import { aPlanOf, aRecordOf, claimed, extractable } from "./extraction-samples.ts";
import { anAdmission, anEvent, at, freshId } from "./samples.ts";
import type { StoreWorld } from "./store-contract.ts";

const DUE = { owner: "ada", isDueOnly: true } satisfies ExtractionFilter;
const ANY = { owner: "ada", isDueOnly: false } satisfies ExtractionFilter;
const FAILED = { failure: "RateLimitError" };

/** Two stores on one pack, with one clock. */
async function twoStores(world: StoreWorld) {
  const clock = { time: at(0), now: (): Instant => clock.time };
  const { store, place } = await world.fresh({ clock });
  return { store, other: await world.open(place, { clock }), clock };
}

async function idOf(claim: Promise<ExtractionClaim | undefined>): Promise<string | undefined> {
  return (await claim)?.event.id;
}

/** What came of a write under a claim. */
async function outcome(write: Promise<unknown>): Promise<unknown> {
  return await write.catch((error: unknown) => (isTakenOver(error) ? "taken over" : error));
}

/** Work of extraction: who gets it, and when. */
export function describeExtractionQueue(world: StoreWorld): void {
  describe("work of extraction", () => {
    test("is there for each event that is admitted to be extracted, and for no other", async () => {
      const { store } = await world.fresh();
      const [told, silent] = [anEvent({ timestamp: at(3) }), anEvent()];
      await store.admit(extractable([told]));
      await store.admit(anAdmission([silent]));

      expect(await store.extractionJob(told.id, "ada")).toEqual({
        eventId: told.id,
        status: "pending",
        phase: "extraction",
        attempts: 0,
        generation: 0,
        planId: undefined,
        planRevision: 1,
        leaseExpiresAt: undefined,
        nextAttemptAt: at(3),
        lastError: undefined,
        updatedAt: at(3),
      });
      expect(await store.extractionJob(told.id, "bob")).toBeUndefined();
      expect(await store.extractionJob(silent.id, ALL_OWNERS)).toBeUndefined();
      expect(await store.extractionJob(freshId(), ALL_OWNERS)).toBeUndefined();
      expect(await store.jobStatus(told.id, "ada")).toMatchObject({ status: "pending" });
    });

    test("is claimed in the order of admission, one after the other in each owner and scope", async () => {
      const { store, other } = await twoStores(world);
      const [one, two, work] = [anEvent(), anEvent(), anEvent({ scope: "project" })];
      const bobs = anEvent({ userId: "bob" });
      await store.admit(extractable([one, two, work, bobs]));

      expect(await idOf(other.claimExtraction(ANY, 300))).toBe(one.id);
      expect(await idOf(store.claimExtraction(ANY, 300))).toBe(work.id);
      expect(await idOf(store.claimExtraction(ANY, 300))).toBeUndefined();
      expect(await idOf(store.claimExtraction({ ...ANY, owner: ALL_OWNERS }, 300))).toBe(bobs.id);
      expect(await idOf(store.claimExtraction({ ...ANY, owner: "eve" }, 300))).toBeUndefined();
    });

    test("is claimed only where a filter fits the first of its owner and scope", async () => {
      const { store } = await world.fresh();
      const [one, two, work] = [anEvent(), anEvent(), anEvent({ scope: "project" })];
      await store.admit(extractable([one, two, work]));
      const [lane] = await store.extractionLanes("ada");

      expect(await idOf(store.claimExtraction({ ...ANY, eventId: two.id }, 300))).toBeUndefined();
      expect(await idOf(store.claimExtraction({ ...ANY, upTo: 0 }, 300))).toBeUndefined();
      expect(await idOf(store.claimExtraction({ ...ANY, scope: "project" }, 300))).toBe(work.id);
      expect(await idOf(store.claimExtraction({ ...ANY, upTo: lane?.upTo }, 300))).toBe(one.id);
    });

    test("has a number for each try and each claim, and says until when it is held", async () => {
      const { store, clock } = await twoStores(world);
      const event = anEvent();
      await store.admit(extractable([event]));

      const first = await claimed(store, ANY, 300);
      expect(first).toEqual({
        ...{ event, order: first.order, generation: 1, attempts: 1, revision: 1 },
        ...{ plan: undefined, record: undefined },
      });
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({
        ...{ status: "running", attempts: 1, generation: 1, leaseExpiresAt: at(300) },
      });

      clock.time = at(301);
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({ status: "pending" });
      expect(await claimed(store, ANY, 300)).toMatchObject({ generation: 2, attempts: 2 });
    });

    test("is tried four times, 5, 30 and 180 seconds apart, and then again only when asked", async () => {
      const { store, clock } = await twoStores(world);
      const [event, next] = [anEvent(), anEvent()];
      await store.admit(extractable([event, next]));
      const waits: unknown[] = [];
      for (let tries = 0; tries < 4; tries++) {
        const begin = clock.time;
        const job = await store.endExtraction(await claimed(store, DUE), FAILED, clock.time);
        expect(await idOf(store.claimExtraction({ ...DUE, upTo: 1 }, 300))).toBeUndefined();
        waits.push(job.nextAttemptAt && (Date.parse(job.nextAttemptAt) - Date.parse(begin)) / 1000);
        clock.time = job.nextAttemptAt ?? clock.time;
      }

      expect(waits).toEqual([5, 30, 180, undefined]);
      expect(await store.extractionJob(event.id, "ada")).toMatchObject({
        ...{ status: "failed", attempts: 4, lastError: "RateLimitError" },
      });
      expect(await store.countExtractions("ada")).toEqual({ pending: 1, failed: 1 });
      expect(await idOf(store.claimExtraction(DUE, 300))).toBe(next.id);

      const retried = await store.retryExtraction(event.id, "ada", {
        ...{ isReplan: false, at: clock.time },
      });
      expect(retried).toMatchObject({ status: "pending", lastError: "RateLimitError" });
      const again = await claimed(store, DUE);
      expect(again).toMatchObject({ attempts: 5, event: { id: event.id } });
      expect(await store.endExtraction(again, FAILED, clock.time)).toMatchObject({
        ...{ status: "failed", attempts: 5 },
      });
    });

    test("that waits after a failure is passed over, holds up the rest, and is claimed by who does not ask for the time", async () => {
      const { store } = await twoStores(world);
      const [event, next] = [anEvent(), anEvent()];
      await store.admit(extractable([event, next]));
      await store.endExtraction(await claimed(store, DUE), FAILED, at(0));

      expect(await idOf(store.claimExtraction(DUE, 300))).toBeUndefined();
      expect(await store.extractionLanes("ada")).toMatchObject([{ due: at(5), scope: "personal" }]);
      expect(await idOf(store.claimExtraction(ANY, 300))).toBe(event.id);
    });

    test("that was cancelled is due at once, and the try counts", async () => {
      const { store } = await twoStores(world);
      const event = anEvent();
      await store.admit(extractable([event]));

      const job = await store.endExtraction(await claimed(store, DUE), "cancelled", at(0));

      expect(job).toMatchObject({ status: "pending", lastError: "Cancelled", attempts: 1 });
      expect(await claimed(store, DUE)).toMatchObject({ attempts: 2 });
    });

    test("goes on when the clock was set back", async () => {
      const { store, other, clock } = await twoStores(world);
      const [waiting, held] = [anEvent(), anEvent({ scope: "project" })];
      await store.admit(extractable([waiting, held]));
      clock.time = at(86_400 * 365);
      await store.endExtraction(await claimed(store, DUE), FAILED, clock.time);
      await claimed(store, DUE);

      clock.time = at(0);

      expect(await idOf(other.claimExtraction(DUE, 300))).toBe(waiting.id);
      expect(await idOf(other.claimExtraction(DUE, 300))).toBe(held.id);
    });

    test("is free again once the process that held it is gone", async () => {
      const { store, place } = await world.fresh();
      const event = anEvent();
      await store.admit(extractable([event]));
      const helper = await world.start(place, "extract");
      expect(helper.did).toEqual([event.id]);
      expect(await idOf(store.claimExtraction(ANY, 300))).toBeUndefined();

      await helper.kill();

      expect(await idOf(store.claimExtraction(ANY, 300))).toBe(event.id);
    });

    test("waits in lanes of one owner and scope each", async () => {
      const { store } = await world.fresh();
      const events = [anEvent(), anEvent({ scope: "project" }), anEvent()];
      const bobs = anEvent({ userId: "bob" });
      await store.admit(extractable([...events, bobs]));
      const lanes = await store.extractionLanes(ALL_OWNERS);

      expect(lanes.map(({ userId, scope }) => `${userId} ${scope}`)).toEqual([
        "ada personal",
        "ada project",
        "bob personal",
      ]);
      expect(await store.extractionLanes("ada")).toEqual(lanes.slice(0, 2));
      expect(await store.extractionLanes("eve")).toEqual([]);
      expect(await store.countExtractions(ALL_OWNERS)).toEqual({ pending: 4, failed: 0 });
      expect(await store.countExtractions("bob")).toEqual({ pending: 1, failed: 0 });
      expect(await store.countExtractions("eve")).toEqual({ pending: 0, failed: 0 });
    });
  });

  describe("a claim of extraction", () => {
    test("lasts while it is renewed", async () => {
      const { store, other, clock } = await twoStores(world);
      await store.admit(extractable([anEvent()]));
      const claim = await claimed(store, ANY, 60);
      clock.time = at(50);
      expect(await store.renewExtraction(claim, 60)).toBeTrue();
      clock.time = at(100);

      expect(await idOf(other.claimExtraction(ANY, 60))).toBeUndefined();
    });

    test("writes nothing once another one was made", async () => {
      const { store, other, clock } = await twoStores(world);
      const event = anEvent();
      await store.admit(extractable([event]));
      const former = await claimed(store, ANY, 60);
      const plan = aPlanOf(former);
      clock.time = at(61);
      await claimed(other, ANY, 60);

      expect(await store.renewExtraction(former, 60)).toBeFalse();
      expect(await outcome(store.saveExtractions(former, [aRecordOf(event)]))).toBe("taken over");
      expect(await outcome(store.savePlan(former, plan, at(61)))).toBe("taken over");
      const publication = { plan, vectors: [undefined, undefined, undefined], at: at(61) };
      expect(await outcome(store.publishPlan(former, publication))).toBe("taken over");
      const job = await store.endExtraction(former, FAILED, at(61));
      expect(job).toMatchObject({ status: "running", generation: 2, lastError: undefined });
      expect(await store.auditRecord(extractionRecordId(event.id), ALL_OWNERS)).toBeUndefined();
    });

    test("writes nothing once the event belongs to another owner", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      await store.admit(extractable([event]));
      const former = await claimed(store, ANY);
      const move = { from: "ada", into: "lovelace", isJoin: false, actorId: "ada" };
      await store.owners.move({ ...move, id: freshId(), settingId: freshId() });

      expect(await outcome(store.saveExtractions(former, [aRecordOf(event)]))).toBe("taken over");
      expect(await store.renewExtraction(former, 60)).toBeFalse();
    });

    test("saves what was answered once, and every later claim has it", async () => {
      const { store } = await world.fresh();
      const [event, next] = [anEvent(), anEvent()];
      await store.admit(extractable([event, next]));
      const claim = await claimed(store, ANY);
      const [record, another] = [aRecordOf(event), aRecordOf(event, { provider: "another" })];
      await store.saveExtractions(claim, [record, aRecordOf(next)]);
      await store.saveExtractions(claim, [another]);
      await store.endExtraction(claim, "cancelled", at(0));

      expect(await claimed(store, ANY)).toMatchObject({ record });
      expect(await store.extractionJob(next.id, "ada")).toMatchObject({ phase: "preparation" });
    });

    test("sees the turns of its session that wait behind it", async () => {
      const { store } = await world.fresh();
      const turn = (given: Partial<MemoryEvent> = {}) => anEvent({ sessionId: "s", ...given });
      const [head, second, third] = [turn(), turn(), turn()];
      const others = [
        turn({ sessionId: "t" }),
        turn({ sessionId: undefined }),
        turn({ scope: "project" }),
        turn({ userId: "bob" }),
      ];
      await store.admit(anAdmission([turn()]));
      await store.admit(extractable([head, ...others, second, third]));
      const claim = await claimed(store, { ...ANY, scope: "personal" });
      await store.saveExtractions(claim, [aRecordOf(second)]);
      const page = { upTo: undefined, limit: 10 };
      const waiting = await store.waitingTurns(claim, page);

      expect(waiting).toMatchObject([
        { event: second, isRecorded: true },
        { event: third, isRecorded: false },
      ]);
      const upTo = waiting[0]?.order;
      expect(await store.waitingTurns(claim, { ...page, upTo })).toEqual(waiting.slice(0, 1));
      expect(await store.waitingTurns(claim, { ...page, limit: 1 })).toEqual(waiting.slice(0, 1));
    });

    test("sees the newest turns of its session and scope before it, oldest first", async () => {
      const { store } = await world.fresh();
      const turn = (part: Partial<MemoryEvent> = {}): MemoryEvent =>
        anEvent({ sessionId: "s", ...part });
      const [first, second, third, head] = [turn(), turn(), turn(), turn()];
      const others = [
        turn({ sessionId: "t" }),
        turn({ sessionId: undefined }),
        turn({ scope: "project" }),
        turn({ userId: "bob" }),
        turn({ content: " \n\t" }),
      ];
      await store.admit(anAdmission([first, ...others, second, third]));
      await store.admit(extractable([head, turn()]));
      const claim = await claimed(store, ANY);

      expect(await store.earlierTurns(claim, 9)).toEqual([first, second, third]);
      expect(await store.earlierTurns(claim, 2)).toEqual([second, third]);
    });

    test("of an event without a session sees no turns", async () => {
      const { store } = await world.fresh();
      await store.admit(extractable([anEvent(), anEvent()]));

      const claim = await claimed(store, ANY);

      expect(await store.waitingTurns(claim, { upTo: undefined, limit: 9 })).toEqual([]);
      expect(await store.earlierTurns(claim, 9)).toEqual([]);
    });
  });
}
