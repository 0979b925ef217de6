import { describe, expect, test } from "bun:test";
import type { NodeQuery } from "../../../src/engine/inspect/api.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  freshId,
  put,
} from "../../contract/samples.ts";
import { expectInvalid, useEngines, useOneEngine, wordEmbedder } from "../engines.ts";

const { open } = useEngines();
const refusing = useOneEngine();
const UNKNOWN = "01900000-0000-7000-8000-ffffffffffff";

describe("a node", () => {
  test("is read in any spelling of its id, by its owner", async () => {
    const { engine } = await open();
    const { node } = await engine.storeWithReceipt({ content: "tea", userId: "ada" });

    const spellings = [node.id, node.id.toUpperCase(), `{${node.id}}`, node.id.replaceAll("-", "")];
    for (const id of spellings) expect(await engine.getNode(id, { userId: "ada" })).toEqual(node);

    expect(await engine.getNode(node.id)).toEqual(node);
    expect(await engine.getNode(node.id, { userId: "bob" })).toBeUndefined();
    expect(await engine.getNode(UNKNOWN)).toBeUndefined();
  });

  test("that is retired is read only on request", async () => {
    const { engine, store } = await open();
    for (const lifecycleState of ["superseded", "deprecated", "archived"] as const) {
      const [node] = await put(store, { lifecycleState });
      const id = node?.id ?? "";

      expect(await engine.getNode(id)).toBeUndefined();
      expect(await engine.getNode(id, { includeSuperseded: true })).toEqual(node);
      expect(await engine.getNode(id, { includeSuperseded: true, userId: "bob" })).toBeUndefined();
    }
  });

  test.each([
    { name: "node", call: "getNode" as const, field: "node_id" },
    { name: "event", call: "getEvent" as const, field: "event_id" },
    { name: "status", call: "processingStatus" as const, field: "event_id" },
  ])("and a malformed id of a $name is an error", async ({ call, field }) => {
    await expectInvalid(refusing()[call]("not-an-id"), { field });
  });
});

