import { describe, expect, test } from "bun:test";
import { at } from "../../contract/samples.ts";
import { testClock, useEngines } from "../engines.ts";
import { ask, remember, runRaw } from "../retrieve/pipeline-world.ts";

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
