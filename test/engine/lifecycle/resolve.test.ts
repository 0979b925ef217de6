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
  place,
  recordOf,
  refusal,
  remember,
  reread,
  STATES,
  tell,
} from "./memories.ts";

const engines = useEngines();

/** Two claims that contradict each other, as they are then. */
async function contestedPair(engine: MemoryEngine) {
  const a = await remember(engine, "ada was born in London");
  const b = await remember(engine, "ada was born in Paris");
  return engine.contradict(a.id, b.id);
}

describe("resolveContradiction", () => {
  test.each([
    { name: "first", order: [0, 1] as const },
    { name: "second", order: [1, 0] as const },
  ])("lets the $name claim win and the other one lose; nothing else changes", async ({ order }) => {
    const clock = testClock();
    const { engine, store } = await engines.open({ clock });
    const pair = await contestedPair(engine);
    const [a, b] = [pair[order[0]], pair[order[1]]];
    const edges = await edgesAmong(store, a.id, b.id);
    clock.set("2026-04-01T00:00:00Z");
    const [winner, loser] = await engine.resolveContradiction(a.id, b.id, {
      evidenceId: await tell(engine),
    });
    const { updatedAt } = winner;
    expect(updatedAt).toStartWith("2026-04-01T00:00:00.0000");
    expect(winner).toEqual({ ...a, lifecycleState: "stable", updatedAt });
    expect(loser).toEqual({ ...b, lifecycleState: "deprecated", updatedAt });
    expect([await reread(engine, a.id), await reread(engine, b.id)]).toEqual([winner, loser]);
    expect(await edgesAmong(store, a.id, b.id)).toEqual(edges);
  });

  test("takes the loser out of searches and leaves the winner, without a flag", async () => {
    const { engine } = await engines.open();
    const [a, b] = await contestedPair(engine);
    await engine.resolveContradiction(a.id, b.id);
    const { results } = await engine.retrieve({ query: "ada was born in", userId: "ada" });
    expect(results.map(({ node, conflictFlag }) => [node.id, conflictFlag])).toEqual([
      [a.id, false],
    ]);
    expect(await engine.getNode(b.id)).toBeUndefined();
  });

  test("is recorded with both memories and the edge, and as a transition of each", async () => {
    const { engine, store } = await engines.open();
    const [a, b] = await contestedPair(engine);
    const evidenceId = await tell(engine);
    const [winner, loser] = await engine.resolveContradiction(a.id, b.id, {
      evidenceId,
      actorId: "judge",
    });
    const common = { actorId: "judge", namespaceId: "personal", createdAt: winner.updatedAt };
    const ofWinner = (await logOf(store, a.id)).slice(1);
    const resolution = ofWinner.find(({ opType }) => opType === "CONTRADICTION_RESOLVED");
    const moved = (operations: typeof ofWinner) =>
      operations.filter(({ opType }) => opType === "EPISTEMIC_TRANSITION");
    if (resolution === undefined) throw new Error("the resolution is not recorded");
    expect(ofWinner).toHaveLength(2);
    expect(moved(ofWinner)).toEqual([
      {
        ...common,
        id: uuidV5(resolution.id, "winner"),
        opType: "EPISTEMIC_TRANSITION",
        targetId: a.id,
        payload: {
          from_state: "contested",
          to_state: "stable",
          reason: "contradiction_resolved_winner",
          evidence_event_id: evidenceId,
        },
      },
    ]);
    expect(await logOf(store, b.id)).toEqual([
      {
        ...common,
        id: uuidV5(resolution.id, "loser"),
        opType: "EPISTEMIC_TRANSITION",
        targetId: b.id,
        payload: {
          from_state: "contested",
          to_state: "deprecated",
          reason: "contradiction_resolved_loser",
          evidence_event_id: evidenceId,
        },
      },
    ]);
    expect(resolution).toMatchObject({
      ...common,
      targetId: a.id,
      payload: { winner_id: a.id, loser_id: b.id, evidence_event_id: evidenceId },
    });
    const { before, after, edge, ...rest } = recordOf(resolution);
    expect(rest).toEqual({
      version: 1,
      policy: "explicit_contradiction_resolution_v1",
      operation_id: resolution.id,
      actor_id: "judge",
      evidence_id: evidenceId,
    });
    expect(nodesOf(before)).toEqual({ winner: a, loser: b });
    expect(nodesOf(after)).toEqual({ winner, loser });
    expect([edge]).toEqual((await edgesAmong(store, a.id, b.id)).map(edgeRecord.to));
  });

  test("leaves a winner that may be contested and win again", async () => {
    const { engine } = await engines.open();
    const [a, b] = await contestedPair(engine);
    await engine.resolveContradiction(a.id, b.id);
    const c = await remember(engine, "ada was born in Rome");
    await engine.contradict(c.id, a.id);
    const [winner, loser] = await engine.resolveContradiction(a.id, c.id);
    expect([winner.lifecycleState, loser.lifecycleState]).toEqual(["stable", "deprecated"]);
  });
});

