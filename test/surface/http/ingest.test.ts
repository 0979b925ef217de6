import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { buildOpenApi } from "../../../src/surface/http/openapi.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe("POST /v1/ingest", () => {
  test("answers with the event of a memory that can be found at once", async () => {
    const { ask } = await open();

    const { status, json } = await ask("/v1/ingest", {
      body: {
        content: "I moved to Graz.",
        user_id: "ada",
        role: "User",
        first_person_owner: true,
        session_id: "s1",
        metadata: { mood: "glad" },
        event_time: "2026-01-02T03:04:05+01:00",
        wait_for_extraction: true,
        scope: "project",
      },
    });

    expect(status).toBe(200);
    expect(json).toEqual({ event_id: expect.stringMatching(UUID) });
    const eventId = json["event_id"];
    expect((await ask(`/v1/events/${eventId}`)).json).toMatchObject({
      role: "user",
      content: "I moved to Graz.",
      event_time: "2026-01-02T02:04:05.000000Z",
      metadata: { mood: "glad", svc_first_person_owner_v1: true },
    });
    const { json: found } = await ask("/v1/retrieve", {
      body: { query: "moved to Graz", user_id: "ada" },
    });
    expect(found["results"]).toMatchObject([
      { content: "I moved to Graz.", node_type: "note", scope: "project", session_id: "s1" },
    ]);
    expect((await ask(`/v1/events/${eventId}/processing-status`)).json).toMatchObject({
      status: "complete",
    });
    expect((await ask(`/v1/events/${eventId}/extraction-status`)).status).toBe(404);
    expect((await ask(`/v1/events/${eventId}/nodes`)).json).toMatchObject({ count: 1 });
  });

  test("takes null for what is optional and has no default", async () => {
    const { ask } = await open();

    const absent = { session_id: null, metadata: null, event_time: null, scope: null };
    const { status } = await ask("/v1/ingest", {
      body: { content: "tea", user_id: "ada", speaker: null, ...absent },
    });

    expect(status).toBe(200);
  });

  test("stores for the owner of a key and for nobody else", async () => {
    const { ask } = await open(KEYS);

    const own = await ask("/v1/ingest", { body: { content: "tea" }, key: "key-b" });
    const { json: event } = await ask(`/v1/events/${own.json["event_id"]}`, { key: "key-b" });
    expect(event["user_id"]).toBe("bob");
    const foreign = { content: "tea", user_id: "ada" };
    expect(await ask("/v1/ingest", { body: foreign, key: "key-b" })).toEqual({
      status: 403,
      json: {
        code: "forbidden",
        detail: 'user_id: "ada" is not the owner of this connection; leave user_id out',
      },
    });
  });

  const REFUSED: readonly { name: string; body: object | string; detail: string | RegExp }[] = [
    { name: "no content", body: { content: undefined }, detail: "content: is required" },
    { name: "content that is null", body: { content: null }, detail: "content: null is not text" },
    { name: "no owner", body: { user_id: null }, detail: /^user_id: is required/ },
    { name: "an empty owner", body: { user_id: "" }, detail: /^user_id: is required/ },
    {
      name: "an unknown key",
      body: { node_type: "fact" },
      detail: /^node_type: is not a known key; the known keys are content, /,
    },
    { name: "a role that is null", body: { role: null }, detail: "role: null is not text" },
    { name: "an unknown role", body: { role: "robot" }, detail: /^role: "robot" is not one of / },
    { name: "an unknown scope", body: { scope: "home" }, detail: /^scope: "home" is not one of / },
    {
      name: "an owner that is 1",
      body: { first_person_owner: 1 },
      detail: "first_person_owner: 1 is not true or false",
    },
    {
      name: "an owner that is null",
      body: { first_person_owner: null },
      detail: "first_person_owner: null is not true or false",
    },
    {
      name: "waiting that is text",
      body: { wait_for_extraction: "true" },
      detail: 'wait_for_extraction: "true" is not true or false',
    },
    {
      name: "an assistant as the owner",
      body: { first_person_owner: true, role: "assistant" },
      detail:
        "first_person_owner: the owner does not speak as assistant; leave it out, or use role user or human",
    },
    {
      name: "a speaker beside the owner",
      body: { first_person_owner: true, speaker: "Ada" },
      detail:
        "first_person_owner: a message with a speaker is that person's; leave one of the two out",
    },
    {
      name: "a blank speaker",
      body: { speaker: " " },
      detail: "speaker: must not be empty",
    },
    {
      name: "a naive time",
      body: { event_time: "2026-01-01T00:00:00" },
      detail: /^event_time: .* has no time zone/,
    },
    {
      name: "a time as a number",
      body: { event_time: 1_767_225_600 },
      detail: "event_time: 1767225600 is not text",
    },
    ...["svc_first_person_owner_v1", "svc_speaker_v1", "svc_value_bindings_v1"].map((key) => ({
      name: `the reserved key ${key}`,
      body: { metadata: { [key]: true } },
      detail: `metadata.${key}: is reserved; use the parameter that sets it`,
    })),
    {
      name: "a number beyond all bounds",
      body: '{"content":"tea","user_id":"ada","metadata":{"a":1e999}}',
      detail: "metadata.a: Infinity is not a JSON number",
    },
    {
      name: "a number with more digits than are kept",
      body: '{"content":"tea","user_id":"ada","metadata":{"a":{"id":[1234567890123456789]}}}',
      detail:
        "metadata.a.id[0]: 1234567890123456789 has more digits than a number of JSON keeps; write it as a text",
    },
    {
      name: "NaN",
      body: '{"content":"tea","user_id":"ada","metadata":{"a":NaN}}',
      detail: /^body: is not valid JSON/,
    },
    { name: "a list", body: "[]", detail: "body: [] is not an object" },
  ];

  test.each(REFUSED)("refuses $name with 422 and stores nothing", async ({ body, detail }) => {
    const { ask, engine } = await open();
    const whole = typeof body === "string" ? body : { content: "tea", user_id: "ada", ...body };

    const { status, json } = await ask("/v1/ingest", { body: whole });

    expect(status).toBe(422);
    expect(json).toEqual({
      code: expect.stringMatching(/^invalid_(argument|speaker)$/),
      detail: typeof detail === "string" ? detail : expect.stringMatching(detail),
    });
    expect(await engine.stats()).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("accepted but unfinished is 503 with the event", async () => {
    const { ask, engine } = await open(
      {},
      {
        alter: () => ({
          materialize: () => Promise.reject(new SvcError("storage_busy", "held by a test")),
        }),
      },
    );

    const { status, json } = await ask("/v1/ingest", { body: { content: "tea", user_id: "ada" } });

    const [event] = await engine.getEvents({ userId: "ada" });
    expect(status).toBe(503);
    expect(json).toEqual({
      code: "materialization_failed",
      detail: expect.stringContaining("is stored"),
      event_id: event?.id,
      reason_code: "storage_busy",
      accepted: true,
    });
  });

  test("says in the document when something is extracted", () => {
    // SAFETY: the shape is what is asserted.
    const { paths } = buildOpenApi("1.2.3") as {
      paths: Record<string, Record<string, { description: string }>>;
    };

    expect(paths["/v1/ingest"]?.["post"]?.description).toContain("Where extraction is turned on");
  });
});
