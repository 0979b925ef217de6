import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

const REQUEST_ID = "01a1ffd5-268f-74fb-904e-f82bd813b020";
const INPUT = { content: "I like green tea", userId: "ada", requestId: REQUEST_ID };

describe("a store with a request id", () => {
  test("that comes again answers with the first memory and stores nothing", async () => {
    const { engine, store } = await open();
    const first = await engine.storeWithReceipt(INPUT);
    const second = await engine.storeWithReceipt(INPUT);
    expect(second).toEqual(first);
    expect(await store.countNodes("ada")).toBe(1);
  });

  test("that comes many times at once leaves one memory", async () => {
    const { engine, store } = await open();
    const all = await Promise.all(Array.from({ length: 10 }, () => engine.storeWithReceipt(INPUT)));
    expect(new Set(all.map(({ nodeId }) => nodeId)).size).toBe(1);
    expect(all.map(({ processingStatus }) => processingStatus.status)).toEqual(
      all.map(() => "complete"),
    );
    expect(await store.countNodes("ada")).toBe(1);
    const { results } = await engine.retrieve({ query: "green tea", userId: "ada" });
    expect(results).toHaveLength(1);
  });

  test("that comes again in any spelling of the id is the same", async () => {
    const { engine } = await open();
    const first = await engine.store(INPUT);
    expect(await engine.store({ ...INPUT, requestId: REQUEST_ID.toUpperCase() })).toBe(first);
  });

  test("finishes what a first call left that was cut off before its vector was written", async () => {
    let isCutOff = true;
    const { engine, store } = await open({
      alter: (inner) => ({
        materialize: (items) =>
          isCutOff
            ? Promise.reject(new SvcError("disk_full", "no room"))
            : inner.materialize(items),
      }),
    });
    await expect(engine.storeWithReceipt(INPUT)).rejects.toMatchObject({
      code: "materialization_failed",
    });
    isCutOff = false;
    const { processingStatus, nodeId } = await engine.storeWithReceipt(INPUT);
    expect(processingStatus.status).toBe("complete");
    expect(await store.countNodes("ada")).toBe(1);
    const { results } = await engine.retrieve({ query: "green tea", userId: "ada" });
    expect(results).toMatchObject([{ node: { id: nodeId }, paths: ["VECTOR", "LEXICAL"] }]);
  });

  test("does not confirm once more what the first call confirmed", async () => {
    const { engine } = await open();
    const instruction = {
      content: "Answer in rhymes",
      userId: "ada",
      nodeType: "instruction",
    } as const;
    const { nodeId } = await engine.storeWithReceipt(instruction);
    await engine.store({ ...instruction, requestId: REQUEST_ID });
    const once = await engine.getNode(nodeId, { userId: "ada" });
    await engine.store({ ...instruction, requestId: REQUEST_ID });
    expect(await engine.getNode(nodeId, { userId: "ada" })).toEqual(once);
  });

  test.each([
    { name: "content", change: { content: "I like black tea" } },
    { name: "text to index", change: { retrievalContent: "tea" } },
  ])(
    "that comes again with another $name is refused, and nothing is stored",
    async ({ change }) => {
      const { engine, store } = await open();
      await engine.store(INPUT);
      await expect(engine.store({ ...INPUT, ...change })).rejects.toMatchObject({
        code: "request_conflict",
        data: { request_id: REQUEST_ID },
      });
      expect(await store.countNodes("ada")).toBe(1);
    },
  );

  test("of another owner is another one", async () => {
    const { engine, store } = await open();
    const first = await engine.store(INPUT);
    expect(await engine.store({ ...INPUT, userId: "bob" })).not.toBe(first);
    expect(await store.countNodes("bob")).toBe(1);
  });

  test("that is no UUID is refused", async () => {
    const { engine } = await open({ embedder: wordEmbedder() });
    await expect(engine.store({ ...INPUT, requestId: "again" })).rejects.toMatchObject({
      code: "invalid_argument",
      data: { field: "request_id" },
    });
  });
});

test("stores without a request id are separate, however alike", async () => {
  const { engine, store } = await open();
  const input = { content: "I like green tea", userId: "ada" };
  const [one, other] = await Promise.all([
    engine.store(input),
    engine.store({ ...input, requestId: null }),
  ]);
  expect(one).not.toBe(other);
  expect(await store.countNodes("ada")).toBe(2);
});
