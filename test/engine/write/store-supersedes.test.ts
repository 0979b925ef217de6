import { describe, expect, test } from "bun:test";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { useEngines } from "../engines.ts";
import { KEY, logOf, NOBODY, recordOf, refusal, remember, reread } from "../lifecycle/memories.ts";

const { open } = useEngines();
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
