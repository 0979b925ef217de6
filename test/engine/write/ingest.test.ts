import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { IngestInput } from "../../../src/engine/write/api.ts";
import { expectInvalid, useEngines } from "../engines.ts";

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
    { name: "an unknown role", given: { role: "robot" }, field: "role" },
    { name: "an unknown scope", given: { scope: "galaxy" }, field: "scope" },
    { name: "a blank owner", given: { userId: " " }, field: "user_id" },
    { name: "content that is no text", given: { content: 7 }, field: "content" },
    { name: "a naive time", given: { eventTime: "2026-01-01T00:00" }, field: "event_time" },
    {
      name: "an empty speaker",
      given: { speaker: " " },
      field: "speaker",
      code: "invalid_speaker",
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
