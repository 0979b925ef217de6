import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

function items(count: number) {
  return Array.from({ length: count }, (_, index) => ({ content: `turn number ${index}` }));
}

describe("processing", () => {
  test("builds everything that is pending, far beyond one group", async () => {
    const { engine } = await open();
    await engine.ingestFastMany({ items: items(75), userId: "ada" });

    const result = await engine.processPending({ userId: "ada", budgetMs: 60_000 });

    expect(result).toEqual({ processed: 75, pending: 0, failed: 0 });
    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 75 });
  });

  test("embeds what nobody waits for apart from calls", async () => {
    const words = wordEmbedder();
    const later: string[] = [];
    const embedder = wordEmbedder({
      embedDocument: words.embedDocument,
      embedLater: (text) => {
        later.push(text);
        return words.embedDocument(text);
      },
    });
    const { engine } = await open({ embedder });
    await engine.store({ content: "a call", userId: "ada" });
    expect(later).toEqual([]);
    await engine.ingestFast({ content: "a backlog", userId: "ada" });
    await engine.processPending();
    expect(later).toEqual(["a backlog"]);
    await engine.storeMany({ items: [{ content: "one of few" }], userId: "ada" });
    expect(later).toHaveLength(1);
    await engine.storeMany({ items: items(17), userId: "ada" });
    expect(later).toHaveLength(18);
    await engine.rebuildIndexes({ all: true });
    expect(later).toHaveLength(38);
  });

  test("within no time only counts", async () => {
    const { engine, store } = await open();
    await engine.ingestFastMany({ items: items(3), userId: "ada" });

    expect(await engine.processPending({ budgetMs: 0 })).toEqual({
      processed: 0,
      pending: 3,
      failed: 0,
    });
    expect(await store.claimJobs("ada", 10)).toHaveLength(3);
  });

  test("stops when its time is over and goes on from there", async () => {
    const quick = wordEmbedder();
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        await Bun.sleep(15);
        return quick.embedDocument(text);
      },
    });
    const { engine } = await open({ embedder });
    await engine.ingestFastMany({ items: items(60), userId: "ada" });

    const first = await engine.processPending({ budgetMs: 1 });
    const rest = await engine.processPending({ budgetMs: 60_000 });

    expect(first.processed).toBeWithin(1, 60);
    expect(first).toEqual({ processed: first.processed, pending: 60 - first.processed, failed: 0 });
    expect(rest).toEqual({ processed: 60 - first.processed, pending: 0, failed: 0 });
  });

  test("does the named owner's work only", async () => {
    const { engine } = await open();
    await engine.ingestFastMany({ items: items(2), userId: "ada" });
    await engine.ingestFastMany({ items: items(3), userId: "bob" });

    expect(await engine.processPending({ userId: "ada" })).toEqual({
      processed: 2,
      pending: 0,
      failed: 0,
    });
    expect(await engine.processPending({ userId: "nobody" })).toEqual({
      processed: 0,
      pending: 0,
      failed: 0,
    });
    expect(await engine.processPending()).toEqual({ processed: 3, pending: 0, failed: 0 });
  });

  test("tries a failing job once a pass and the others all the same", async () => {
    const quick = wordEmbedder();
    const tries: string[] = [];
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        tries.push(text);
        if (text.includes("number 1")) throw new SvcError("embedding_failed", "no");
        return quick.embedDocument(text);
      },
    });
    const { engine } = await open({ embedder });
    const ids = await engine.ingestFastMany({ items: items(4), userId: "ada" });

    expect(await engine.processPending()).toEqual({ processed: 3, pending: 1, failed: 1 });
    expect(await engine.processPending()).toEqual({ processed: 0, pending: 1, failed: 1 });

    expect(tries.filter((text) => text.includes("number 1"))).toHaveLength(2);
    expect(await engine.processingStatus(ids[1] ?? "", "ada")).toMatchObject({
      attempts: 2,
      lastError: "embedding_failed",
    });
    expect((await engine.retrieve({ query: "number 1", userId: "ada" })).results).toHaveLength(4);
  });

  test("by several callers at once does each job once", async () => {
    const embedder = wordEmbedder();
    const { engine, pack } = await open({ embedder });
    const second = await open({ pack });
    await engine.ingestFastMany({ items: items(50), userId: "ada" });

    const results = await Promise.all(
      [engine, second.engine, engine, second.engine].map((one) =>
        one.processPending({ budgetMs: 60_000 }),
      ),
    );

    expect(results.reduce((sum, { processed }) => sum + processed, 0)).toBe(50);
    expect(await engine.processPending()).toEqual({ processed: 0, pending: 0, failed: 0 });
    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 50 });
  });

  test("leaves alone what another call still works on", async () => {
    const { engine, store } = await open();
    await store.admit(anAdmission([anEvent()], { leaseJobs: true }));

    expect(await engine.processPending()).toEqual({ processed: 0, pending: 1, failed: 0 });
  });

  test("records the failure of a group that could not be written", async () => {
    let isBroken = true;
    const { engine } = await open({
      alter: (store) => ({
        materialize: (group) =>
          isBroken ? Promise.reject(new SvcError("disk_full", "no")) : store.materialize(group),
      }),
    });
    const ids = await engine.ingestFastMany({ items: items(2), userId: "ada" });

    expect(await engine.processPending()).toEqual({ processed: 0, pending: 2, failed: 2 });
    expect(await engine.processingStatus(ids[0] ?? "")).toMatchObject({
      attempts: 1,
      lastError: "disk_full",
    });
    isBroken = false;
    expect(await engine.processPending()).toEqual({ processed: 2, pending: 0, failed: 0 });
  });

  test("of a pack with another model keeps the text findable and says why it waits", async () => {
    const first = await open();
    await first.engine.close();
    const other = wordEmbedder({ identity: { model: "other", version: "1", dimension: 64 } });

    const { engine } = await open({ pack: first.pack, embedder: other });
    const { processingStatus } = await engine.storeWithReceipt({ content: "tea", userId: "ada" });

    expect(processingStatus).toMatchObject({ status: "pending", lastError: "embedding_mismatch" });
    expect(other.documents).toEqual([]);
    expect((await engine.retrieve({ query: "tea", userId: "ada" })).results).toHaveLength(1);
  });
});

