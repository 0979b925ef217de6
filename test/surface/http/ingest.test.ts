import { describe, expect, test } from "bun:test";
import { useApps } from "./engine-app.ts";

const { open } = useApps();

describe("POST /v1/ingest", () => {
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
});
