import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { expectInvalid, testClock, useEngines } from "../engines.ts";
import {
  KEY,
  logOf,
  nodesOf,
  OTHER_KEY,
  onlyOperation,
  recordOf,
  refusal,
  remember,
  reread,
} from "./memories.ts";

const engines = useEngines();

describe("promote", () => {
  test("makes a tentative memory stable and changes nothing else of it", async () => {
    const clock = testClock();
    const { engine } = await engines.open({ clock });
    const before = await remember(engine, "ada likes tea");
    clock.set("2026-04-01T00:00:00Z");
    const after = await engine.promote(before.id);
    expect(after).toEqual({
      ...before,
      lifecycleState: "stable",
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(await reread(engine, before.id)).toEqual(after);
  });

  test("leaves the memory where searches find it", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "ada likes tea");
    await engine.promote(id);
    const { results } = await engine.retrieve({ query: "tea", userId: "ada" });
    expect(results.map(({ node }) => node.id)).toEqual([id]);
  });

  test("a second time is refused, naming action and states", async () => {
    const { engine, store } = await engines.open();
    const { id } = await remember(engine, "ada likes tea");
    await engine.promote(id);
    expect(await refusal(engine.promote(id))).toEqual({
      code: "invalid_transition",
      data: { action: "promote", id, from: "stable", to: "stable" },
      message: `promote: memory ${id} is stable already`,
    });
    expect(await logOf(store, id)).toHaveLength(1);
  });

  test("is refused for a contested memory, which stays as it is", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const { id: other } = await remember(engine, "coffee");
    const [contested] = await engine.contradict(id, other);
    expect((await refusal(engine.promote(id))).data).toEqual({
      action: "promote",
      id,
      from: "contested",
      to: "stable",
    });
    expect(await reread(engine, id)).toEqual(contested);
  });
});

describe("archive", () => {
  test("retires a memory: no search and no listing finds it, reads by id do", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "ada likes green tea");
    const { id: kept } = await remember(engine, "ada likes black tea");
    const before = await reread(engine, id);
    const after = await engine.archive(id);
    expect(after).toEqual({ ...before, lifecycleState: "archived", updatedAt: after.updatedAt });
    const { results } = await engine.retrieve({ query: "green tea", userId: "ada" });
    expect(results.map(({ node }) => node.id)).toEqual([kept]);
    expect((await engine.queryNodes({ userId: "ada" })).map((node) => node.id)).toEqual([kept]);
    expect(await engine.getNode(id)).toBeUndefined();
    expect(await reread(engine, id)).toEqual(after);
  });
});

describe("the record", () => {
  test("holds the memory before and after, under a checksum", async () => {
    const { engine, store } = await engines.open();
    const before = await remember(engine, "ada likes tea", {
      scope: "project",
      sessionId: "s1",
      metadata: { a: [1, { b: null }] },
    });
    const after = await engine.promote(before.id, { userId: "ada", requestId: KEY });
    const operation = await onlyOperation(store, before.id);
    expect(operation).toMatchObject({
      opType: "LIFECYCLE_CHANGED",
      actorId: "ada",
      namespaceId: "project",
      createdAt: after.updatedAt,
    });
    const { before: was, after: is, ...rest } = recordOf(operation);
    expect(rest).toEqual({
      version: 1,
      policy: "lifecycle_transitions_v1",
      operation_id: operation.id,
      action: "promote",
    });
    expect(nodesOf({ was, is })).toEqual({ was: before, is: after });
  });

  test.each([
    { name: "whoever is named", options: { userId: "ada", actorId: "  bo  " }, actor: "bo" },
    { name: "else the owner", options: { userId: "ada" }, actor: "ada" },
    { name: "else the system", options: {}, actor: "system" },
  ])("names as actor $name", async ({ options, actor }) => {
    const { engine, store } = await engines.open();
    const { id } = await remember(engine, "tea");
    await engine.promote(id, options);
    expect((await onlyOperation(store, id)).actorId).toBe(actor);
  });
});

