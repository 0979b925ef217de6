import { describe, expect, test } from "bun:test";
import { useApps } from "./engine-app.ts";

const { open } = useApps();

describe("POST /v1/store/batch", () => {
  test("keeps all or nothing, and finds each at once", async () => {
    const { ask, engine } = await open();
    const headers = { "idempotency-key": "import of May 3, part 1" };
    const keep = (items: readonly object[]) =>
      ask("/v1/store/batch", { body: { user_id: "ada", items }, headers });
    const items = Array.from({ length: 40 }, (_, at) => ({
      content: `Locker ${at} holds the ${at}th kayak`,
      node_type: "fact",
      session_id: "s",
    }));

    const refused = await keep([...items, { content: "" }]);
    expect(refused.json["detail"]).toStartWith("items[40].content: ");
    const first = await keep(items);
    const [again, fewer, more] = [
      await keep(items),
      await keep(items.slice(1)),
      await keep([...items, { content: "one more" }]),
    ];

    expect(first.json).toMatchObject({ count: 40, pending: 0 });
    expect(again.json).toEqual(first.json);
    expect([fewer.status, more.status]).toEqual([409, 409]);
    expect(await engine.stats()).toMatchObject({ nodeCount: 40, eventCount: 40 });
    // SAFETY: the answer of this route.
    const memories = first.json["memories"] as readonly { node_id: string }[];
    const query = { query: "What does locker 17 hold?", userId: "ada", limit: 1 };
    expect((await engine.retrieve(query)).results[0]?.node).toMatchObject({
      id: memories[17]?.node_id as never,
      nodeType: "fact",
    });
  });
});

describe("POST /v1/ingest", () => {
  test("takes a conversation as its messages, in order, all or nothing", async () => {
    const { ask, engine } = await open();
    const messages = [
      { role: "user", content: "Where is my kayak?", speaker: "Ada" },
      { role: "assistant", content: "In locker 17." },
    ];
    const conversation = { user_id: "ada", session_id: "s", messages };

    const refused = [
      await ask("/v1/ingest", { body: { ...conversation, content: "tea" } }),
      await ask("/v1/ingest", { body: { ...conversation, role: "user" } }),
      await ask("/v1/ingest", { body: { user_id: "ada" } }),
      await ask("/v1/ingest", {
        body: { ...conversation, messages: [...messages, { role: "user", content: "" }] },
      }),
    ];
    const taken = await ask("/v1/ingest", { body: conversation });

    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    expect(Object.keys(taken.json)).toEqual(["event_ids"]);
    const events = await engine.getEvents({ userId: "ada", sessionId: "s" });
    expect(events.map(({ content }) => content).reverse()).toEqual(
      messages.map(({ content }) => content),
    );
  });

  const REFUSED: readonly { name: string; body: object | string; detail: string | RegExp }[] = [
    {
      name: "an assistant as the owner",
      body: { first_person_owner: true, role: "assistant" },
      detail:
        "first_person_owner: the owner does not speak as assistant; leave it out, or use role user or human",
    },
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
