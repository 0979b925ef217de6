import { describe, expect, test } from "bun:test";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { type OpenedEngine, useEngines } from "./engines.ts";

const engines = useEngines();
const [KEY, OTHER_KEY, PAIR_KEY] = [
  "01900000-0000-7000-8000-00000000000a",
  "01900000-0000-7000-8000-00000000000b",
  "01900000-0000-7000-8000-00000000000c",
];

async function open(): Promise<OpenedEngine> {
  const opened = await engines.open();
  await opened.engine.store({ content: "Ada lives in Bern", userId: "ada" });
  return opened;
}

/** Everything of `from` becomes that of `into`. */
const move = (engine: MemoryEngine, from: string, into: string, isJoin = false) =>
  engine.moveOwner({ from, into, isJoin, actorId: "test" });

/** Bob gets a new name, and then becomes Ada. */
async function moveTwice(engine: MemoryEngine): Promise<void> {
  await move(engine, "bob", "rob");
  await move(engine, "rob", "ada", true);
}

const memoriesOf = (engine: MemoryEngine, userId: string) =>
  engine.queryNodes({ userId, lifecycleStates: LIFECYCLE_STATES, limit: 99 });

describe("after a move", () => {
  test("a retry of a store under the new name answers with what the first call stored", async () => {
    const { engine } = await open();
    const input = { content: "Bob has a dog", requestId: KEY };
    const first = await engine.storeWithReceipt({ ...input, userId: "bob" });
    await moveTwice(engine);
    const again = await engine.storeWithReceipt({ ...input, userId: "ada" });
    expect(again.nodeId).toBe(first.nodeId);
    expect(again.node).toEqual({ ...first.node, userId: "ada" });
    expect(again.eventId).toBe(first.eventId);
    expect(await memoriesOf(engine, "ada")).toHaveLength(2);
    const other = engine.store({ ...input, content: "Bob has a cat", userId: "ada" });
    await expect(other).rejects.toMatchObject({ code: "request_conflict" });
  });

  test("a retry of a batch under the new name admits nothing again", async () => {
    const { engine } = await open();
    const input = { items: [{ content: "Bob has a dog" }, { content: "It is old" }] };
    const first = await engine.ingestFastMany({ ...input, requestId: KEY, userId: "bob" });
    await moveTwice(engine);
    const again = await engine.ingestFastMany({ ...input, requestId: KEY, userId: "ada" });
    expect(again).toEqual(first);
    expect(await engine.getEvents({ userId: "ada", limit: 99 })).toHaveLength(3);
  });

  test("a retry under the former name, of a caller who was not told, stores nothing again", async () => {
    const { engine } = await open();
    const store = { content: "Bob has a dog", requestId: KEY, userId: "bob" };
    const batch = { items: [{ content: "It is old" }], requestId: OTHER_KEY, userId: "bob" };
    const first = await engine.storeWithReceipt(store);
    const admitted = await engine.ingestFastMany(batch);
    await moveTwice(engine);
    expect(await engine.storeWithReceipt(store)).toMatchObject({ nodeId: first.nodeId });
    expect(await engine.ingestFastMany(batch)).toEqual(admitted);
    expect(await engine.getEvents({ userId: "bob", limit: 99 })).toEqual([]);
    expect(await engine.getEvents({ userId: "ada", limit: 99 })).toHaveLength(3);
  });

  test("a retry of a change under the new name changes nothing again", async () => {
    const { engine } = await open();
    const [one, two] = [
      (await engine.storeWithReceipt({ content: "Bob has a dog", userId: "bob" })).nodeId,
      (await engine.storeWithReceipt({ content: "Bob has a cat", userId: "bob" })).nodeId,
    ];
    const promoted = await engine.promote(one, { userId: "bob", requestId: KEY });
    const reinforced = await engine.reinforce(two, { userId: "bob", requestId: OTHER_KEY });
    const [replaced] = await engine.supersede(one, two, {
      ...{ userId: "bob", requestId: PAIR_KEY },
    });
    await moveTwice(engine);
    const ada = { userId: "ada" };
    expect(await engine.promote(one, { ...ada, requestId: KEY })).toMatchObject({
      ...{ id: promoted.id, userId: "ada", lifecycleState: "superseded" },
    });
    expect(await engine.reinforce(two, { ...ada, requestId: OTHER_KEY })).toMatchObject({
      salience: reinforced.salience,
    });
    await engine.supersede(one, two, ada);
    await engine.supersede(one, two, { ...ada, requestId: PAIR_KEY });
    expect(await engine.getNode(one, { ...ada, includeSuperseded: true })).toEqual({
      ...replaced,
      userId: "ada",
    });
  });

  test("who takes a name that was given up finds nothing of who had it", async () => {
    const { engine } = await open();
    const input = { items: [{ content: "Bob has a dog" }] };
    await engine.ingestFastMany({ ...input, requestId: KEY, userId: "bob" });
    await move(engine, "bob", "rob");
    await engine.store({ content: "Another Bob has a horse", userId: "bob" });
    expect((await memoriesOf(engine, "bob")).map(({ content }) => content)).toEqual([
      "Another Bob has a horse",
    ]);
    await engine.ingestFastMany({ ...input, requestId: OTHER_KEY, userId: "bob" });
    // Rob never was the second Bob.
    await engine.ingestFastMany({ ...input, requestId: OTHER_KEY, userId: "rob" });
    expect(await engine.getEvents({ userId: "rob", limit: 99 })).toHaveLength(2);
  });

  test("a receipt is that of the new name, word for word, and citations are found with it", async () => {
    const { engine } = await open();
    await engine.store({ content: "Bob has a dog", userId: "bob" });
    const { metadata } = await engine.retrieve({ query: "what does Bob have?", userId: "bob" });
    const { requestId } = metadata;
    const kept = await engine.getRetrievalReceipt(requestId, "bob");
    const cite = (citationId: string, userId: string) =>
      engine.recordAnswerCitations({ citationId, requestId, answerId: "a" }, userId);
    const cited = await cite(KEY, "bob");
    await moveTwice(engine);

    expect(await engine.getRetrievalReceipt(requestId, "ada")).toEqual(kept);
    expect(await engine.getRetrievalReceipt(requestId, "bob")).toBeUndefined();
    expect(await engine.getAnswerCitations(KEY, "ada")).toEqual(cited);
    expect(await cite(KEY, "ada")).toEqual(cited);
    const later = await cite(OTHER_KEY, "ada");
    const all = await engine.listAnswerCitations({ userId: "ada" });
    expect(all).toEqual([cited, later]);
    expect(await engine.listAnswerCitations({ userId: "ada", afterId: KEY })).toEqual([later]);
    // Whoever has the name now is somebody else.
    expect(await engine.listAnswerCitations({ userId: "bob" })).toEqual([]);
    expect(await engine.getAnswerCitations(KEY, "bob")).toBeUndefined();
  });
});
