import { describe, expect, test } from "bun:test";
import { edgeRecord } from "../../../src/domain/node.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import { testClock, useEngines } from "../engines.ts";
import {
  edgesAmong,
  KEY,
  logOf,
  NOBODY,
  nodesOf,
  onlyOperation,
  place,
  recordOf,
  refusal,
  remember,
  reread,
  STATES,
  tell,
} from "./memories.ts";

const engines = useEngines();

type TestClock = ReturnType<typeof testClock>;

async function pairOf(engine: MemoryEngine) {
  const a = await remember(engine, "ada was born in London");
  const b = await remember(engine, "ada was born in Paris");
  return [a, b] as const;
}

describe("contradict", () => {
  test("makes both contested, joined by an edge from the second to the first", async () => {
    const clock = testClock();
    const { engine, store } = await engines.open({ clock });
    const [a, b] = await pairOf(engine);
    const evidenceId = await tell(engine);
    clock.set("2026-04-01T00:00:00Z");
    const [first, second] = await engine.contradict(a.id, b.id, { evidenceId });
    const { updatedAt } = first;
    expect(updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(first).toEqual({ ...a, lifecycleState: "contested", updatedAt });
    expect(second).toEqual({ ...b, lifecycleState: "contested", updatedAt });
    expect([await reread(engine, a.id), await reread(engine, b.id)]).toEqual([first, second]);
    const operation = await onlyOperation(store, a.id);
    expect(await edgesAmong(store, a.id, b.id)).toEqual([
      {
        id: uuidV5(operation.id, "edge"),
        userId: "ada",
        sourceId: b.id,
        targetId: a.id,
        edgeType: "contradicts",
        confidence: 1,
        validFrom: updatedAt,
        validTo: undefined,
        provenanceEventId: evidenceId,
        metadata: undefined,
        createdAt: updatedAt,
      },
    ]);
  });

  test("leaves both where searches find them, flagged with each other", async () => {
    const { engine } = await engines.open();
    const [a, b] = await pairOf(engine);
    await engine.contradict(a.id, b.id);
    const { results } = await engine.retrieve({ query: "ada was born in", userId: "ada" });
    const found = results.map(({ node, conflictFlag, contradictsId }) => [
      node.id,
      conflictFlag,
      contradictsId,
    ]);
    expect(found.sort()).toEqual(
      [
        [a.id, true, b.id],
        [b.id, true, a.id],
      ].sort(),
    );
  });

  test("is recorded with both memories and the edge, under a checksum and beside it", async () => {
    const { engine, store } = await engines.open();
    const [a, b] = await pairOf(engine);
    const evidenceId = await tell(engine);
    const [first, second] = await engine.contradict(a.id, b.id, { evidenceId, actorId: "bo" });
    expect(await logOf(store, b.id)).toEqual([]);
    const operation = await onlyOperation(store, a.id);
    expect(operation).toMatchObject({
      opType: "CONTRADICTION_NOTED",
      actorId: "bo",
      namespaceId: "personal",
      createdAt: first.updatedAt,
      payload: { node_a_id: a.id, node_b_id: b.id, evidence_event_id: evidenceId },
    });
    const { before, after, edge, ...rest } = recordOf(operation);
    expect(rest).toEqual({
      version: 1,
      policy: "explicit_contradiction_v1",
      operation_id: operation.id,
      actor_id: "bo",
      evidence_id: evidenceId,
    });
    expect(nodesOf(before)).toEqual({ node_a: a, node_b: b });
    expect(nodesOf(after)).toEqual({ node_a: first, node_b: second });
    expect([edge]).toEqual((await edgesAmong(store, a.id, b.id)).map(edgeRecord.to));
  });

  test.each(STATES)("of a %s memory needs a tentative or stable one", async (state) => {
    const { engine } = await engines.open();
    for (const isFirst of [true, false]) {
      const { node } = await place(engine, state);
      const other = await remember(engine, "the other claim");
      const ids = isFirst ? ([node.id, other.id] as const) : ([other.id, node.id] as const);
      const call = engine.contradict(...ids);
      if (state === "tentative" || state === "stable") {
        expect((await call).map(({ lifecycleState }) => lifecycleState)).toEqual([
          "contested",
          "contested",
        ]);
        continue;
      }
      const { code, data } = await refusal(call);
      expect([code, data]).toEqual([
        "invalid_transition",
        { action: "contradict", id: node.id, from: state, to: "contested" },
      ]);
      expect(await reread(engine, node.id)).toEqual(node);
      expect(await reread(engine, other.id)).toEqual(other);
    }
  });
});

describe("a retry of contradict", () => {
  test("changes nothing while both are contested", async () => {
    const { engine, store } = await engines.open();
    const [a, b] = await pairOf(engine);
    const options = { evidenceId: await tell(engine), actorId: "bo" };
    const [, second] = await engine.contradict(a.id, b.id, options);
    const reinforced = await engine.reinforce(a.id);
    expect(await engine.contradict(a.id, b.id, options)).toEqual([reinforced, second]);
    expect((await logOf(store, a.id)).map(({ opType }) => opType)).toEqual([
      "CONTRADICTION_NOTED",
      "REINFORCE",
    ]);
  });

  test.each([
    { name: "another actor", swapped: false, options: { actorId: "eve" } },
    { name: "other evidence", swapped: false, options: { evidenceId: NOBODY } },
    { name: "the other order", swapped: true, options: {} },
  ])("with $name is refused and says what was recorded", async ({ swapped, options }) => {
    const { engine, store } = await engines.open();
    const [a, b] = await pairOf(engine);
    const [{ updatedAt }] = await engine.contradict(a.id, b.id, { actorId: "bo" });
    const ids = swapped ? ([b.id, a.id] as const) : ([a.id, b.id] as const);
    const again = engine.contradict(...ids, { actorId: "bo", ...options });
    const { code, data, message } = await refusal(again);
    expect([code, data]).toEqual(["invalid_transition", { action: "contradict", id: ids[0] }]);
    expect(message).toStartWith(
      `contradict: was recorded at ${updatedAt} for ${a.id} (contested now) and ${b.id} (contested now), ` +
        'in this order, by actor "bo" with no evidence; ',
    );
    expect(await edgesAmong(store, a.id, b.id)).toHaveLength(1);
  });

  test.each(["resolution", "archive"])("is refused after a %s", async (after) => {
    const { engine } = await engines.open();
    const [a, b] = await pairOf(engine);
    await engine.contradict(a.id, b.id);
    if (after === "archive") await engine.archive(b.id);
    else await engine.resolveContradiction(a.id, b.id);
    for (const ids of [[a.id, b.id] as const, [b.id, a.id] as const]) {
      expect((await refusal(engine.contradict(...ids))).code).toBe("invalid_transition");
    }
  });
});

test("two memories that an edge of another origin calls contradictory are not marked again", async () => {
  const { engine, store } = await engines.open();
  const [a, b] = await pairOf(engine);
  const edge = {
    id: NOBODY,
    userId: "ada",
    sourceId: a.id,
    targetId: b.id,
    edgeType: "contradicts",
    confidence: 0.5,
    validFrom: a.createdAt,
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: a.createdAt,
  } as const;
  await store.change({ nodeIds: [a.id, b.id], auditRecordIds: [], eventIds: [] }, () => ({
    change: { nodes: [], edges: [edge], auditRecords: [] },
    result: undefined,
  }));
  const { code, message } = await refusal(engine.contradict(a.id, b.id));
  expect(code).toBe("invalid_transition");
  expect(message).toContain("contradicted each other before");
  expect(await reread(engine, a.id)).toEqual(a);
});

describe("a memory whose opponent is gone", () => {
  const WAYS: Readonly<
    Record<string, (engine: MemoryEngine, id: string, clock: TestClock) => Promise<unknown>>
  > = {
    archived: (engine, id) => engine.archive(id, { userId: "ada" }),
    forgotten: async (engine, id) => {
      const ids = [id];
      const { confirm } = await engine.forget({ userId: "ada", ids });
      return engine.forget({ userId: "ada", ids, mode: "erase", confirm });
    },
    "at the end of its retention": (engine, _, clock) => {
      clock.set("2026-09-01T00:00:00Z");
      return engine.organize({ jobs: ["tombstone_sweep"] });
    },
  };

  test.each(Object.entries(WAYS))("is contested no longer: %s", async (_way, leave) => {
    const clock = testClock();
    const { engine, store } = await engines.open({ clock, settings: { upkeep: undefined } });
    const stays = await remember(engine, "ada was born in London", { ttlDays: null });
    const goes = await remember(engine, "ada was born in Paris", { ttlDays: 30 });
    const others = [await remember(engine, "tea"), await remember(engine, "no tea")] as const;
    await engine.contradict(goes.id, stays.id, { userId: "ada" });
    await engine.contradict(others[0].id, others[1].id, { userId: "ada" });

    await leave(engine, goes.id, clock);

    expect(await reread(engine, stays.id)).toMatchObject({ lifecycleState: "stable" });
    for (const { id } of others) {
      expect(await reread(engine, id)).toMatchObject({ lifecycleState: "contested" });
    }
    const reasons = (await logOf(store, stays.id)).map(({ payload }) => payload["reason"]);
    expect(reasons).toContain("contradiction_unopposed");
    const { results } = await engine.retrieve({ query: "where was ada born?", userId: "ada" });
    expect(results.some(({ conflictFlag, node }) => node.id === stays.id && conflictFlag)).toBe(
      false,
    );
  });

  const NODES = { userId: "ada" };
  const RESTORES: Readonly<
    Record<string, (engine: MemoryEngine, a: string, b: string) => Promise<unknown>>
  > = {
    "one side": async (engine, a) => {
      await engine.archive(a, NODES);
      await engine.restore(a, NODES);
    },
    "both sides, as they went": async (engine, a, b) => {
      for (const id of [a, b]) await engine.archive(id, NODES);
      for (const id of [a, b]) await engine.restore(id, NODES);
    },
    "both sides, the last one first": async (engine, a, b) => {
      for (const id of [a, b]) await engine.archive(id, NODES);
      for (const id of [b, a]) await engine.restore(id, NODES);
    },
    "one side, twice": async (engine, a) => {
      await engine.archive(a, NODES);
      const requestId = uuidV5(KEY, "once");
      for (let time = 0; time < 2; time += 1) await engine.restore(a, { ...NODES, requestId });
    },
  };

  test.each(Object.entries(RESTORES))("is contested again: %s", async (_way, change) => {
    const { engine } = await engines.open();
    const [a, b] = await pairOf(engine);
    await engine.contradict(a.id, b.id, NODES);
    await change(engine, a.id, b.id);
    for (const { id } of [a, b]) {
      expect(await reread(engine, id)).toMatchObject({ lifecycleState: "contested" });
    }
    const { contradictions } = await engine.listContradictions({ userId: "ada" });
    expect(contradictions).toMatchObject([{ status: "open" }]);
    await engine.resolveContradiction(b.id, a.id, NODES);
  });

  test("is contested again where what time has archived is restored as a whole", async () => {
    const clock = testClock();
    const ttlDefaults = { note: 90 } as const;
    const { engine } = await engines.open({
      clock,
      settings: { upkeep: undefined, ttlDefaults },
    });
    const [a, b] = await pairOf(engine);
    await engine.contradict(a.id, b.id, NODES);
    clock.set("2026-09-01T00:00:00Z");
    await engine.organize({ jobs: ["tombstone_sweep"] });
    expect(await reread(engine, a.id)).toMatchObject({ lifecycleState: "archived" });
    expect(await engine.restoreFaded(NODES)).toMatchObject({ restored: 2, failed: 0 });
    for (const { id } of [a, b]) {
      expect(await reread(engine, id)).toMatchObject({ lifecycleState: "contested" });
    }
  });

  test("stays as it was decided, whichever side comes back", async () => {
    const { engine } = await engines.open();
    const [a, b] = await pairOf(engine);
    await engine.contradict(a.id, b.id, NODES);
    await engine.resolveContradiction(a.id, b.id, NODES);
    for (const { id } of [a, b]) {
      await engine.archive(id, NODES);
      await engine.restore(id, NODES);
    }
    expect(await reread(engine, a.id)).toMatchObject({ lifecycleState: "stable" });
    expect(await reread(engine, b.id)).toMatchObject({ lifecycleState: "tentative" });
  });

  test("of an earlier version is settled by the organizer where only one is left", async () => {
    const { engine, store } = await engines.open({ settings: { upkeep: undefined } });
    const [a, b] = await pairOf(engine);
    const others = [await remember(engine, "tea"), await remember(engine, "no tea")] as const;
    await engine.contradict(a.id, b.id, NODES);
    await engine.contradict(others[0].id, others[1].id, NODES);
    await store.change({ nodeIds: [a.id], auditRecordIds: [], eventIds: [] }, ({ nodes }) => ({
      change: {
        nodes: [...nodes.values()].map((node) => ({ ...node, lifecycleState: "archived" })),
        edges: [],
        auditRecords: [],
      },
      result: undefined,
    }));
    const jobs = ["tombstone_sweep"];
    const { wouldChange } = await engine.organize({ jobs, dryRun: true });
    expect(wouldChange?.changes).toMatchObject([
      { targetId: b.id, from: "contested", to: "stable" },
    ]);
    expect(await reread(engine, b.id)).toMatchObject({ lifecycleState: "contested" });
    const { perJob } = await engine.organize({ jobs });
    expect(perJob["tombstone_sweep"]).toMatchObject({ nodesModified: 1 });
    expect(await reread(engine, b.id)).toMatchObject({ lifecycleState: "stable" });
    for (const { id } of others) {
      expect(await reread(engine, id)).toMatchObject({ lifecycleState: "contested" });
    }
  });
});
