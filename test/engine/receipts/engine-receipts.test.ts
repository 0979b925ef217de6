import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { isLean } from "../../../src/domain/records/receipt.ts";
import { CONTEXT_FORMATS } from "../../../src/domain/records/retrieval-record.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { Fusion } from "../../../src/domain/scoring.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import { rankingOrder } from "../../../src/engine/receipts/validate.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { DEFAULT_SETTINGS, fullReceipt, useEngines } from "../engines.ts";
import { readRaw } from "../retrieve/pipeline-world.ts";

const engines = useEngines();

/** A conversation, some facts and something that is only supposed. */
async function talk(engine: MemoryEngine): Promise<void> {
  const lines = [
    "Ada drinks green tea in the morning",
    "Tom asked which tea she likes",
    "It is sencha, from the shop in Oslo",
    "The shop changed to new opening hours",
    "Ada bought a pot of clay",
  ];
  for (const [index, content] of lines.entries()) {
    await engine.store({
      content,
      userId: "ada",
      sessionId: index < 3 ? "monday" : "tuesday",
      speaker: index === 1 ? "Tom" : "Ada",
      eventTime: `2026-03-${10 + index}T09:00:00Z`,
    });
  }
  await engine.store({
    content: "Ada prefers tea to coffee",
    userId: "ada",
    nodeType: "preference",
  });
  await engine.store({
    content: "Ada may move to Oslo",
    userId: "ada",
    epistemicType: "hypothetical",
  });
  await engine.store({ content: "Answer in few words", userId: "ada", nodeType: "instruction" });
}

const QUESTIONS = [
  "Which tea does Ada currently drink?",
  "When did Ada buy a pot?",
  "How many shops are in Oslo?",
  "",
  "Tom",
];

