import { describe, expect, test } from "bun:test";
import type { StoredReceipt } from "../../../src/ports/store/records.ts";
import { freshId } from "../../contract/samples.ts";
import { useEngines } from "../engines.ts";
import { ask, fillWorld, packing, readRaw, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const SECRET = "nobody may see this";

function tea(index: number) {
  return { content: `green tea ${index}`, second: index };
}

describe("the receipt of an answer", () => {
  test("can be read as soon as the answer is there, by its owner only", async () => {
    const opened = await open();
    await remember(opened, tea(1));

    const { metadata } = await ask(opened.engine, "tea");
    const id = metadata.requestId;

    expect(metadata.receiptPersisted).toBe(true);
    const [kept, anyone, foreign, other] = await Promise.all([
      opened.engine.getRetrievalReceipt(id, "ada"),
      opened.engine.getRetrievalReceipt(id),
      opened.engine.getRetrievalReceipt(id, "bob"),
      opened.engine.getRetrievalReceipt(freshId(), "ada"),
    ]);
    expect(kept?.receipt).toMatchObject({ requestId: id, userId: "ada", query: "tea" });
    expect(anyone).toEqual(kept);
    expect([foreign, other]).toEqual([undefined, undefined]);
    expect(await opened.engine.explain(id, "bob")).toBeUndefined();
  });

  test("is there for each of many who ask at once", async () => {
    const opened = await open();
    await remember(opened, ...[1, 2, 3].map(tea));

    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => ask(opened.engine, `tea ${index}`)),
    );
    const kept = await Promise.all(
      answers.map(({ metadata }) => opened.engine.getRetrievalReceipt(metadata.requestId, "ada")),
    );

    expect(answers.every(({ metadata }) => metadata.receiptPersisted)).toBe(true);
    expect(kept.map((one) => one?.receipt.query)).toEqual(
      answers.map((_, index) => `tea ${index}`),
    );
    expect(new Set(answers.map(({ metadata }) => metadata.requestId)).size).toBe(30);
  });

  test("outlives an engine that is closed right after the answer", async () => {
    const first = await open();
    await remember(first, tea(1));
    const { metadata, bundle } = await ask(first.engine, "tea");
    await first.engine.close();

    const { engine } = await open({ pack: first.pack });
    const kept = await engine.getRetrievalReceipt(metadata.requestId, "ada");

    expect(kept?.record.context.map(({ nodeId }) => nodeId as string)).toEqual(
      [...bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id),
    );
  });

  test("is written before the answer that says so", async () => {
    const order: string[] = [];
    const opened = await open({
      alter: (store) => ({
        saveReceipt: async (receipt: StoredReceipt) => {
          order.push("writing");
          const isKept = await store.saveReceipt(receipt);
          order.push("written");
          return isKept;
        },
      }),
    });
    await remember(opened, tea(1));

    const { metadata } = await ask(opened.engine, "tea");
    order.push("answer");
    const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
    order.push("read");

    expect(kept?.receipt.requestId).toBe(metadata.requestId);
    expect(order).toEqual(["writing", "written", "answer", "read"]);
  });

  test("that is not written in time holds up one answer, and no answer says that it is kept", async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await open({
      answerMs: 500,
      alter: () => ({ saveReceipt: () => gate.promise.then(() => true) }),
    });
    await remember(opened, tea(1));

    const answers = [];
    for (let round = 0; round < 5; round += 1) answers.push(await ask(opened.engine, "tea"));

    expect(answers.map(({ results }) => results.length)).toEqual([1, 1, 1, 1, 1]);
    expect(answers.map(({ metadata }) => metadata.receiptPersisted)).toEqual(Array(5).fill(false));
    gate.resolve();
  });

  test("that cannot be written leaves the answer as it is which tells so", async () => {
    let isBroken = true;
    const opened = await open({
      alter: (store) => ({
        saveReceipt: (receipt: StoredReceipt) =>
          isBroken ? Promise.reject(new Error(SECRET)) : store.saveReceipt(receipt),
      }),
    });
    await remember(opened, tea(1));
    const told = async () => {
      const { metadata, results } = await ask(opened.engine, "tea");
      const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
      return [results.length, metadata.receiptPersisted, kept !== undefined];
    };

    expect(await told()).toEqual([1, false, false]);
    expect(await told()).toEqual([1, false, false]);
    isBroken = false;
    expect(await told()).toEqual([1, true, true]);
    expect(await told()).toEqual([1, true, true]);
    expect(opened.warnings).toHaveLength(2);
    expect(opened.warnings.join()).not.toContain(SECRET);
  });

  test("is not kept where the settings keep none", async () => {
    const opened = await open({ settings: { receiptRetentionDays: 0 } });
    await remember(opened, tea(1));

    const { metadata, results } = await ask(opened.engine, "tea");

    expect(results).toHaveLength(1);
    expect(metadata.receiptPersisted).toBe(false);
    expect(await opened.engine.getRetrievalReceipt(metadata.requestId)).toBeUndefined();
    expect(readRaw(opened.pack, "SELECT key FROM receipts")).toEqual([]);
  });

  test("of an owner without memories is kept, and makes nobody an owner", async () => {
    const opened = await open();
    await remember(opened, tea(1));
    const owners = () => readRaw<{ user_id: string }>(opened.pack, "SELECT user_id FROM owners");

    const { metadata, results } = await ask(opened.engine, "tea", { userId: "stranger" });
    const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "stranger");

    expect(results).toEqual([]);
    expect(kept?.receipt).toMatchObject({ userId: "stranger", candidates: [] });
    expect(await opened.engine.getRetrievalReceipt(metadata.requestId, "ada")).toBeUndefined();
    expect(owners()).toEqual([{ user_id: "ada" }]);
    expect(await opened.engine.stats("stranger")).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("holds no text of a memory, not even in the explanation", async () => {
    const opened = await open({ settings: packing({ vectorK: 4, lexicalK: 4 }) });
    const world = await fillWorld(opened);

    const { metadata } = await ask(opened.engine, "hotel", { scope: "personal", limit: 6 });
    const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
    const told = JSON.stringify([kept, await opened.engine.explain(metadata.requestId, "ada")]);

    expect(told).toContain(metadata.requestId);
    for (const { content } of Object.values(world).filter(({ content }) => content !== "Lisbon")) {
      expect(told).not.toContain(content);
    }
  });
});