describe("what resolveContradiction refuses", () => {
  test.each(STATES)("is a %s memory that is not contested with the other", async (state) => {
    for (const isWinner of [true, false]) {
      const { engine } = await engines.open();
      const { node } = await place(engine, state);
      const [other] = await contestedPair(engine);
      const ids = isWinner ? ([node.id, other.id] as const) : ([other.id, node.id] as const);
      const { code, data, message } = await refusal(engine.resolveContradiction(...ids));
      expect(code).toBe("invalid_transition");
      if (state === "contested") {
        expect(data).toEqual({ action: "resolve", id: ids[0] });
        expect(message).toBe(
          `resolve: memories ${ids[0]} and ${ids[1]} are contested, but not with each other`,
        );
      } else {
        const to = isWinner ? "stable" : "deprecated";
        expect(data).toEqual({ action: "resolve", id: node.id, from: state, to });
        expect(message).toEndWith(`only a contested memory can become ${to}`);
      }
      expect(await reread(engine, node.id)).toEqual(node);
      expect(await reread(engine, other.id)).toEqual(other);
    }
  });
});

describe("a retry of resolveContradiction", () => {
  test("changes nothing while the winner is stable and the loser deprecated", async () => {
    const { engine, store } = await engines.open();
    const [a, b] = await contestedPair(engine);
    const options = { evidenceId: await tell(engine), actorId: "judge" };
    const [winner] = await engine.resolveContradiction(a.id, b.id, options);
    const loser = await engine.reinforce(b.id);
    expect(await engine.resolveContradiction(a.id, b.id, options)).toEqual([winner, loser]);
    expect(await logOf(store, a.id)).toHaveLength(3);
  });

  test.each([
    { name: "another actor", swapped: false, options: { actorId: "eve" } },
    { name: "other evidence", swapped: false, options: { evidenceId: NOBODY } },
    { name: "the other order", swapped: true, options: {} },
  ])("with $name is refused and says what was recorded", async ({ swapped, options }) => {
    const { engine } = await engines.open();
    const [a, b] = await contestedPair(engine);
    const [winner, loser] = await engine.resolveContradiction(a.id, b.id, { actorId: "judge" });
    const ids = swapped ? ([b.id, a.id] as const) : ([a.id, b.id] as const);
    const again = engine.resolveContradiction(...ids, { actorId: "judge", ...options });
    const { code, data, message } = await refusal(again);
    expect([code, data]).toEqual(["invalid_transition", { action: "resolve", id: ids[0] }]);
    expect(message).toStartWith(
      `resolve: was recorded at ${winner.updatedAt} for ${a.id} (stable now) and ${b.id} (deprecated now), ` +
        'in this order, by actor "judge" with no evidence; ',
    );
    expect([await reread(engine, a.id), await reread(engine, b.id)]).toEqual([winner, loser]);
  });

  test.each([
    { name: "the loser was archived", change: "loser" as const },
    { name: "the winner was archived", change: "winner" as const },
    { name: "the winner was contested again", change: "contest" as const },
  ])("is refused once $name", async ({ change }) => {
    const { engine } = await engines.open();
    const [a, b] = await contestedPair(engine);
    await engine.resolveContradiction(a.id, b.id);
    if (change === "contest") {
      await engine.contradict(a.id, (await remember(engine, "ada was born in Rome")).id);
    } else await engine.archive(change === "loser" ? b.id : a.id);
    expect((await refusal(engine.resolveContradiction(a.id, b.id))).code).toBe(
      "invalid_transition",
    );
  });
});
