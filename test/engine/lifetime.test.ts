import { describe, expect, test } from "bun:test";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { planStore } from "../../src/engine/write/plan.ts";
import { uuidV7 } from "../../src/lib/hashing.ts";
import type { Embedder } from "../../src/ports/models.ts";
import { anAdmission, aPlan } from "../contract/samples.ts";
import { openSqlitePack } from "../contract/sqlite-pack.ts";
import { until } from "../until.ts";
import { DEFAULT_SETTINGS, testClock, useEngines, wordEmbedder } from "./engines.ts";

const { open, newPack } = useEngines();

function planned(content: string) {
  return planStore(
    { content, userId: "ada", nodeType: "fact", retrievalContent: `${content} in short` },
    { now: testClock().now(), eventId: uuidV7(), nodeId: uuidV7(), settings: DEFAULT_SETTINGS },
  );
}

describe("opening", () => {
  test("finishes a store that crashed after its event was safe, exactly as it was meant", async () => {
    const pack = newPack();
    const embedder = wordEmbedder();
    const store = await openSqlitePack(pack, { embedding: embedder.identity });
    const { event, node } = planned("I like green tea");
    await store.admit(anAdmission([event], { plans: [aPlan(event, node)] }));
    await store.close();

    const { engine } = await open({ pack, embedder });
    await until(async () => (await engine.processingStatus(event.id))?.status === "complete");

    expect(await engine.getNode(node.id, { userId: "ada" })).toEqual(node);
    expect((await engine.retrieve({ query: "short", userId: "ada" })).results).toMatchObject([
      { node: { id: node.id, content: "I like green tea in short" } },
    ]);
  });

  test("finishes the work of every owner, in the background", async () => {
    const first = await open();
    const owners = ["ada", "bob", "eve"];
    for (const userId of owners) {
      await first.engine.ingestFastMany({
        items: Array.from({ length: 20 }, (_, index) => ({ content: `note ${index}` })),
        userId,
      });
    }
    await first.engine.close();

    const { engine, store } = await open({ pack: first.pack });
    await until(async () => (await store.countJobs(ALL_OWNERS)).pending === 0);

    for (const userId of owners) {
      expect(await engine.stats(userId)).toMatchObject({ nodeCount: 20, eventCount: 20 });
    }
  });

  test("gives up on work that keeps failing, which stays pending", async () => {
    const first = await open();
    await first.engine.ingestFast({ content: "tea", userId: "ada" });
    await first.engine.close();
    let tries = 0;
    const embedder = wordEmbedder({
      embedDocument: async () => {
        tries += 1;
        throw new Error("never");
      },
    });

    const { store } = await open({ pack: first.pack, embedder });
    await until(async () => (await store.countJobs("ada")).failed === 1);
    await Bun.sleep(50);

    expect(tries).toBe(1);
    expect(await store.countJobs("ada")).toEqual({ pending: 1, failed: 1 });
  });
});

describe("closing", () => {
  test("finishes the calls that have begun", async () => {
    const { engine, pack } = await open();
    const stores = Array.from({ length: 20 }, (_, index) =>
      engine.store({ content: `note ${index}`, userId: "ada" }),
    );

    await engine.close();

    const ids = await Promise.all(stores);
    const again = await open({ pack });
    expect(await again.engine.stats("ada")).toMatchObject({ nodeCount: 20, eventCount: 20 });
    expect((await again.engine.processingStatus(ids[19] ?? ""))?.status).toBe("complete");
  });

  test("closes the model once, however often it is asked for", async () => {
    let closed = 0;
    const embedder: Embedder = wordEmbedder({
      close: async () => {
        closed += 1;
      },
    });
    const { engine } = await open({ embedder });

    await Promise.all([engine.close(), engine.close()]);
    await engine.close();

    expect(closed).toBe(1);
  });

  test("does not wait for a long queue of pending work", async () => {
    const first = await open();
    await first.engine.ingestFastMany({
      items: Array.from({ length: 400 }, (_, index) => ({ content: `note ${index}` })),
      userId: "ada",
    });
    await first.engine.close();
    const quick = wordEmbedder();
    let embedded = 0;
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        embedded += 1;
        await Bun.sleep(20);
        return quick.embedDocument(text);
      },
    });
    const { engine } = await open({ pack: first.pack, embedder });

    await engine.close();

    expect(embedded).toBeLessThan(20);
    const again = await open({ pack: first.pack });
    expect(await again.engine.processPending({ budgetMs: 60_000 })).toMatchObject({ pending: 0 });
    expect(await again.engine.stats("ada")).toMatchObject({ nodeCount: 400 });
  });
});