describe("a question", () => {
  test("first builds what its owner has pending", async () => {
    const { engine } = await open({ settings: { materializationBudgetMs: 10_000 } });
    await engine.ingestFast({ content: "I like tea", userId: "ada" });
    await engine.ingestFast({ content: "I like tea", userId: "bob" });

    const { results } = await engine.retrieve({ query: "tea", userId: "ada" });

    expect(results).toHaveLength(1);
    expect(await engine.processPending({ userId: "bob", budgetMs: 0 })).toMatchObject({
      pending: 1,
    });
  });

  test("waits within its budget for what another pass is at", async () => {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let looks = 0;
    const { engine } = await open({
      settings: { materializationBudgetMs: 10_000 },
      alter: (store) => ({
        materialize: async (group) => {
          begun.resolve();
          await held.promise;
          return await store.materialize(group);
        },
        countJobs: async (owner) => {
          looks += 1;
          // Other work looks, too, but not so often.
          if (looks === 8) held.resolve();
          return await store.countJobs(owner);
        },
      }),
    });
    await engine.ingestFast({ content: "I like tea", userId: "ada" });
    const pass = engine.processPending();
    await begun.promise;

    const { results } = await engine.retrieve({ query: "tea", userId: "ada" });

    expect(results).toHaveLength(1);
    held.resolve();
    await pass;
  });

  test("is answered although pending work cannot be done", async () => {
    const { engine, warnings } = await open({
      alter: () => ({
        claimJobs: () => Promise.reject(new SvcError("storage_busy", "someone writes")),
      }),
    });
    await engine.store({ content: "I like tea", userId: "ada" });
    await engine.ingestFast({ content: "I like coffee", userId: "ada" });

    const { results } = await engine.retrieve({ query: "tea", userId: "ada" });

    expect(results).toHaveLength(1);
    expect(warnings).toContain("retrieve: pending work could not be processed");
  });

  test("with a budget of no time leaves pending work alone", async () => {
    const { engine } = await open({ settings: { materializationBudgetMs: 0 } });
    await engine.ingestFast({ content: "I like tea", userId: "ada" });

    expect((await engine.retrieve({ query: "tea", userId: "ada" })).results).toEqual([]);
  });
});
