import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { Fusion } from "../../../src/domain/scoring.ts";
import { at, freshId, type Memory } from "../../contract/samples.ts";
import { DEFAULT_SETTINGS, fullReceipt, type OpenedEngine, useEngines } from "../engines.ts";
import { ask, contentsOf, remember, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const OLD = "I work at Acme.";
const NEW = "From Monday Birch pays me.";
const CLAIM = "Ada is employed by Birch.";
const QUESTION = "Where do I work, at Acme?";
const FUSIONS: readonly Fusion[] = [
  DEFAULT_SETTINGS.scoring.fusion,
  { kind: "weighted", recencyTime: undefined },
  { kind: "relative", semanticShare: 0.65, recencyBoost: undefined, tieBreak: undefined },
];

type Given = {
  readonly older?: Partial<Memory>;
  readonly newer?: Partial<Memory>;
  /** What else was extracted from the old message. */
  readonly more?: readonly Partial<Memory>[];
  readonly claim?: Partial<Memory>;
};

/** Two messages, and what was extracted from them: the claim of the second replaced that of the first. */
async function changed(opened: OpenedEngine, { older, newer, more = [], claim }: Given = {}) {
  const said = { sessionId: "talk" };
  const [old, fresh] = await remember(
    opened,
    { content: OLD, second: 1, ...said, ...older },
    { content: NEW, second: 2, ...said, ...newer },
  );
  const of = (note: MemoryNode | undefined) => ({
    ...said,
    nodeType: "fact" as const,
    evidenceRefs: note?.evidenceRefs ?? [],
  });
  const id = freshId();
  const ended = { lifecycleState: "superseded", supersededBy: id } as const;
  await remember(
    opened,
    { content: CLAIM, id, second: 3, ...of(fresh), ...claim },
    { content: "Ada works at Acme.", second: 4, ...of(old), ...ended },
    ...more.map((one) => ({ content: "Ada has a dog.", second: 5, ...of(old), ...one })),
  );
  return { old, fresh };
}

const markedIn = (answer: Awaited<ReturnType<typeof ask>>) =>
  answer.results.flatMap(({ node, olderThan }) =>
    olderThan === undefined ? [] : [[node.content, olderThan.nodeId]],
  );

describe("a message of which the store knows that all it said was replaced", () => {
  test.each(FUSIONS)("stands behind what replaced it, as its receipt tells: %j", async (fusion) => {
    const opened = await open();
    const { old, fresh } = await changed(opened);
    const engine = withSettings(opened, { scoring: { ...DEFAULT_SETTINGS.scoring, fusion } });
    const without = await ask(withSettings(opened, { newerFirst: false }), QUESTION);

    const answer = await ask(engine, QUESTION);

    expect(contentsOf(without.results)[0]).toBe(OLD);
    expect(contentsOf(answer.results)).toEqual([NEW, OLD, CLAIM]);
    expect(markedIn(answer)).toEqual([[OLD, `${fresh?.id}`]]);
    const kept = await fullReceipt(engine, answer);
    for (const { provenance, compositeScore } of answer.results) {
      expect(replayScore(provenance)).toBe(compositeScore);
    }
    expect(kept.receipt.schemaVersion).toBe(fusion.kind === "adaptive" ? 25 : 24);
    const explanation = await engine.explain(answer.metadata.requestId, "ada");
    expect(explanation?.inContext.find(({ nodeId }) => nodeId === old?.id)?.reasons).toContainEqual(
      expect.objectContaining({
        text: "older than, and perhaps no longer true because of, memory",
        memory: fresh?.id,
      }),
    );
  });

  test("stands behind the claim that replaced it, where that is the best of it", async () => {
    const opened = await open();
    await changed(opened, {
      newer: { sessionId: "other" },
      claim: { content: "Ada is at work for Birch." },
    });

    const answer = await ask(opened.engine, QUESTION, { limit: 2 });

    expect(contentsOf(answer.results)).toEqual(["Ada is at work for Birch.", OLD]);
    expect(markedIn(answer)).toHaveLength(1);
  });

  test("stands behind the message of what replaced it, where that is all that is found", async () => {
    const opened = await open();
    const { fresh } = await changed(opened, { claim: { lifecycleState: "superseded" } });

    const answer = await ask(opened.engine, QUESTION);

    expect(contentsOf(answer.results)).toEqual([NEW, OLD]);
    expect(markedIn(answer)).toEqual([[OLD, `${fresh?.id}`]]);
  });

  test("stands behind messages in the order in which each replaced the one before", async () => {
    const opened = await open();
    await changed(opened, { claim: { lifecycleState: "superseded" } });
    const [last] = await remember(opened, { content: "Acme again.", second: 9, sessionId: "talk" });
    const [claim] = await remember(opened, {
      content: "Ada is back at her first employer.",
      second: 10,
      nodeType: "fact",
      evidenceRefs: last?.evidenceRefs ?? [],
      // It counts from a day long past: what replaced what decides, not the times.
      validFrom: at(1),
    });
    const next = { lifecycleState: "superseded", supersededBy: claim?.id } as const;
    const claims = await opened.store.queryNodes({
      owner: "ada",
      nodeType: "fact",
      lifecycleStates: ["superseded"],
      oldestFirst: true,
      limit: 9,
    });
    const replaced = claims.filter(({ content }) => content === CLAIM);
    await opened.store.change(
      { nodeIds: replaced.map(({ id }) => id), auditRecordIds: [], eventIds: [] },
      () => ({
        change: {
          nodes: replaced.map((node) => ({ ...node, ...next })),
          edges: [],
          auditRecords: [],
        },
        result: undefined,
      }),
    );

    const { results } = await ask(opened.engine, QUESTION);

    const order = contentsOf(results);
    expect(order.indexOf("Acme again.")).toBeLessThan(order.indexOf(NEW));
    for (const { node, olderThan } of results) {
      if (olderThan === undefined) continue;
      const ids = results.map((result) => result.node.id);
      expect(ids.indexOf(olderThan.nodeId)).toBeLessThan(ids.indexOf(node.id));
    }
    expect(results.filter(({ olderThan }) => olderThan !== undefined)).toHaveLength(2);
  });

  const alone: readonly (readonly [string, Given])[] = [
    ["another part of it holds", { more: [{}] }],
    ["another part of it ended otherwise", { more: [{ lifecycleState: "archived" }] }],
    ["what replaced it is of another scope", { older: { scope: "project" } }],
    ["nobody knows whether it is right", { older: { lifecycleState: "contested" } }],
    ["what replaced it states it again", { claim: { nodeType: "summary" } }],
  ];
  test.each(alone)("is left where it is if %s", async (_, given) => {
    const opened = await open();
    await changed(opened, given);

    const answer = await ask(opened.engine, QUESTION);

    expect(contentsOf(answer.results)[0]).toBe(OLD);
    expect(markedIn(answer)).toEqual([]);
  });

  test("is left where it is if nothing was extracted from it", async () => {
    const opened = await open();
    await remember(opened, { content: OLD, second: 1 }, { content: NEW, second: 2 });

    expect(markedIn(await ask(opened.engine, QUESTION))).toEqual([]);
  });
});
