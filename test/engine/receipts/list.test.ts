import { describe, expect, test } from "bun:test";
import { isLean } from "../../../src/domain/records/receipt.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { at } from "../../contract/samples.ts";
import { fullReceipt, testClock, useEngines } from "../engines.ts";
import { ask, readRaw, remember, runRaw } from "../retrieve/pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

describe("retrievals", () => {
  test("are listed newest first with what came of them, page by page", async () => {
    const clock = testClock();
    const opened = await open({ clock });
    await remember(opened, { content: "green tea" }, { content: "black coffee" });
    const asked: string[] = [];
    for (const [index, query] of ["tea?", "coffee?", "water?"].entries()) {
      clock.set(at(index));
      const { metadata } = await ask(opened.engine, query, { client: ` kettle\n${index % 2} ` });
      asked.unshift(metadata.requestId);
    }
    await ask(opened.engine, "tea?", { userId: "bob" });

    const first = await opened.engine.listRetrievals({ userId: "ada", limit: 2 });
    const second = await opened.engine.listRetrievals({
      userId: "ada",
      limit: 2,
      cursor: first.nextCursor,
    });

    const all = [...first.retrievals, ...second.retrievals];
    expect(all.map(({ requestId }) => requestId as string)).toEqual(asked);
    expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, undefined]);
    expect(all[0]).toEqual({
      requestId: asked[0] as never,
      createdAt: expect.any(String) as never,
      client: "kettle 0",
      query: "water?",
      intent: expect.any(String) as never,
      resultCount: 2,
      contextCount: 2,
      tokensUsed: expect.any(Number) as never,
      timingMs: expect.any(Number) as never,
      notes: [],
      failures: {},
    });
    const count = async (query: object) =>
      (await opened.engine.listRetrievals({ userId: "ada", ...query })).retrievals.length;
    expect(await count({ client: "kettle 1" })).toBe(1);
    expect(await count({ failed: true })).toBe(0);
    expect(await count({ failed: false })).toBe(3);
    expect(await count({ timeFrom: at(1), timeTo: at(2) })).toBe(1);
  });

  test("leave out a damaged receipt with a warning, and find what lies behind it", async () => {
    const opened = await open();
    await remember(opened, { content: "green tea" });
    await ask(opened.engine, "first");
    const { metadata } = await ask(opened.engine, "second");
    const id = metadata.requestId.replaceAll("-", "");
    runRaw(opened.pack, "DROP TRIGGER receipts_never_change");
    runRaw(opened.pack, `UPDATE receipts SET body = x'00' WHERE request_id = x'${id}'`);

    const { retrievals } = await opened.engine.listRetrievals({ userId: "ada", limit: 1 });

    expect(retrievals.map(({ query }) => query)).toEqual(["first"]);
    expect(opened.warnings.join()).toContain(metadata.requestId);
  });

  test("refuse a cursor that is none", async () => {
    const { engine } = await open();

    await expect(engine.listRetrievals({ userId: "ada", cursor: "1" })).rejects.toThrow("cursor");
  });
});

test("the name of the client stands beside the receipt and changes nothing in it", async () => {
  const opened = await open();
  await remember(opened, { content: "green tea" });
  const named = await ask(opened.engine, "tea", { client: "x".repeat(500) });
  const unnamed = await ask(opened.engine, "tea", { client: " \u0007 " });
  const broken = await ask(opened.engine, "tea", { client: "a\ud800b" });

  const kept = await opened.engine.getRetrievalReceipt(named.metadata.requestId, "ada");
  const other = await opened.engine.getRetrievalReceipt(unnamed.metadata.requestId, "ada");

  expect(kept?.record.client).toBe("x".repeat(100));
  expect(other?.record.client).toBeUndefined();
  const third = await opened.engine.getRetrievalReceipt(broken.metadata.requestId, "ada");
  expect(third?.record.client).toBe("a\ufffdb");
  expect(kept?.text).not.toContain("xxx");
  expect(Object.keys(kept?.receipt ?? {})).toEqual(Object.keys(other?.receipt ?? {}));
});

test("an answer without a receipt is the same and leaves none", async () => {
  const opened = await open();
  await remember(opened, { content: "green tea" });

  const kept = await ask(opened.engine, "tea");
  const { metadata, results, bundle } = await ask(opened.engine, "tea", { keepReceipt: false });

  expect(metadata.receiptPersisted).toBe(false);
  expect(bundle.renderedContext).toBe(kept.bundle.renderedContext);
  expect(results.map(({ compositeScore }) => compositeScore)).toEqual(
    kept.results.map(({ compositeScore }) => compositeScore),
  );
  expect(await opened.engine.getRetrievalReceipt(metadata.requestId)).toBeUndefined();
  expect((await opened.engine.listRetrievals({ userId: "ada" })).retrievals).toHaveLength(1);
});

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
