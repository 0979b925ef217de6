import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, testClock, useEngines } from "../engines.ts";
import { agingPacks, recordsOf, stateOf } from "../organize/aging.ts";

const { open } = useEngines();
const ADA = { userId: "ada" };
const after = (days: number): string =>
  new Date(Date.UTC(2026, 2, 18, 12) + days * 86_400_000).toISOString();

async function found({ engine }: OpenedEngine, query: string) {
  const { results } = await engine.retrieve({ query, userId: "ada", keepReceipt: false });
  return results.map(({ node }) => ({ id: node.id as string, text: node.content }));
}

async function store({ engine }: OpenedEngine, content: string, given: Partial<StoreInput> = {}) {
  return (await engine.storeWithReceipt({ content, userId: "ada", ...given })).nodeId;
}

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => "the call went through",
    ({ code, data, message }) => ({ code, data, message }),
  );

describe("a memory that was archived", () => {
  test("by a person is found as before once it is restored, with a record of who and why", async () => {
    const one = await open();
    const others = ["The shed is locked", "The gate squeaks"];
    for (const text of others) await store(one, text, { sessionId: "s" });
    const id = await store(one, "The spare key is under the pot", { sessionId: "s" });
    await store(one, "The pot is blue", { sessionId: "s" });
    await one.engine.promote(id, ADA);
    const before = await one.engine.getNode(id);
    const answer = await found(one, "spare key");
    await one.engine.archive(id, ADA);
    expect((await found(one, "spare key")).map((hit) => hit.id)).not.toContain(id);

    const back = await one.engine.restore(id, { ...ADA, actorId: "bob", reason: " asked for " });

    expect(back).toEqual({
      ...(before ?? back),
      lastReinforcedAt: back.lastReinforcedAt,
    });
    expect(await found(one, "spare key")).toEqual(answer);
    const [record] = await recordsOf(one, id, "MEMORY_RESTORED");
    expect(record).toMatchObject({ actorId: "bob" });
    expect(openChecksummed(record?.payload ?? {})).toMatchObject({
      ...{ policy: "explicit_restore_v1", reason: "asked for" },
      ...{ before: { lifecycleState: "archived" }, after: { lifecycleState: "stable" } },
    });
  });

  test("by time comes back without its retention, and stays", async () => {
    const one = await agingPacks(open)([{ ttlDays: 1 }, { ttlDays: 90 }]);
    const [id = "", running = ""] = one.ids;
    await one.engine.archive(running);
    one.clock.set(after(2));
    await one.engine.organize({ jobs: ["tombstone_sweep"] });
    expect(await stateOf(one, id)).toBe("archived");

    expect(await one.engine.restore(id)).toMatchObject({ ttlDays: undefined });
    expect(await one.engine.restore(running)).toMatchObject({ ttlDays: 90 });
    one.clock.set(after(50));
    await one.engine.organize({});
    expect((await one.engine.getNode(id))?.ttlDays).toBeUndefined();
  });

  test("is restored once by one request id, and not twice without", async () => {
    const one = await open();
    const id = await store(one, "The spare key is under the pot");
    await one.engine.archive(id, ADA);
    const requestId = crypto.randomUUID();
    const first = await one.engine.restore(id, { ...ADA, requestId });
    expect(await one.engine.restore(id, { ...ADA, requestId })).toEqual(first);
    expect(
      await refusal(one.engine.restore(id, { ...ADA, requestId, reason: "other" })),
    ).toMatchObject({ code: "request_conflict" });
    expect(await refusal(one.engine.restore(id, ADA))).toMatchObject({
      code: "invalid_transition",
    });
    expect(await refusal(one.engine.restore(id, { userId: "bob" }))).toMatchObject({
      code: "not_found",
    });
  });
});

describe("a memory that was replaced", () => {
  test("names the one that stands, and comes back once that one is archived", async () => {
    const one = await open();
    const old = await store(one, "The gate code is 11");
    const next = await store(one, "The gate code is 22", { supersedes: [old] });
    const last = await store(one, "The gate code is 33", { supersedes: [next] });

    for (const id of [old, next]) {
      expect(await refusal(one.engine.restore(id, ADA))).toMatchObject({
        ...{ code: "memory_replaced", data: { id, standing_id: last } },
        message: expect.stringContaining(last),
      });
    }
    await one.engine.archive(old, ADA);
    expect(await refusal(one.engine.restore(old, ADA))).toMatchObject({ code: "memory_replaced" });

    await one.engine.archive(last, ADA);
    expect(await one.engine.restore(next, ADA)).toMatchObject({
      ...{ lifecycleState: "tentative", supersededBy: undefined },
    });
    expect((await found(one, "gate code")).map(({ id }) => id)).toEqual([next]);
  });

  test("stays deprecated if another claim was found right", async () => {
    const one = await open();
    const [a, b] = [await store(one, "It opens at 8"), await store(one, "It opens at 9")];
    await one.engine.contradict(a, b, ADA);
    await one.engine.resolveContradiction(a, b, ADA);
    expect(await refusal(one.engine.restore(b, ADA))).toMatchObject({ code: "invalid_transition" });
  });
});