describe("a request id", () => {
  test("makes a retry a no-op, also spelled differently", async () => {
    const { engine, store } = await engines.open();
    const { id } = await remember(engine, "tea");
    const first = await engine.promote(id, { requestId: KEY });
    const spelled = `urn:uuid:${KEY.replaceAll("-", "").toUpperCase()}`;
    expect(await engine.promote(id.toUpperCase(), { requestId: spelled })).toEqual(first);
    expect(await logOf(store, id)).toHaveLength(1);
  });

  test("answers a promote retry after an archive with the archived memory", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    await engine.promote(id, { requestId: KEY });
    const archived = await engine.archive(id);
    expect(await engine.promote(id, { requestId: KEY })).toEqual(archived);
  });

  test.each([
    { name: "another memory", options: {}, elsewhere: true, action: "promote" as const },
    { name: "another action", options: {}, elsewhere: false, action: "archive" as const },
    {
      name: "another actor",
      options: { actorId: "bo" },
      elsewhere: false,
      action: "promote" as const,
    },
  ])("is refused for $name", async ({ options, elsewhere, action }) => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const { id: other } = await remember(engine, "coffee");
    await engine.promote(id, { requestId: KEY });
    const again = engine[action](elsewhere ? other : id, { requestId: KEY, ...options });
    expect(await refusal(again)).toEqual({
      code: "request_conflict",
      data: { request_id: KEY },
      message: `request_id ${KEY} was used before with different inputs; use a new one`,
    });
    expect((await reread(engine, other)).lifecycleState).toBe("tentative");
    expect((await reread(engine, id)).lifecycleState).toBe("stable");
  });

  test("serves each owner for itself", async () => {
    const { engine } = await engines.open();
    const { id: hers } = await remember(engine, "tea");
    const { id: his } = await remember(engine, "coffee", { userId: "bob" });
    await engine.promote(hers, { requestId: KEY });
    const node = await engine.archive(his, { requestId: KEY });
    expect(node.lifecycleState).toBe("archived");
  });

  test("of a promotion serves a reinforcement and an evaluation too", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea", {
      epistemicType: "conditional",
      metadata: { condition: "it rains" },
    });
    await engine.promote(id, { requestId: KEY });
    expect((await engine.reinforce(id, { requestId: KEY })).reinforcementBoost).toBe(0.15);
    const { metadata } = await engine.evaluateCondition(id, { state: "true", requestId: KEY });
    expect(metadata?.["condition_state"]).toBe("true");
  });

  test("that was refused can be used again", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    await engine.promote(id, { requestId: KEY });
    const { code } = await refusal(engine.promote(id, { requestId: OTHER_KEY }));
    expect(code).toBe("invalid_transition");
    expect((await engine.archive(id, { requestId: OTHER_KEY })).lifecycleState).toBe("archived");
  });
});

describe("arguments", () => {
  test("that break a rule are refused by name", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    await expectInvalid(engine.promote("x"), { field: "node_id" });
    await expectInvalid(engine.archive(id, { requestId: "" }), { field: "request_id" });
    await expectInvalid(engine.archive(id, { userId: " " }), { field: "user_id" });
    await expectInvalid(engine.archive(id, { actorId: " " }), { field: "actor_id" });
    await expectInvalid(engine.archive(id, { actorId: "a".repeat(4001) }), { field: "actor_id" });
    expect((await engine.promote(id, { actorId: "a".repeat(4000) })).lifecycleState).toBe("stable");
  });

  test("that are null count as absent", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const absent = { userId: null, actorId: null, requestId: null };
    expect((await engine.promote(id, absent)).lifecycleState).toBe("stable");
  });
});

describe("pin", () => {
  test("makes a memory a candidate for every question, until it is released", async () => {
    const { engine, store } = await engines.open();
    const before = await remember(engine, "ada likes tea");

    const pinned = await engine.pin(before.id, true, { userId: "ada", actorId: "inspector" });
    expect(pinned).toEqual({ ...before, pinned: true, updatedAt: pinned.updatedAt });
    expect(await reread(engine, before.id)).toEqual(pinned);
    expect(await store.pinned(ANYTHING)).toHaveLength(1);

    const released = await engine.pin(before.id, false, { userId: "ada" });
    expect(released.pinned).toBe(false);
    expect(await store.pinned(ANYTHING)).toHaveLength(0);
  });

  test("is recorded with the memory before and after, and doing it again changes nothing", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const pinned = await engine.pin(id, true, { userId: "ada", actorId: "inspector" });
    const again = await engine.pin(id, true, { userId: "ada" });

    expect(again).toEqual(pinned);
    const provenance = await engine.getProvenance(id);
    const records = provenance?.operations.filter(({ opType }) => opType === "PIN") ?? [];
    expect(records.map(({ actorId }) => actorId)).toEqual(["inspector"]);
    expect(openChecksummed(records[0]?.payload ?? {})).toMatchObject({
      pinned: true,
      policy: "explicit_pin_v1",
      before: { pinned: false },
      after: { pinned: true },
    });
  });
});
