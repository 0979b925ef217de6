import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { REAL_MODEL, useEngines, wordEmbedder } from "../engines.ts";
import { KEY, logOf, NOBODY, recordOf, refusal, remember, reread } from "../lifecycle/memories.ts";

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

const NEW = { userId: "ada", content: "the blue kayak is new" } as const satisfies StoreInput;

describe("a store with supersedes", () => {
  test("replaces every memory it names, each once, and none is found afterwards", async () => {
    const { engine, store } = await open();
    const [one, two] = [
      await remember(engine, "the red kayak"),
      await remember(engine, "the old kayak"),
    ];
    const supersedes = [one.id, two.id, one.id.toUpperCase()];
    const { nodeId, near } = await engine.storeWithReceipt({ ...NEW, supersedes });
    for (const { id } of [one, two]) {
      expect(await reread(engine, id)).toMatchObject({
        lifecycleState: "superseded",
        supersededBy: nodeId,
      });
      const [operation] = await logOf(store, id);
      expect(operation).toMatchObject({ opType: "SUPERSEDENCE_APPLIED", actorId: "ada" });
      expect(recordOf(operation!)).toMatchObject({ replacement: { id: nodeId }, after: { id } });
    }
    expect(near).toEqual([]);
    const { results } = await engine.retrieve({ userId: "ada", query: "kayak" });
    expect(results.map(({ node }) => node.id)).toEqual([nodeId]);
    expect(await engine.chain(nodeId, { direction: "backward" })).toHaveLength(1);
    // The same replacement, asked for again, is a retry.
    await engine.supersede(one.id, nodeId, { userId: "ada" });
  });

  test.each([
    { name: "an unknown memory", code: "not_found", id: async () => NOBODY },
    {
      name: "a memory of another owner",
      code: "not_found",
      id: async (engine) => (await remember(engine, "kayak", { userId: "bob" })).id,
    },
    {
      name: "a memory of another scope",
      code: "invalid_argument",
      id: async (engine) => (await remember(engine, "kayak", { scope: "project" })).id,
    },
    {
      name: "an archived memory",
      code: "invalid_transition",
      id: async (engine) => {
        const { id } = await remember(engine, "kayak");
        await engine.archive(id);
        return id;
      },
    },
    { name: "no id", code: "invalid_argument", id: async () => "kayak" },
  ] satisfies readonly {
    name: string;
    code: string;
    id: (engine: Awaited<ReturnType<typeof open>>["engine"]) => Promise<string>;
  }[])("that names $name stores nothing and replaces nothing", async ({ code, id }) => {
    const { engine, store } = await open();
    const good = await remember(engine, "the red kayak");
    const bad = await id(engine);
    const before = [await store.countEvents(ALL_OWNERS), await store.countNodes(ALL_OWNERS)];
    const refused = await refusal(engine.store({ ...NEW, supersedes: [good.id, bad] }));
    expect<string>(refused.code).toBe(code);
    expect([await store.countEvents(ALL_OWNERS), await store.countNodes(ALL_OWNERS)]).toEqual(
      before,
    );
    expect((await reread(engine, good.id)).lifecycleState).toBe("tentative");
    expect(await logOf(store, good.id)).toEqual([]);
  });

  test("names at most 16 memories", async () => {
    const { engine } = await open();
    const supersedes = Array.from({ length: 17 }, (_, n) => `${KEY.slice(0, -2)}${10 + n}`);
    expect((await refusal(engine.store({ ...NEW, supersedes }))).message).toBe(
      "supersedes: names 17 memories, at most 16",
    );
  });

  test("that is repeated under its request id changes nothing; with others it is refused", async () => {
    const { engine, store } = await open();
    const [one, two] = [await remember(engine, "red kayak"), await remember(engine, "old kayak")];
    const input = { ...NEW, supersedes: [one.id], requestId: KEY };
    const answers = await Promise.all([
      engine.storeWithReceipt(input),
      engine.storeWithReceipt(input),
    ]);
    expect(answers[1].nodeId).toBe(answers[0].nodeId);
    expect(await logOf(store, one.id)).toHaveLength(1);
    const refused = await refusal(engine.store({ ...input, supersedes: [two.id] }));
    expect(refused.code).toBe("request_conflict");
  });

  test("is replaced by one of two that race, and the other stores nothing", async () => {
    const { engine, store } = await open();
    const { id } = await remember(engine, "the red kayak");
    const calls = ["blue", "green"].map((colour) =>
      engine.store({ userId: "ada", content: `the ${colour} kayak`, supersedes: [id] }),
    );
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await store.countEvents("ada")).toBe(2);
  });

  test("whose job a crash left behind keeps what it replaced when the job is done", async () => {
    const { engine, store, pack } = await open({
      alter: () => ({ materialize: () => Promise.reject(new Error("crash")) }),
    });
    const old = await engine.storeWithReceipt(NEW).catch(() => undefined);
    expect(old).toBeUndefined();
    const [{ id } = { id: NOBODY }] = await store.queryNodes({
      owner: "ada",
      lifecycleStates: ["tentative"],
      oldestFirst: true,
      limit: 1,
    });
    await engine.store({ ...NEW, content: "the green kayak", supersedes: [id] }).catch(() => {});
    await engine.close();
    const again = await open({ pack });
    await again.engine.processPending();
    const { results } = await again.engine.retrieve({ userId: "ada", query: "kayak" });
    expect(results.map(({ node }) => node.content)).toEqual(["the green kayak"]);
    expect((await reread(again.engine, id)).lifecycleState).toBe("superseded");
  });
});