const FUSIONS: readonly Fusion[] = [
  DEFAULT_SETTINGS.scoring.fusion,
  { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
  { kind: "relative", semanticShare: 0.6, recencyBoost: 0.25, tieBreak: "event_time" },
  { kind: "weighted", recencyTime: undefined },
  { kind: "weighted", recencyTime: "event_time" },
];

describe("the receipt of an answer", () => {
  // A format decides nothing of the scores.
  const cases = FUSIONS.flatMap((fusion, index) =>
    (index === 0 ? CONTEXT_FORMATS : (["reader"] as const)).map((contextFormat) => ({
      name: JSON.stringify(fusion),
      fusion,
      contextFormat,
    })),
  );

  test.each([...cases])(
    "has its results in their order, and both follow from it: $name, $contextFormat",
    async ({ fusion, contextFormat }) => {
      const { engine, warnings } = await engines.open({
        settings: {
          scoring: { ...DEFAULT_SETTINGS.scoring, fusion },
          packing: { ...DEFAULT_SETTINGS.packing, contextFormat },
        },
      });
      await talk(engine);
      for (const query of QUESTIONS) {
        const answer = await engine.retrieve({ query, userId: "ada", tokenBudget: 300 });
        const { requestId } = answer.metadata;
        expect(answer.metadata.receiptPersisted).toBeTrue();
        const { receipt, record } = await fullReceipt(engine, answer);
        expect(receipt.candidates.map(({ nodeId, score }) => [nodeId, score])).toEqual(
          answer.results.map(({ node, compositeScore }) => [node.id, compositeScore]),
        );
        const replayed = receipt.candidates.map((candidate) => ({
          ...candidate,
          score: replayScore(receipt.scoreProvenance.get(candidate.nodeId)!),
        }));
        expect(replayed.toReversed().sort(rankingOrder(receipt.rankingPolicy))).toEqual([
          ...receipt.candidates,
        ]);
        expect(record.context.map(({ nodeId }) => nodeId)).toEqual(
          [...answer.bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id),
        );
        expect(record.notPacked.map(({ nodeId }) => nodeId).toSorted()).toEqual(
          answer.bundle.excludedIds.toSorted(),
        );
        const explanation = await engine.explain(requestId, "ada");
        expect(explanation?.inContext).toHaveLength(answer.bundle.includedCount);
      }
      expect(warnings).toEqual([]);
    },
  );

  test("is lean unless more is asked for: what explains and cites the answer, and nothing else", async () => {
    const { engine, pack } = await engines.open({ settings: { receiptDetail: "lean" } });
    await talk(engine);
    for (let count = 0; count < 30; count += 1) {
      await engine.store({ content: `The tea of day ${count} was green`, userId: "ada" });
    }
    const question = { query: "green tea", userId: "ada", limit: 25, tokenBudget: 500 };
    const lean = await engine.retrieve(question);
    const full = await engine.retrieve({ ...question, explain: true });
    const kept = (await engine.getRetrievalReceipt(lean.metadata.requestId, "ada"))!;
    const whole = await fullReceipt(engine, full);

    if (!isLean(kept.receipt)) throw new Error("it is full");
    const packed = new Set(
      [...lean.bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id),
    );
    expect(packed.size).toBeWithin(5, 20);
    expect(kept.receipt.resultCount).toBe(25);
    expect(kept.receipt.candidates.map(({ nodeId, rank }) => [nodeId, rank])).toEqual(
      lean.results.flatMap(({ node }, index) =>
        index < 20 || packed.has(node.id) ? [[node.id, index + 1]] : [],
      ),
    );
    for (const [index, { score, inContext }] of kept.receipt.candidates.entries()) {
      expect(score).toBeCloseTo(lean.results[index]!.compositeScore, 5);
      expect(inContext).toBe(whole.receipt.candidates[index]!.inContext);
    }
    const explanation = (await engine.explain(lean.metadata.requestId, "ada"))!;
    const all = (await engine.explain(full.metadata.requestId, "ada"))!;
    expect([explanation.detail, all.detail]).toEqual(["lean", "full"]);
    expect(explanation.notes.length).toBe(all.notes.length + 1);
    const told = ({ inContext }: typeof all) =>
      inContext.map(({ score: _score, reasons, ...one }) => [one, one.rank > 20 ? [] : reasons]);
    expect(told(explanation)).toEqual(told(all));
    expect(explanation.notInContext.map(({ nodeId, reason }) => [nodeId, reason])).toEqual(
      all.notInContext.flatMap(({ nodeId, rank, reason }) =>
        (rank ?? 99) <= 20 ? [[nodeId, reason]] : [],
      ),
    );
    const [inside, outside] = [true, false].map(
      (is) => kept.receipt.candidates.find(({ inContext }) => inContext === is)!.nodeId,
    );
    const { requestId } = lean.metadata;
    const cite = (id: Uuid) =>
      engine.recordAnswerCitations({ requestId, answerId: "a", citedNodeIds: [id] }, "ada");
    expect((await cite(inside!)).contextSha256).toBe(sha256Hex(lean.bundle.renderedContext));
    expect(cite(outside!)).rejects.toMatchObject({ code: "bad_citation" });
    expect((await engine.listRetrievals({ userId: "ada" })).retrievals[1]).toMatchObject({
      resultCount: 25,
      contextCount: packed.size,
    });
    const bodies = readRaw<{ body: Uint8Array }>(pack, "SELECT body FROM receipts ORDER BY key");
    const [small, large] = bodies.map(({ body }) => body);
    expect(small!.length).toBeLessThan(2000);
    expect(large!.length).toBeGreaterThan(2 * small!.length);
    expect([small!, large!].map(isReceiptWhole)).toEqual([true, true]);
  });

  test("is there for whoever opens the pack next", async () => {
    const { engine, pack } = await engines.open();
    await talk(engine);
    const { metadata } = await engine.retrieve({ query: "tea", userId: "ada" });
    await engine.close();
    const { engine: next } = await engines.open({ pack });
    const kept = await next.getRetrievalReceipt(metadata.requestId, "ada");
    expect(kept?.receipt.query).toBe("tea");
    expect(await next.getRetrievalReceipt(metadata.requestId, "eve")).toBeUndefined();
  });

  test("is missed by nobody when it cannot be written", async () => {
    const { engine, warnings } = await engines.open({
      alter: () => ({ saveReceipt: () => Promise.reject(new SvcError("disk_full", "full")) }),
    });
    await talk(engine);
    const first = await engine.retrieve({ query: "tea", userId: "ada" });
    expect(first.results.length).toBeGreaterThan(0);
    expect(await engine.getRetrievalReceipt(first.metadata.requestId, "ada")).toBeUndefined();
    const second = await engine.retrieve({ query: "tea", userId: "ada" });
    expect(second.bundle.renderedContext).toBe(first.bundle.renderedContext);
    expect(second.metadata.receiptPersisted).toBeFalse();
    expect(warnings[0]).toContain("was not written (disk_full)");
  });

  test("is waited for by one answer when the store hangs", async () => {
    const gate = Promise.withResolvers<void>();
    const { engine } = await engines.open({
      answerMs: 500,
      alter: () => ({ saveReceipt: () => gate.promise.then(() => true) }),
    });
    await talk(engine);
    for (const query of QUESTIONS) {
      expect(await engine.retrieve({ query, userId: "ada" })).toBeDefined();
    }
    gate.resolve();
  }, 120_000);
});