describe("a query for nodes", () => {
  test("shows active nodes, newest first, at most 100, of every owner unless one is named", async () => {
    const { engine, store } = await open();
    await put(
      store,
      { content: "inactive", lifecycleState: "archived", second: 500 },
      ...Array.from({ length: 101 }, (_, second) => ({ content: `n${second}`, second })),
      { content: "of bob", userId: "bob", second: 200 },
    );

    const all = await engine.queryNodes();

    expect(all).toHaveLength(100);
    expect(all.slice(0, 2).map(({ content }) => content)).toEqual(["of bob", "n100"]);
    expect(await engine.queryNodes({ userId: "bob" })).toHaveLength(1);
    expect(await engine.queryNodes({ limit: 0 })).toEqual([]);
    expect(await engine.queryNodes({ limit: 1000, userId: "ada" })).toHaveLength(101);
    expect(await engine.queryNodes({ lifecycleStates: [] })).toEqual([]);
    expect(await engine.queryNodes({ lifecycleStates: ["archived"] })).toHaveLength(1);
  });

  const FOUND: readonly (readonly [asked: NodeQuery, found: string])[] = [
    [{ userId: "bob" }, "noon"],
    [{ nodeType: "fact" }, "tea"],
    [{ scope: "project" }, "100%"],
    [{ scopes: ["project", "agent"] }, "100%"],
    [{ sessionIds: ["s1", "none"] }, "tea"],
    [{ validAt: at(5) }, "noon tea"],
    [{ minConfidence: 0.9 }, "tea"],
    [{ minSalience: 0.9 }, "100%"],
    [{ contentContainsAny: ["0%", "TEA"] }, "100% tea"],
    [{ createdBefore: at(2) }, "100% tea"],
    [{ oldestFirst: true, limit: 2 }, "tea 100%"],
    [{ sessionIds: [], scopes: [], contentContainsAny: [], scope: null }, "noon 100% tea"],
  ];

  test("finds what passes", async () => {
    const { engine, store } = await open();
    const [low, high] = [
      { confidence: 0.1, salience: 0.1 },
      { confidence: 0.9, salience: 0.9 },
    ];
    await put(
      store,
      { ...low, confidence: 0.9, content: "tea", nodeType: "fact", sessionId: "s1", second: 1 },
      { ...high, confidence: 0.8, content: "100%", scope: "project", second: 2, validTo: at(5) },
      { ...low, content: "noon", userId: "bob", sessionId: "S1", second: 3 },
    );
    for (const [asked, found] of FOUND) {
      const contents = (await engine.queryNodes(asked)).map(({ content }) => content);
      expect([asked, contents.join(" ")]).toEqual([asked, found]);
    }
  });

  test("asks for one scope and for several at once: both have to hold", async () => {
    const { engine, store } = await open();
    await put(store, { content: "at work", scope: "project" }, { content: "at home" });
    const contents = async (asked: NodeQuery) =>
      (await engine.queryNodes(asked)).map(({ content }) => content);

    expect(await contents({ scope: "project", scopes: ["project", "agent"] })).toEqual(["at work"]);
    expect(await contents({ scope: "project", scopes: ["personal"] })).toEqual([]);
    expect(await contents({ scope: "project", scopes: [] })).toEqual(["at work"]);
    // SAFETY: a wrong scope is what is tested.
    const wrong = { scope: "project", scopes: ["galaxy"] } as unknown as NodeQuery;
    await expectInvalid(engine.queryNodes(wrong), { field: "scopes" });
  });

  const WRONG: readonly {
    name: string;
    query: Readonly<Record<string, unknown>>;
    field: string;
  }[] = [
    { name: "a blank owner", query: { userId: "" }, field: "user_id" },
    { name: "an unknown type", query: { nodeType: "idea" }, field: "node_type" },
    { name: "an empty type", query: { nodeType: "" }, field: "node_type" },
    { name: "an unknown scope", query: { scope: "galaxy" }, field: "scope" },
    { name: "an unknown scope in a list", query: { scopes: ["personal", "x"] }, field: "scopes" },
    { name: "scopes that are no list", query: { scopes: "personal" }, field: "scopes" },
    { name: "sessions that are no list", query: { sessionIds: "s" }, field: "session_ids" },
    { name: "a session that is no text", query: { sessionIds: [1] }, field: "session_ids" },
    { name: "an unknown state", query: { lifecycleStates: ["dead"] }, field: "lifecycle_states" },
    { name: "a naive moment", query: { validAt: "2026-01-01T00:00" }, field: "valid_at" },
    { name: "a confidence above 1", query: { minConfidence: 2 }, field: "min_confidence" },
    { name: "a salience of NaN", query: { minSalience: Number.NaN }, field: "min_salience" },
    {
      name: "parts that are no list",
      query: { contentContainsAny: "a" },
      field: "content_contains_any",
    },
    { name: "a malformed moment", query: { createdBefore: "soon" }, field: "created_before" },
    { name: "a limit above 1000", query: { limit: 1001 }, field: "limit" },
    { name: "a negative limit", query: { limit: -1 }, field: "limit" },
    { name: "half a limit", query: { limit: 1.5 }, field: "limit" },
    { name: "an order that is no boolean", query: { oldestFirst: "yes" }, field: "oldest_first" },
  ];

  test.each(WRONG)("refuses $name", async ({ query, field }) => {
    // SAFETY: wrong types are what is tested.
    await expectInvalid(refusing().queryNodes(query as NodeQuery), { field });
  });
});

describe("a query for events", () => {
  test("pages from newest to oldest", async () => {
    const { engine } = await open();
    const items = ["a", "b", "c"].map((content) => ({ content, sessionId: content }));
    await engine.ingestFastMany({ items, userId: "ada" });

    const page = async (given: object) =>
      (await engine.getEvents({ userId: "ada", ...given })).map(({ content }) => content);

    expect(await page({})).toEqual(["c", "b", "a"]);
    expect(await page({ limit: 1, offset: 1 })).toEqual(["b"]);
    expect(await page({ sessionId: "a" })).toEqual(["a"]);
    expect(await page({ scopes: ["agent"] })).toEqual([]);
    expect(await page({ userId: "bob" })).toEqual([]);
  });

  test.each([
    { name: "a blank owner", query: { userId: " " }, field: "user_id" },
    { name: "a negative offset", query: { userId: "ada", offset: -1 }, field: "offset" },
    { name: "a limit above 1000", query: { userId: "ada", limit: 1001 }, field: "limit" },
  ])("refuses $name", async ({ query, field }) => {
    await expectInvalid(refusing().getEvents(query), { field });
  });
});