/** The near memories of one more store of ada. */
async function nearOf(engine: MemoryEngine, content: string, given: object = {}) {
  const { near } = await engine.storeWithReceipt({
    userId: "ada",
    content,
    ...given,
  });
  return near?.map(({ node, identical }) => [node.content, identical]);
}

describe("a store answers with the memories that it may replace", () => {
  test("nearest first, at most three, by the model that ships", async () => {
    const { engine } = await open({ embedder: REAL_MODEL });
    for (const text of [
      "Tom lives in Oslo",
      "The washing machine is from 2019",
      "Eva plays the cello",
    ]) {
      await remember(engine, text);
    }
    const { near } = await engine.storeWithReceipt({
      userId: "ada",
      content: "Tom moved to Bergen last month",
    });
    expect(near?.map(({ node, identical }) => [node.content, identical])).toEqual([
      ["Tom lives in Oslo", false],
    ]);
    expect(near?.[0]?.similarity).toBeCloseTo(0.78, 1);
    expect(await nearOf(engine, "The contract ends in October")).toEqual([]);
    for (const floor of [1, 2, 3, 4]) await remember(engine, `The car is parked on level ${floor}`);
    expect(await nearOf(engine, "The car is parked on level 5")).toHaveLength(3);
  });

  test("from further off where the new text says that something has changed", async () => {
    const { engine } = await open({ embedder: REAL_MODEL });
    for (const text of ["Ben looks after the release notes.", "I smoke about five cigarettes."])
      await remember(engine, text);
    expect(await nearOf(engine, "I don't smoke anymore, I quit in January.")).toEqual([
      ["I smoke about five cigarettes.", false],
    ]);
    expect(await nearOf(engine, "Release notes are written by Farah from this sprint on.")).toEqual(
      [["Ben looks after the release notes.", false]],
    );
    expect(await nearOf(engine, "I no longer own a kayak.")).toEqual([]);
  });

  test("of its owner and scope only, and none that is no longer active", async () => {
    const { engine } = await open();
    const text = "the red kayak lies in the shed";
    await remember(engine, text, { userId: "bob" });
    await remember(engine, text, { scope: "project" });
    const { id } = await remember(engine, text);
    await engine.archive(id);
    expect(await nearOf(engine, text)).toEqual([]);
  });

  test("not the words of somebody else, nor the question that it answers", async () => {
    const { engine } = await open();
    const text = "the red kayak lies in the shed";
    await remember(engine, text, { speaker: "Ben" });
    await remember(engine, text, { sessionId: "s", role: "assistant" });
    expect(await nearOf(engine, text, { sessionId: "s", speaker: "Ada" })).toEqual([]);
    expect(await nearOf(engine, text, { sessionId: "s", speaker: "Ada" })).toEqual([[text, true]]);
  });

  test("and names the same text in other circumstances, composed and spaced alike", async () => {
    const { engine } = await open();
    await remember(engine, "the caf\u00e9 opens at nine");
    const given = { sessionId: "other" };
    expect(await nearOf(engine, " the cafe\u0301  opens at nine\n", given)).toEqual([
      ["the caf\u00e9 opens at nine", true],
    ]);
  });

  test("unless nobody could look", async () => {
    const blind = await open({
      alter: () => ({
        nearNodes: () => Promise.reject(new Error("secret kayak")),
      }),
    });
    expect(await nearOf(blind.engine, "the red kayak")).toBeUndefined();
    expect(blind.warnings).toEqual(["store: near memories were not looked for (Error)"]);
  });
});

