import { describe, expect, test } from "bun:test";
import type { FastIngestItem } from "../../../src/engine/write/api.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

const REQUEST = "0190A000-0000-7000-8000-00000000ABCD";

const ITEMS: readonly FastIngestItem[] = [
  { content: "one", role: "user", speaker: " Ann ", sessionId: "s", metadata: { b: 1, a: 2 } },
  { content: "two", role: "assistant", scope: "project", eventTime: "2026-01-01T02:00:00+02:00" },
  { content: "two" },
];

describe("fast ingest", () => {
  test("admits durably and leaves the work for later", async () => {
    const embedder = wordEmbedder();
    const { engine } = await open({ embedder });

    const id = await engine.ingestFast({ content: "I like tea", userId: "ada" });

    expect(embedder.documents).toEqual([]);
    expect(await engine.processingStatus(id, "ada")).toMatchObject({
      status: "pending",
      attempts: 0,
    });
    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 0, eventCount: 1 });
    expect(await engine.processPending({ userId: "ada" })).toEqual({
      processed: 1,
      pending: 0,
      failed: 0,
    });
    expect(await engine.getNode(id)).toMatchObject({ id, content: "I like tea", nodeType: "note" });
  });

  test("of many returns ids in input order; equal items are events of their own", async () => {
    const { engine } = await open();

    const ids = await engine.ingestFastMany({ items: ITEMS, userId: "ada" });

    const events = await Promise.all(ids.map((id) => engine.getEvent(id, "ada")));
    expect(events.map((event) => event?.content)).toEqual(["one", "two", "two"]);
    expect(new Set(ids).size).toBe(3);
    expect(events[0]).toMatchObject({
      metadata: { b: 1, a: 2, svc_speaker_v1: "Ann" },
      sessionId: "s",
      role: "user",
    });
    expect(events[1]).toMatchObject({
      role: "assistant",
      scope: "project",
      eventTime: "2026-01-01T00:00:00.000000Z" as never,
    });
    const times = events.map((event) => event?.timestamp ?? "");
    expect(times).toEqual([...times].sort());
    expect(new Set(times).size).toBe(3);
  });

  test("of nothing does nothing, with a request id too", async () => {
    const { engine } = await open();

    expect(await engine.ingestFastMany({ items: [], userId: "ada", requestId: REQUEST })).toEqual(
      [],
    );

    const ids = await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST });
    expect(ids).toHaveLength(3);
  });
});

describe("a repeated request", () => {
  test("returns the first call's ids and writes nothing", async () => {
    const { engine } = await open();
    const first = await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST });

    const forms = [
      REQUEST,
      REQUEST.toLowerCase(),
      `{${REQUEST}}`,
      `urn:uuid:${REQUEST}`,
      REQUEST.replaceAll("-", ""),
    ];
    for (const requestId of forms) {
      expect(await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId })).toEqual(
        first,
      );
    }

    expect(await engine.stats("ada")).toMatchObject({ eventCount: 3 });
  });

  test("is the same request when only its spelling differs", async () => {
    const { engine } = await open();
    const first = await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST });

    const again = await engine.ingestFastMany({
      items: [
        { content: "one", speaker: "Ann", sessionId: "s", metadata: { a: 2, b: 1 } },
        { content: "two", role: "assistant", scope: "project", eventTime: "2026-01-01T00:00:00Z" },
        { content: "two", metadata: null, scope: "personal", role: "user" },
      ],
      userId: "ada",
      requestId: REQUEST,
    });

    expect(again).toEqual(first);
  });

  test("made in parallel leaves one batch", async () => {
    const { engine } = await open();

    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST }),
      ),
    );

    expect(new Set(answers.map((ids) => ids.join())).size).toBe(1);
    expect(await engine.stats("ada")).toMatchObject({ eventCount: 3 });
  });

  test("is remembered when the pack is opened again", async () => {
    const first = await open();
    const input = { items: ITEMS, userId: "ada", requestId: REQUEST };
    const ids = await first.engine.ingestFastMany(input);
    await first.engine.close();

    const { engine } = await open({ pack: first.pack });

    expect(await engine.ingestFastMany(input)).toEqual(ids);
  });

  test("belongs to its owner", async () => {
    const { engine } = await open();
    const ofAda = await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST });

    const ofBob = await engine.ingestFastMany({
      items: [{ content: "other" }],
      userId: "bob",
      requestId: REQUEST,
    });

    expect(ofBob).toHaveLength(1);
    expect(ofAda).not.toContain(ofBob[0] ?? asUuid(""));
  });

  const CHANGES: readonly { name: string; items: readonly FastIngestItem[] }[] = [
    { name: "another order", items: [...ITEMS].reverse() },
    { name: "fewer items", items: ITEMS.slice(0, 2) },
    { name: "more items", items: [...ITEMS, { content: "three" }] },
    { name: "another text", items: [{ ...ITEMS[0], content: "One" }, ...ITEMS.slice(1)] },
    {
      name: "another role",
      items: [{ ...ITEMS[0], content: "one", role: "human" }, ...ITEMS.slice(1)],
    },
    {
      name: "another speaker",
      items: [{ ...ITEMS[0], content: "one", speaker: "Bo" }, ...ITEMS.slice(1)],
    },
    {
      name: "another session",
      items: [{ ...ITEMS[0], content: "one", sessionId: "t" }, ...ITEMS.slice(1)],
    },
    {
      name: "another scope",
      items: [{ ...ITEMS[0], content: "one", scope: "agent" }, ...ITEMS.slice(1)],
    },
    {
      name: "other metadata",
      items: [{ ...ITEMS[0], content: "one", metadata: { a: 2 } }, ...ITEMS.slice(1)],
    },
    {
      name: "another time",
      items: [{ ...ITEMS[0], content: "one", eventTime: "2026-01-01T00:00Z" }, ...ITEMS.slice(1)],
    },
  ];

  test.each(CHANGES)("with $name is a conflict and stores nothing", async ({ items }) => {
    const { engine } = await open();
    await engine.ingestFastMany({ items: ITEMS, userId: "ada", requestId: REQUEST });

    const call = engine.ingestFastMany({ items, userId: "ada", requestId: REQUEST });

    expect(call).rejects.toMatchObject({
      code: "request_conflict",
      data: { request_id: REQUEST.toLowerCase() },
    });
    await call.catch(() => {});
    expect(await engine.stats("ada")).toMatchObject({ eventCount: 3 });
  });
});
