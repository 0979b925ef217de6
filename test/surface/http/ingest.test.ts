import { describe, expect, test } from "bun:test";
import { buildOpenApi } from "../../../src/surface/http/openapi.ts";
import { useApps } from "./engine-app.ts";

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

  const REFUSED: readonly { name: string; body: object | string; detail: string | RegExp }[] = [
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

  test("says in the document when something is extracted", () => {
    // SAFETY: the shape is what is asserted.
    const { paths } = buildOpenApi("1.2.3") as {
      paths: Record<string, Record<string, { description: string }>>;
    };

    expect(paths["/v1/ingest"]?.["post"]?.description).toContain("Where extraction is turned on");
  });
});
