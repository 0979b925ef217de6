import { describe, expect, test } from "bun:test";
import { edgeRecord } from "../../../src/domain/node.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import { testClock, useEngines } from "../engines.ts";
import {
  edgesAmong,
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

async function pairOf(engine: MemoryEngine) {
  const old = await remember(engine, "ada drinks green tea");
  const replacement = await remember(engine, "ada drinks black coffee");
  return [old, replacement] as const;
}

describe("supersede", () => {
  test("retires the old memory and names its replacement; nothing else changes", async () => {
    const clock = testClock();
    const { engine, store } = await engines.open({ clock });
    const [old, replacement] = await pairOf(engine);
    const evidenceId = await tell(engine);
    clock.set("2026-04-01T00:00:00Z");
    const [after, kept] = await engine.supersede(old.id, replacement.id, { evidenceId });
    expect(kept).toEqual(replacement);
    expect(after).toEqual({
      ...old,
      lifecycleState: "superseded",
      supersededBy: replacement.id,
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(await reread(engine, old.id)).toEqual(after);
    expect(await reread(engine, replacement.id)).toEqual(replacement);
    const operation = await onlyOperation(store, old.id);
    expect(await edgesAmong(store, old.id, replacement.id)).toEqual([
      {
        id: uuidV5(operation.id, "edge"),
        userId: "ada",
        sourceId: replacement.id,
        targetId: old.id,
        edgeType: "supersedes",
        confidence: 1,
        validFrom: after.updatedAt,
        validTo: undefined,
        provenanceEventId: evidenceId,
        metadata: undefined,
        createdAt: after.updatedAt,
      },
    ]);
  });

  test("takes the old memory out of searches and leaves the new one", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    await engine.supersede(old.id, replacement.id);
    const { results } = await engine.retrieve({ query: "what does ada drink", userId: "ada" });
    expect(results.map(({ node }) => node.id)).toEqual([replacement.id]);
    expect(await engine.getNode(old.id)).toBeUndefined();
  });

  test("is recorded with both memories and the edge, under a checksum", async () => {
    const { engine, store } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    const evidenceId = await tell(engine);
    const [after] = await engine.supersede(old.id, replacement.id, { evidenceId, actorId: "bo" });
    const operation = await onlyOperation(store, old.id);
    expect(operation).toMatchObject({
      id: uuidV5(old.id, `svc:explicit-supersedence:v1:${replacement.id}`),
      opType: "SUPERSEDENCE_APPLIED",
      actorId: "bo",
      namespaceId: "personal",
      createdAt: after.updatedAt,
    });
    const { before, replacement: by, after: is, edge, ...rest } = recordOf(operation);
    expect(rest).toEqual({
      version: 1,
      policy: "explicit_supersedence_v1",
      operation_id: operation.id,
      actor_id: "bo",
      evidence_id: evidenceId,
    });
    expect(nodesOf({ before, by, is })).toEqual({ before: old, by: replacement, is: after });
    const edges = await edgesAmong(store, old.id, replacement.id);
    expect([edge]).toEqual(edges.map(edgeRecord.to));
  });

  test.each(STATES)("of a %s memory goes as the table says", async (state) => {
    const { engine } = await engines.open();
    const { node } = await place(engine, state);
    const { id } = await remember(engine, "its replacement");
    const call = engine.supersede(node.id, id);
    if (state === "tentative" || state === "stable") {
      expect((await call)[0].lifecycleState).toBe("superseded");
      return;
    }
    const { code, data } = await refusal(call);
    expect([code, data["action"], data["id"], data["from"]]).toEqual([
      "invalid_transition",
      "supersede",
      node.id,
      state,
    ]);
    expect(await reread(engine, node.id)).toEqual(node);
  });

  test.each(STATES)("by a %s memory needs a tentative or stable one", async (state) => {
    const { engine } = await engines.open();
    const { node } = await place(engine, state);
    const { id } = await remember(engine, "the old one");
    const call = engine.supersede(id, node.id);
    if (state === "tentative" || state === "stable") {
      expect((await call)[1]).toEqual(node);
      return;
    }
    expect(await refusal(call)).toEqual({
      code: "invalid_transition",
      data: { action: "supersede", id: node.id, from: state, to: state },
      message: `supersede: memory ${node.id} is ${state}; only a tentative or stable memory can replace another`,
    });
    expect((await reread(engine, id)).lifecycleState).toBe("tentative");
  });

  test("makes chains: a replacement can be replaced", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    const latest = await remember(engine, "ada drinks water");
    await engine.supersede(old.id, replacement.id);
    const [middle] = await engine.supersede(replacement.id, latest.id);
    expect(middle).toMatchObject({ lifecycleState: "superseded", supersededBy: latest.id });
  });

  test("never goes in a circle", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    await engine.supersede(old.id, replacement.id);
    const { code } = await refusal(engine.supersede(replacement.id, old.id));
    expect(code).toBe("invalid_transition");
  });
});

describe("a retry of supersede", () => {
  test("changes nothing, also when the replacement has changed since", async () => {
    const { engine, store } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    const evidenceId = await tell(engine);
    const options = { evidenceId, actorId: "bo" };
    const [after] = await engine.supersede(old.id, replacement.id, options);
    const archived = await engine.archive(replacement.id);
    expect(await engine.supersede(old.id, replacement.id, options)).toEqual([after, archived]);
    expect(await logOf(store, old.id)).toHaveLength(1);
  });

  test("changes nothing when the old memory was only reinforced since", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    await engine.supersede(old.id, replacement.id);
    const reinforced = await engine.reinforce(old.id);
    expect(await engine.supersede(old.id, replacement.id)).toEqual([reinforced, replacement]);
  });

  test.each([
    { name: "another actor", options: { actorId: "eve" } },
    { name: "other evidence", options: { evidenceId: NOBODY } },
  ])("with $name is refused and says what was recorded", async ({ options }) => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    const [{ updatedAt }] = await engine.supersede(old.id, replacement.id, { actorId: "bo" });
    const { code, data, message } = await refusal(
      engine.supersede(old.id, replacement.id, { actorId: "bo", ...options }),
    );
    expect([code, data]).toEqual(["invalid_transition", { action: "supersede", id: old.id }]);
    expect(message).toStartWith(
      `supersede: was recorded at ${updatedAt} for ${old.id} (superseded now) and ${replacement.id} (tentative now), ` +
        'in this order, by actor "bo" with no evidence; ',
    );
  });

  test("is refused once the old memory was archived", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    await engine.supersede(old.id, replacement.id);
    const archived = await engine.archive(old.id);
    const { code, message } = await refusal(engine.supersede(old.id, replacement.id));
    expect(code).toBe("invalid_transition");
    expect(message).toContain(`${old.id} (archived now)`);
    expect(await reread(engine, old.id)).toEqual(archived);
  });

  test("with another replacement is refused and names the first one", async () => {
    const { engine } = await engines.open();
    const [old, replacement] = await pairOf(engine);
    const other = await remember(engine, "ada drinks water");
    await engine.supersede(old.id, replacement.id);
    expect((await refusal(engine.supersede(old.id, other.id))).message).toBe(
      `supersede: memory ${old.id} was replaced by memory ${replacement.id} before; replace that one instead`,
    );
  });
});
