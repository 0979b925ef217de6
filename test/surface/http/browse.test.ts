/** Looking through memories over HTTP. The rules themselves are tested with the engine. */
import { describe, expect, test } from "bun:test";
import { type Answer, type Asked, KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

type Row = Readonly<Record<string, unknown>>;

function rows({ json }: Answer, name: string): readonly Row[] {
  const list: unknown = json[name];
  if (!Array.isArray(list)) throw new Error(JSON.stringify(json));
  return list;
}

async function opened() {
  const { ask } = await open(KEYS);
  const asAda = (path: string, asked: Asked = {}) => ask(path, { key: "key-a", ...asked });
  const store = async (content: string, more: object = {}) =>
    String((await asAda("/v1/store", { body: { content, ...more } })).json["node_id"]);
  return { ask, asAda, store };
}

describe("looking through memories", () => {
  test("goes page by page with the filters that may be repeated", async () => {
    const { asAda, store } = await opened();
    await store("one", { scope: "project" });
    await store("two", { scope: "agent" });
    await store("three", { scope: "system" });
    const query = "scope=project&scope=agent&limit=1";

    const first = await asAda(`/v1/nodes/browse?${query}`);
    const cursor = encodeURIComponent(String(first.json["next_cursor"]));
    const second = await asAda(`/v1/nodes/browse?${query}&cursor=${cursor}`);

    expect(rows(first, "nodes").map(({ content }) => content)).toEqual(["two"]);
    expect(rows(second, "nodes").map(({ content }) => content)).toEqual(["one"]);
    expect([first.json["has_more"], second.json["has_more"]]).toEqual([true, false]);
    expect(second.json["next_cursor"]).toBeNull();
  });
});

describe("questions", () => {
  test("are listed with the program that asked, and explained with the texts of today", async () => {
    const { ask, asAda, store } = await opened();
    const id = await store("The dentist of Ada is Dr. Li");
    const question = { query: "dentist?" };
    const headers = { "svc-client": "diary", "user-agent": "curl/8.1 (x)" };
    const named = await asAda("/v1/retrieve", { body: question, headers });
    const agent = { "user-agent": "curl/8.1 (x)" };
    await asAda("/v1/retrieve", { body: question, headers: agent });
    const silent = await asAda("/v1/retrieve", { body: { ...question, keep_receipt: false } });
    const requestId = Reflect.get(Object(named.json["metrics"]), "request_id");

    const listed = await asAda("/v1/retrievals");
    const path = `/v1/retrievals/${requestId}/explanation`;
    const explained = await asAda(path);
    const { json: memory } = await asAda(`/v1/nodes/${id}`);

    expect(rows(listed, "retrievals").map(({ client, query }) => [client, query])).toEqual([
      ["curl/8.1", "dentist?"],
      ["diary", "dentist?"],
    ]);
    expect(silent.json["metrics"]).toMatchObject({ receipt_persisted: false });
    expect(explained.json).toMatchObject({
      request_id: requestId,
      query: "dentist?",
      in_context: [
        {
          node_id: id,
          place: 1,
          content: "The dentist of Ada is Dr. Li",
          node_type: memory["node_type"],
          lifecycle_state: memory["lifecycle_state"],
          event_time: memory["event_time"],
          created_at: memory["created_at"],
        },
      ],
      not_in_context: [],
    });
    expect((await ask(path, { key: "key-b" })).status).toBe(404);
  });

  test("explains an answer with it, equal to what is kept, and leaves nothing behind if that is wanted", async () => {
    const { asAda, store } = await opened();
    await store("The dentist of Ada is Dr. Li");
    const body = { query: "dentist?", explain: true };

    const { json: kept } = await asAda("/v1/retrieve", { body });
    const path = `/v1/retrievals/${Reflect.get(Object(kept["metrics"]), "request_id")}`;

    expect(kept["receipt"]).toEqual((await asAda(path)).json);
    const later = (await asAda(`${path}/explanation`)).json;
    expect(kept["explanation"]).toEqual({ ...later, created_at: expect.any(String) });
    const silent = await asAda("/v1/retrieve", { body: { ...body, keep_receipt: false } });
    expect(silent.json["explanation"]).toMatchObject({ query: "dentist?", not_in_context: [] });
    expect(rows(await asAda("/v1/retrievals"), "retrievals")).toHaveLength(1);
    const plain = await asAda("/v1/retrieve", { body: { query: "dentist?" } });
    expect(Object.keys(plain.json)).toEqual(["results", "bundle", "value_bindings", "metrics"]);
  });
});

test.each([
  ["GET", "/v1/nodes/batch", "POST"],
  ["PUT", "/v1/nodes/scan", "GET, HEAD"],
  ["POST", "/v1/nodes/browse", "GET, HEAD"],
  ["PUT", "/v1/contradictions", "GET, HEAD, POST"],
])("%s %s is refused as a method, not read as an id", async (method, path, allowed) => {
  const { app } = await open(KEYS);
  const answer = await app.request(path, { method, headers: { authorization: "Bearer key-a" } });

  expect([answer.status, answer.headers.get("allow")]).toEqual([405, allowed]);
});
