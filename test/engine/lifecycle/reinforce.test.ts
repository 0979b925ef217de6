import { describe, expect, test } from "bun:test";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { testClock, useEngines } from "../engines.ts";
import {
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

describe("reinforce", () => {
  test("raises confidence and salience, and dates the memory", async () => {
    const clock = testClock();
    const { engine } = await engines.open({ clock });
    const before = await remember(engine, "ada likes tea");
    clock.set("2026-04-01T00:00:00Z");
    const after = await engine.reinforce(before.id);
    expect(after).toEqual({
      ...before,
      confidence: 0.85,
      confidenceBase: 0.85,
      reinforcementBoost: 0.15,
      salience: 0.65,
      lastReinforcedAt: after.updatedAt,
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(await reread(engine, before.id)).toEqual(after);
  });

  test("stops at its caps, and keeps a confidence that is beyond", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const { id: certain } = await remember(engine, "coffee", { confidence: 0.99 });
    let node = await reread(engine, id);
    for (let call = 0; call < 5; call += 1) node = await engine.reinforce(id);
    expect(node).toMatchObject({
      confidence: 0.95,
      confidenceBase: 0.95,
      reinforcementBoost: 0.5,
      salience: 1,
    });
    expect((await engine.reinforce(certain)).confidence).toBe(0.99);
  });

  test("does not make a pin, however often it happens", async () => {
    const { engine, store } = await engines.open();
    const { id } = await remember(engine, "tea");
    for (let call = 0; call < 5; call += 1) await engine.reinforce(id);
    expect((await reread(engine, id)).salience).toBe(1);
    expect(await store.pinned(ANYTHING)).toEqual([]);
  });

  test.each(STATES)("is possible for a %s memory, which stays in its state", async (state) => {
    const { engine } = await engines.open();
    const { node } = await place(engine, state);
    const after = await engine.reinforce(node.id);
    expect(after).toMatchObject({ lifecycleState: state, reinforcementBoost: 0.15 });
  });

  test("counts every one of parallel calls without a request id", async () => {
    const { engine, store } = await engines.open();
    const { id } = await remember(engine, "tea", { confidence: 0.1 });
    await Promise.all(Array.from({ length: 10 }, () => engine.reinforce(id)));
    expect((await reread(engine, id)).confidence).toBeCloseTo(0.6, 9);
    expect(await logOf(store, id)).toHaveLength(10);
  });

  test("is recorded under the owner's name, with the memory before and after", async () => {
    const { engine, store } = await engines.open();
    const before = await remember(engine, "tea", { scope: "agent" });
    const evidenceId = before.evidenceRefs[0];
    const after = await engine.reinforce(before.id, { evidenceId, requestId: KEY });
    const operation = await onlyOperation(store, before.id);
    expect(operation).toMatchObject({
      opType: "REINFORCE",
      actorId: "ada",
      namespaceId: "agent",
      createdAt: after.updatedAt,
    });
    const { before: was, after: is, ...rest } = recordOf(operation);
    expect(rest).toEqual({
      version: 2,
      policy: "additive_caps_v1",
      operation_id: operation.id,
      request_id: KEY,
      evidence_id: evidenceId ?? "none",
    });
    expect(nodesOf({ was, is })).toEqual({ was: before, is: after });
  });
});

describe("evidence", () => {
  test("is cited as often as it is given", async () => {
    const { engine } = await engines.open();
    const { id, evidenceRefs } = await remember(engine, "tea");
    const evidenceId = await tell(engine);
    await engine.reinforce(id, { evidenceId });
    const { evidenceRefs: cited } = await engine.reinforce(id, { evidenceId });
    expect(cited).toEqual([...evidenceRefs, evidenceId, evidenceId]);
  });

  test("that is nowhere, or of somebody else, is missing", async () => {
    const { engine } = await engines.open();
    const before = await remember(engine, "tea");
    const foreign = await tell(engine, { userId: "bob" });
    for (const evidenceId of [NOBODY, foreign]) {
      expect(await refusal(engine.reinforce(before.id, { evidenceId }))).toEqual({
        code: "not_found",
        data: { kind: "event", id: evidenceId },
        message: `Event '${evidenceId}' not found`,
      });
    }
    expect(await reread(engine, before.id)).toEqual(before);
  });

  test("of another scope is refused", async () => {
    const { engine } = await engines.open();
    const before = await remember(engine, "tea");
    const evidenceId = await tell(engine, { scope: "project" });
    const { code, message } = await refusal(engine.reinforce(before.id, { evidenceId }));
    expect(code).toBe("invalid_argument");
    expect(message).toBe(
      `evidence_id: event ${evidenceId} is of scope project, memory ${before.id} of scope personal; name an event of the same scope`,
    );
    expect(await reread(engine, before.id)).toEqual(before);
  });
});