describe("a text that its owner has as a memory", () => {
  const TEXT = { userId: "ada", content: "Ann drinks green tea", nodeType: "fact" } as const;
  const living = (engine: MemoryEngine) => engine.queryNodes({ userId: "ada" });

  test("is answered with that memory, which the new event confirms", async () => {
    const { engine, store } = await open();
    const first = await engine.storeWithReceipt(TEXT);
    await engine.pin(first.nodeId, true);
    const again = await engine.storeWithReceipt({ ...TEXT, content: "Ann  drinks green tea\n" });
    expect([first.duplicate, again.duplicate]).toEqual([false, true]);
    expect(again).toMatchObject({ nodeId: first.nodeId, near: [] });
    expect((await living(engine)).map(({ id }) => id)).toEqual([first.nodeId]);
    expect((await reread(engine, first.nodeId)).evidenceRefs).toEqual([
      first.eventId,
      again.eventId,
    ]);
    expect(again.node.confidence).toBeGreaterThan(first.node.confidence);
    expect(await store.countEvents("ada")).toBe(2);
  });

  test("is answered with it again by a retry, and at once by many calls", async () => {
    const { engine, store } = await open();
    const { nodeId } = await engine.storeWithReceipt(TEXT);
    const input = { ...TEXT, requestId: REQUEST_ID };
    const [one, two] = [await engine.storeWithReceipt(input), await engine.storeWithReceipt(input)];
    expect([one.nodeId, two.nodeId, two.duplicate]).toEqual([nodeId, nodeId, true]);
    expect(two.eventId).toBe(one.eventId);
    expect(await store.countEvents("ada")).toBe(2);
    await Promise.all(Array.from({ length: 5 }, () => engine.storeWithReceipt(TEXT)));
    const all = (await living(engine)).map(({ id }) => id);
    expect(all).toContain(nodeId);
    expect(await store.countEvents("ada")).toBe(7);
  });

  test("is a memory of its own in other circumstances, and when the first was retired", async () => {
    const { engine } = await open();
    const first = await engine.storeWithReceipt(TEXT);
    const others: readonly Partial<StoreInput>[] = [
      { nodeType: "note" },
      { scope: "project" },
      { sessionId: "s" },
      { speaker: "Tom" },
      { eventTime: "2026-01-01T00:00:00Z" },
      { metadata: { from: "diary" } },
      { ttlDays: 7 },
      { content: "ann drinks green tea" },
      { userId: "eve" },
    ];
    for (const other of others) {
      const { duplicate, nodeId } = await engine.storeWithReceipt({ ...TEXT, ...other });
      expect([other, duplicate, nodeId === first.nodeId]).toEqual([other, false, false]);
    }
    await engine.archive(first.nodeId);
    expect(await engine.storeWithReceipt(TEXT)).toMatchObject({ duplicate: false });
  });

  test("is said anew after something else about it: A, B, A", async () => {
    const { engine } = await open({ embedder: REAL_MODEL });
    const [bath, leeds] = ["Ann lives in Bath", "Ann lives in Leeds"];
    const first = await remember(engine, bath);
    await remember(engine, leeds);
    const back = await engine.storeWithReceipt({ userId: "ada", content: bath });
    expect(back).toMatchObject({ duplicate: false });
    expect(back.nodeId).not.toBe(first.id);
    const { results } = await engine.retrieve({ userId: "ada", query: "where does Ann live?" });
    expect(results[0]?.node.id).toBe(back.nodeId);
  });

  test("is taken in as it comes by ingest", async () => {
    const { engine, store } = await open();
    for (let count = 0; count < 2; count += 1) await engine.ingest(TEXT);
    expect(await store.countNodes("ada")).toBe(2);
  });
});
