import { describe, expect, test } from "bun:test";
import { isLean } from "../../../src/domain/records/receipt.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { fullReceipt, useEngines } from "../engines.ts";
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

describe("the receipt of an answer", () => {
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
});