test("a memory that was forgotten is not restored, and the refusal says why", async () => {
  const one = await open();
  const id = await store(one, "My locker is number 12");
  await one.engine.archive(id, ADA);
  const what = { userId: "ada", ids: [id] };
  const { confirm } = await one.engine.forget(what);
  await one.engine.forget({ ...what, mode: "erase", confirm });
  expect(await refusal(one.engine.restore(id, ADA))).toMatchObject({
    ...{ code: "not_found", message: expect.stringContaining("was forgotten") },
    data: { id, forget_id: expect.any(String) },
  });
  expect(await refusal(one.engine.restore(id, { userId: "bob" }))).toMatchObject({
    message: expect.not.stringContaining("forgotten"),
  });
});

describe("what has faded", () => {
  /** A pack of the former default retention, in which time has archived what it could. */
  async function formerPack() {
    const clock = testClock();
    const organizer = { ...DEFAULT_SETTINGS.organizer, fading: "original" } as const;
    const ttlDefaults = { event: 365, decision: 180, task: 90, summary: 365, note: 90 };
    const settings = { organizer, ttlDefaults, upkeep: undefined };
    const former = await open({ clock, settings });
    const ids: Record<string, string> = {
      note: await store(former, "The spare key is under the pot"),
      preference: await store(former, "I prefer tea", { nodeType: "preference" }),
      event: await store(former, "The roof was mended", { nodeType: "event" }),
      parking: await store(former, "Parked on level 3", { ttlDays: 5 }),
      byHand: await store(former, "An old list"),
      pair: await store(former, "It closes at 5", { confidence: 0.16, ttlDays: null }),
      other: await store(former, "It closes at 6", { confidence: 0.16, ttlDays: null }),
    };
    await former.engine.archive(ids["byHand"] ?? "", ADA);
    await former.engine.contradict(ids["pair"] ?? "", ids["other"] ?? "", ADA);
    clock.set(after(100));
    await former.engine.organize({ jobs: ["tombstone_sweep", "decay_sweep"], budgetMs: 60_000 });
    const late = await store(former, "Bins go out on Tuesday");
    const state = async (name: string) => await stateOf(former, ids[name]);
    const pack = await open({ pack: former.pack, clock, settings: { upkeep: undefined } });
    return { former, pack, clock, ids, late, state };
  }

  test("comes back as a whole, without what somebody chose, and what is left is kept for ever", async () => {
    const { former, pack, clock, late, state } = await formerPack();
    const names = ["note", "preference", "event", "parking", "byHand", "pair"];
    const states = async (): Promise<readonly unknown[]> => await Promise.all(names.map(state));
    expect(await states()).toEqual([
      "archived",
      "archived",
      "tentative",
      "archived",
      "archived",
      "deprecated",
    ] as const);

    const counted = await pack.engine.restoreFaded({ ...ADA, dryRun: true });
    expect(await states()).toEqual([
      "archived",
      "archived",
      "tentative",
      "archived",
      "archived",
      "deprecated",
    ] as const);
    const done = await pack.engine.restoreFaded(ADA);

    expect(done).toEqual({ restored: 4, kept: 2, failed: 0 });
    expect(counted).toEqual(done);
    expect(await states()).toEqual([
      "tentative",
      "tentative",
      "tentative",
      "archived",
      "archived",
      "contested",
    ] as const);
    expect((await found(pack, "spare key"))[0]?.text).toBe("The spare key is under the pot");
    expect((await pack.engine.getNode(late))?.ttlDays).toBeUndefined();
    expect(await pack.engine.restoreFaded({})).toEqual({ restored: 0, kept: 0, failed: 0 });
    clock.set(after(600));
    await pack.engine.organize({ budgetMs: 60_000 });
    expect((await states()).slice(0, 3)).not.toContain("archived");
    expect(former.warnings).toEqual([]);
  });

  test("comes back whole where one memory cannot", async () => {
    const { pack, clock, ids } = await formerPack();
    const one = await open({
      ...{ pack: pack.pack, clock, settings: { upkeep: undefined } },
      alter: (real) => ({
        change: (reads, decide) =>
          reads.nodeIds.some((id) => id === ids["note"])
            ? Promise.reject(new Error("secret"))
            : real.change(reads, decide),
      }),
    });
    expect(await one.engine.restoreFaded({})).toEqual({ restored: 3, kept: 2, failed: 1 });
    expect(one.warnings).toEqual([`memory ${ids["note"]} was not restored (Error)`]);
  });
});
