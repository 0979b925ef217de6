import { describe, expect, test } from "bun:test";
import { CONDITION_STATES } from "../../../src/domain/enums.ts";
import type { ConditionInput } from "../../../src/engine/lifecycle/api.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { expectInvalid, testClock, useEngines } from "../engines.ts";
import {
  KEY,
  logOf,
  NOBODY,
  nodesOf,
  onlyOperation,
  recordOf,
  refusal,
  remember,
  rememberConditional,
  reread,
  tell,
} from "./memories.ts";

const engines = useEngines();

describe("evaluateCondition", () => {
  test("writes the whole evaluation into the metadata and changes nothing else", async () => {
    const clock = testClock();
    const { engine } = await engines.open({ clock });
    const before = await rememberConditional(engine);
    const evidenceId = await tell(engine);
    clock.set("2026-04-01T00:00:00Z");
    const after = await engine.evaluateCondition(before.id, {
      state: "true",
      evidenceId,
      evaluationMethod: "tool",
      reason: "  the gauge says 3  ",
      evaluatedAt: "2026-03-31T23:00:00.5+02:00",
      actorId: "bo",
    });
    expect(after).toEqual({
      ...before,
      metadata: {
        condition: "the wind is below 5",
        condition_state: "true",
        condition_evaluated_at: "2026-03-31T21:00:00.500000Z",
        condition_evaluation_method: "tool",
        condition_evaluated_by: "bo",
        condition_evaluation_reason: "the gauge says 3",
        condition_evaluation_evidence_id: evidenceId,
      },
      evidenceRefs: [...before.evidenceRefs, evidenceId],
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(await reread(engine, before.id)).toEqual(after);
  });

  test("takes now, `user` and the owner where nothing is given, and drops what an earlier one said", async () => {
    const { engine } = await engines.open();
    const { id } = await rememberConditional(engine);
    const evidenceId = await tell(engine);
    await engine.evaluateCondition(id, { state: "true", evidenceId, reason: "because" });
    const { metadata, updatedAt } = await engine.evaluateCondition(id, { state: "false" });
    expect(metadata).toEqual({
      condition: "the wind is below 5",
      condition_state: "false",
      condition_evaluated_at: updatedAt,
      condition_evaluation_method: "user",
      condition_evaluated_by: "ada",
    });
  });

  test("cites the same evidence once", async () => {
    const { engine } = await engines.open();
    const { id, evidenceRefs } = await rememberConditional(engine);
    const evidenceId = await tell(engine);
    await engine.evaluateCondition(id, { state: "true", evidenceId });
    const node = await engine.evaluateCondition(id, { state: "false", evidenceId });
    expect(node.evidenceRefs).toEqual([...evidenceRefs, evidenceId]);
  });

  test("goes from any state to any state, the same one too", async () => {
    const { engine, store } = await engines.open();
    const { id } = await rememberConditional(engine);
    const walk = CONDITION_STATES.flatMap((from) => CONDITION_STATES.flatMap((to) => [from, to]));
    for (const state of walk) {
      const node = await engine.evaluateCondition(id, { state });
      expect(node.metadata?.["condition_state"]).toBe(state);
    }
    const moves = (await logOf(store, id)).map((operation) => {
      const { from_state, to_state } = recordOf(operation);
      return `${from_state} ${to_state}`;
    });
    const pairs = CONDITION_STATES.flatMap((a) => CONDITION_STATES.map((b) => `${a} ${b}`));
    expect(new Set(moves)).toEqual(new Set(pairs));
  });

  test("decides whether retrieval shows the memory", async () => {
    const { engine } = await engines.open();
    const { id } = await rememberConditional(engine);
    const found = async () => {
      const { results } = await engine.retrieve({ query: "red kayak", userId: "ada" });
      return results.map(({ node }) => node.id);
    };
    expect(await found()).toEqual([]);
    await engine.evaluateCondition(id, { state: "true" });
    expect(await found()).toEqual([id]);
    await engine.evaluateCondition(id, { state: "expired" });
    expect(await found()).toEqual([]);
  });

  test("is possible for an archived memory", async () => {
    const { engine } = await engines.open();
    const { id } = await rememberConditional(engine);
    await engine.archive(id);
    const node = await engine.evaluateCondition(id, { state: "true" });
    expect(node).toMatchObject({ lifecycleState: "archived", epistemicType: "conditional" });
  });

  test("is recorded with the memory before and after, under a checksum", async () => {
    const { engine, store } = await engines.open();
    const before = await rememberConditional(engine, { scope: "agent" });
    const after = await engine.evaluateCondition(before.id, {
      state: "expired",
      requestId: KEY,
      evaluationMethod: "rule",
      reason: "old",
      userId: "ada",
    });
    const operation = await onlyOperation(store, before.id);
    expect(operation).toMatchObject({
      opType: "EPISTEMIC_TRANSITION",
      actorId: "ada",
      namespaceId: "agent",
      createdAt: after.updatedAt,
    });
    const { before: was, after: is, ...rest } = recordOf(operation);
    expect(rest).toEqual({
      version: 1,
      policy: "explicit_condition_evaluation_v1",
      operation_id: operation.id,
      request_id: KEY,
      condition: "the wind is below 5",
      from_state: "unknown",
      to_state: "expired",
      evaluated_at: after.updatedAt,
      evaluation_method: "rule",
      reason: "old",
      evidence_id: null,
      triggered_by: "ada",
    });
    expect(nodesOf({ was, is })).toEqual({ was: before, is: after });
  });
});

describe("what evaluateCondition refuses", () => {
  test("is a memory without a condition", async () => {
    const { engine } = await engines.open();
    const plain = await remember(engine, "tea", { metadata: { condition: "it rains" } });
    expect(await refusal(engine.evaluateCondition(plain.id, { state: "true" }))).toEqual({
      code: "invalid_argument",
      data: { field: "node_id" },
      message: `node_id: memory ${plain.id} is asserted; only conditional ones are evaluated`,
    });
    expect(await reread(engine, plain.id)).toEqual(plain);
  });

  test("is a conditional memory whose condition is gone", async () => {
    const { engine, store } = await engines.open();
    const node = await rememberConditional(engine);
    await store.change({ nodeIds: [node.id], auditRecordIds: [], eventIds: [] }, () => ({
      change: { nodes: [{ ...node, metadata: { condition: " " } }], edges: [], auditRecords: [] },
      result: undefined,
    }));
    const { message } = await refusal(engine.evaluateCondition(node.id, { state: "true" }));
    expect(message).toBe(`node_id: memory ${node.id} has no condition in its metadata`);
  });

  test.each([
    { name: "an unknown state", input: { state: "maybe" }, field: "state" },
    { name: "no state", input: {}, field: "state" },
    { name: "a method", input: { evaluationMethod: "guess" }, field: "evaluation_method" },
    { name: "a blank reason", input: { reason: " " }, field: "reason" },
    { name: "half a character", input: { reason: "\ud800" }, field: "reason" },
    { name: "a long reason", input: { reason: "x".repeat(4001) }, field: "reason" },
    {
      name: "a time without offset",
      input: { evaluatedAt: "2026-01-01T10:00" },
      field: "evaluated_at",
    },
    { name: "evidence", input: { evidenceId: "x" }, field: "evidence_id" },
    { name: "a request id", input: { requestId: "x" }, field: "request_id" },
    { name: "a blank actor", input: { actorId: "\t" }, field: "actor_id" },
    { name: "a blank owner", input: { userId: "" }, field: "user_id" },
  ])("is $name that breaks a rule", async ({ name, input, field }) => {
    const { engine } = await engines.open();
    const { id } = await rememberConditional(engine);
    const state = name === "no state" ? {} : { state: "true" };
    // SAFETY: callers without types pass anything.
    const given = { ...state, ...input } as ConditionInput;
    await expectInvalid(engine.evaluateCondition(id, given), { field });
  });

  test("is an input that is no object", async () => {
    const { engine } = await engines.open();
    const { id } = await rememberConditional(engine);
    // SAFETY: callers without types pass anything.
    const nothing = undefined as unknown as ConditionInput;
    await expectInvalid(engine.evaluateCondition(id, nothing), { field: "input" });
  });

  test("is evidence that is missing, of another owner or of another scope", async () => {
    const { engine } = await engines.open();
    const before = await rememberConditional(engine);
    for (const evidenceId of [
      NOBODY,
      await tell(engine, { userId: "bob" }),
      await tell(engine, { scope: "project" }),
    ]) {
      const call = engine.evaluateCondition(before.id, { state: "true", evidenceId });
      await expectInvalid(call, { field: "evidence_id" });
    }
    expect(await reread(engine, before.id)).toEqual(before);
  });
});

describe("a request id", () => {
  const FIRST = {
    state: "true",
    evaluationMethod: "tool",
    reason: "because",
    actorId: "bo",
    evaluatedAt: "2026-03-01T00:00:00Z",
    requestId: KEY,
  } as const;

  async function evaluated(engine: MemoryEngine): Promise<{ id: Uuid; evidenceId: Uuid }> {
    const { id } = await rememberConditional(engine);
    const evidenceId = await tell(engine);
    await engine.evaluateCondition(id, { ...FIRST, evidenceId });
    return { id, evidenceId };
  }

  test.each<{ name: string; change: Partial<ConditionInput> }>([
    { name: "another state", change: { state: "false" } },
    { name: "another method", change: { evaluationMethod: "llm" } },
    { name: "another reason", change: { reason: "why not" } },
    { name: "no reason", change: { reason: undefined } },
    { name: "no evidence", change: { evidenceId: undefined } },
    { name: "other evidence", change: { evidenceId: NOBODY } },
    { name: "another actor", change: { actorId: "eve" } },
    { name: "the owner as actor", change: { actorId: undefined } },
    { name: "another time", change: { evaluatedAt: asInstant("2026-03-01T00:00:00.000001Z") } },
  ])("is refused with $name", async ({ change }) => {
    const { engine } = await engines.open();
    const { id, evidenceId } = await evaluated(engine);
    const before = await reread(engine, id);
    const call = engine.evaluateCondition(id, { ...FIRST, evidenceId, ...change });
    const { code, data } = await refusal(call);
    expect([code, data]).toEqual(["request_conflict", { request_id: KEY }]);
    expect(await reread(engine, id)).toEqual(before);
  });
});
