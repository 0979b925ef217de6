import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { FastIngestItem, IngestInput } from "../../../src/engine/write/api.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { expectInvalid, useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

const MESSAGE: IngestInput = { content: "I moved to Graz.", userId: "ada" };

describe("a message that is taken in", () => {
  test("is stored as a memory of its own that the next question finds", async () => {
    const { engine, deps } = await open();

    const eventId = await engine.ingest({
      ...MESSAGE,
      role: "participant",
      speaker: "Bea",
      sessionId: "s1",
      metadata: { mood: "glad" },
      eventTime: "2026-01-02T03:04:05+01:00",
      scope: "project",
      waitForExtraction: true,
    });

    const [node, ...others] = (await engine.getEventNodes(eventId, "ada")) ?? [];
    expect(others).toEqual([]);
    expect(node?.id).toBe(eventId);
    expect(node).toMatchObject({
      nodeType: "note",
      content: "I moved to Graz.",
      sessionId: "s1",
      scope: "project",
      metadata: { mood: "glad", svc_speaker_v1: "Bea" },
      eventTime: "2026-01-02T02:04:05.000000Z",
      epistemicType: "asserted",
      sourceType: "user_stated",
      confidence: 0.8,
      evidenceRefs: [eventId],
    });
    expect(await engine.getEvent(eventId)).toMatchObject({ role: "participant", userId: "ada" });
    expect(await engine.processingStatus(eventId)).toMatchObject({
      status: "complete",
      attempts: 1,
    });
    const { results } = await engine.retrieve({ query: "moved to Graz", userId: "ada" });
    expect(results.map((found) => found.node.id)).toEqual(node === undefined ? [] : [node.id]);
    expect(await deps.store.extractionJob(eventId, ALL_OWNERS)).toBeUndefined();
  });

  test("is what store would have stored", async () => {
    const { engine } = await open();
    const given = { ...MESSAGE, role: "assistant" as const, metadata: { a: 1 } };

    const ingested = await engine.ingest(given);
    const stored = await engine.store(given);

    const [first] = (await engine.getEventNodes(ingested)) ?? [];
    const [second] = (await engine.getEventNodes(stored)) ?? [];
    // Two memories at two moments, the same in all else.
    const times = ["createdAt", "updatedAt", "validFrom", "lastReinforcedAt"] as const;
    const apart = Object.fromEntries(times.map((name) => [name, "some time"]));
    const common = { ...apart, id: "some id", evidenceRefs: ["the event"] };
    expect({ ...first, ...common }).toEqual({ ...second, ...common });
  });

  test.each([
    { name: "user", role: "user" },
    { name: "human", role: "human" },
    { name: "human in another case", role: "Human" },
    { name: "nothing in particular", role: undefined },
  ])(
    "of role $name may say that its first person is the owner, on event and memory",
    async ({ role }) => {
      const { engine } = await open();

      const eventId = await engine.ingest({
        ...MESSAGE,
        role,
        firstPersonOwner: true,
        metadata: { a: 1 },
      });

      const metadata = { a: 1, svc_first_person_owner_v1: true };
      expect((await engine.getEvent(eventId))?.metadata).toEqual(metadata);
      expect(await engine.getEventNodes(eventId)).toMatchObject([{ metadata }]);
    },
  );

  test.each([
    { name: "false", firstPersonOwner: false },
    { name: "nothing", firstPersonOwner: undefined },
  ])("says nothing of the kind for $name", async ({ firstPersonOwner }) => {
    const { engine } = await open();

    const eventId = await engine.ingest({ ...MESSAGE, firstPersonOwner });

    expect((await engine.getEvent(eventId))?.metadata).toBeUndefined();
  });

  const REFUSED: readonly {
    name: string;
    given: Readonly<Record<string, unknown>>;
    field: string;
    code?: string;
  }[] = [
    {
      name: "an assistant as the owner",
      given: { role: "assistant", firstPersonOwner: true },
      field: "first_person_owner",
      code: "invalid_speaker",
    },
    {
      name: "a participant as the owner",
      given: { role: "participant", firstPersonOwner: true },
      field: "first_person_owner",
      code: "invalid_speaker",
    },
    {
      name: "a speaker beside the owner",
      given: { speaker: "Ada", firstPersonOwner: true },
      field: "first_person_owner",
      code: "invalid_speaker",
    },
    {
      name: "an owner that is text",
      given: { firstPersonOwner: "true" },
      field: "first_person_owner",
    },
    { name: "an owner that is 1", given: { firstPersonOwner: 1 }, field: "first_person_owner" },
    {
      name: "waiting that is text",
      given: { waitForExtraction: "yes" },
      field: "wait_for_extraction",
    },
    ...["svc_first_person_owner_v1", "svc_speaker_v1", "svc_value_bindings_v1"].map((key) => ({
      name: `the reserved key ${key}`,
      given: { metadata: { [key]: true } },
      field: `metadata.${key}`,
      code: "invalid_speaker",
    })),
  ];

  test.each(REFUSED)("is refused for $name, and nothing is stored", async ({ given, ...error }) => {
    const { engine } = await open();

    // SAFETY: wrong types are what is tested.
    await expectInvalid(engine.ingest({ ...MESSAGE, ...given } as IngestInput), error);

    expect(await engine.stats()).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("names its event when it is safe but could not be finished", async () => {
    const failure = new SvcError("storage_busy", "held by a test");
    const { engine } = await open({
      alter: () => ({ materialize: () => Promise.reject(failure) }),
    });

    const error = await engine.ingest(MESSAGE).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      code: "materialization_failed",
      data: { reason_code: "storage_busy" },
    });
    const [event] = await engine.getEvents({ userId: "ada" });
    expect(error).toMatchObject({ data: { event_id: event?.id } });
  });
});

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

  const CHANGES = (
    [
      ["another order", [...ITEMS].reverse()],
      ["fewer items", ITEMS.slice(0, 2)],
      ["more items", [...ITEMS, { content: "three" }]],
      ["another text", [{ ...ITEMS[0], content: "One" }, ...ITEMS.slice(1)]],
      ["another role", [{ ...ITEMS[0], content: "one", role: "human" }, ...ITEMS.slice(1)]],
      ["another speaker", [{ ...ITEMS[0], content: "one", speaker: "Bo" }, ...ITEMS.slice(1)]],
      ["another session", [{ ...ITEMS[0], content: "one", sessionId: "t" }, ...ITEMS.slice(1)]],
      ["another scope", [{ ...ITEMS[0], content: "one", scope: "agent" }, ...ITEMS.slice(1)]],
      ["other metadata", [{ ...ITEMS[0], content: "one", metadata: { a: 2 } }, ...ITEMS.slice(1)]],
      [
        "another time",
        [{ ...ITEMS[0], content: "one", eventTime: "2026-01-01T00:00Z" }, ...ITEMS.slice(1)],
      ],
    ] satisfies readonly (readonly [name: string, items: readonly FastIngestItem[]])[]
  ).map(([name, items]) => ({ name, items }));

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