describe("statistics", () => {
  test("count active nodes and events, of one owner or of all", async () => {
    const { engine, store } = await open();
    await engine.store({ content: "tea", userId: "ada" });
    await engine.ingestFast({ content: "tea", userId: "bob" });
    await put(store, { lifecycleState: "archived", vector: await wordEmbedder().embedQuery("x") });

    expect(await engine.stats("ada")).toEqual({
      nodeCount: 1,
      eventCount: 2,
      backend: "sqlite",
      details: {
        changeSequence: expect.any(String),
        bytes: undefined,
        encrypted: false,
        readOnly: false,
        model: (await store.manifest()).embedding,
        states: { archived: 1, tentative: 1 },
        jobs: { pending: 0, failed: 0 },
        extractions: { pending: 0, failed: 0 },
        embeddings: undefined,
        receipts: 0,
        blobs: { count: 0, bytes: 0 },
      },
    });
    const all = await engine.stats();
    expect(all).toMatchObject({ nodeCount: 1, eventCount: 3 });
    expect(all.details?.bytes).toBeGreaterThan(0);
    expect(await engine.stats("nobody")).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("read 0 for a count that fails, and say so", async () => {
    const { engine, warnings } = await open({
      alter: () => ({ countNodes: () => Promise.reject(new Error("no")) }),
    });
    await engine.store({ content: "tea", userId: "ada" });

    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 0, eventCount: 1 });
    expect(warnings).toContain("stats: a count failed");
  });
});

test("a blank owner is refused by every read of one object", async () => {
  const { engine } = await open();
  const id = "01900000-0000-7000-8000-000000000001";

  await expectInvalid(engine.getNode(id, { userId: " " }), { field: "user_id" });
  await expectInvalid(engine.getEvent(id, " "), { field: "user_id" });
  await expectInvalid(engine.processingStatus(id, " "), { field: "user_id" });
});

test("null for all options of a call counts as absent", async () => {
  const { engine } = await open();
  const { node } = await engine.storeWithReceipt({ content: "tea", userId: "ada" });
  // SAFETY: callers without types pass null.
  const none = null as unknown as undefined;

  expect(await engine.getNode(node.id, none)).toEqual(node);
  expect(await engine.queryNodes(none)).toEqual([node]);
  expect(await engine.neighborhood(node.id, none)).toEqual([]);
  expect(await engine.chain(node.id, none)).toEqual([]);
  expect((await engine.getProvenance(node.id, none))?.node).toEqual(node);
  expect((await engine.processPending(none)).processed).toBe(0);
  expect((await engine.promote(node.id, none)).lifecycleState).toBe("stable");
});

test("memories of an event are all that cite it, retired ones too, by id", async () => {
  const { engine, store } = await open();
  const event = anEvent();
  // The raw note of an event has the id of the event, which is lower than the others.
  const raw = aNode(event, { id: event.id });
  const later = [
    aNode(anEvent(), { lifecycleState: "archived" }),
    aNode(anEvent(), { lifecycleState: "superseded" }),
    aNode(anEvent({ userId: "bob" })),
  ].map((node) => ({ ...node, evidenceRefs: [...node.evidenceRefs, event.id, event.id] }));
  const [archived, superseded] = later;
  const [unrelated] = await put(store, {});
  await store.admit(anAdmission([event]));
  await put(store, ...later.toReversed());
  await store.materialize([aMaterialization(event, raw)]);

  const found = await engine.getEventNodes(event.id, "ada");

  expect(found?.map(({ id }) => id)).toEqual(
    [raw, archived, superseded].flatMap((node) => node?.id ?? []),
  );
  expect(found?.[0]).toEqual(raw);
  expect(found?.map(({ lifecycleState }) => lifecycleState)).toEqual([
    "tentative",
    "archived",
    "superseded",
  ]);
  expect(await engine.getEventNodes(event.id.toUpperCase())).toEqual(found);
  expect(found?.some(({ id }) => id === unrelated?.id)).toBe(false);
});

test("an event without memories has none, a foreign or unknown one is not there", async () => {
  const { engine, store } = await open();
  const event = anEvent();
  await store.admit(anAdmission([event]));

  expect(await engine.getEventNodes(event.id, "ada")).toEqual([]);
  expect(await engine.getEventNodes(event.id, "bob")).toBeUndefined();
  expect(await engine.getEventNodes(freshId())).toBeUndefined();
  await expectInvalid(engine.getEventNodes("7"), { field: "event_id" });
  await expectInvalid(engine.getEventNodes(event.id, ""), { field: "user_id" });
});
