/** What a request may weigh. Real engine, no model. */
import { describe, expect, test } from "bun:test";
import { useEngines } from "../../engine/engines.ts";
import { processorMs } from "../../processor-time.ts";
import { fakeEngine } from "../fake-engine.ts";
import { appOf, type LoggingServer, post, useServers } from "./serving.ts";

const { open } = useEngines();
const serve = useServers();

/** A server on a real pack. */
async function remembering(setup: Parameters<typeof serve>[0] = {}): Promise<LoggingServer> {
  const { engine } = await open();
  return await serve({ engine, ...setup });
}

async function send(server: LoggingServer, path: string, init?: RequestInit) {
  const answer = await fetch(server.url + path, init);
  // SAFETY: every answer of this server is a JSON object.
  return { status: answer.status, json: (await answer.json()) as { readonly detail?: string } };
}

const errorsOf = (server: LoggingServer) =>
  server.lines.filter(({ level }) => level === "error").map(({ message }) => message);

const eventCount = async (server: LoggingServer, owner: string) =>
  (await send(server, `/v1/stats?user_id=${owner}`)).json;

describe("a body", () => {
  const store = (fields: string) => post(`{"content":"x","user_id":"a"${fields}}`);
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  test("with metadata of 499 lists in each other is stored, a deeper one refused", async () => {
    const server = await remembering();
    const kept = await send(server, "/v1/store", store(`,"metadata":{"a":${deep(499)}}`));
    expect(kept.status).toBe(200);
    for (const levels of [500, 505, 600, 100_000]) {
      const { status, json } = await send(
        server,
        "/v1/store",
        store(`,"metadata":{"a":${deep(levels)}}`),
      );
      expect(status).toBe(422);
      expect(json.detail).toContain("nested deeper than 5");
    }
    expect(await eventCount(server, "a")).toMatchObject({ event_count: 1 });
    expect(errorsOf(server)).toEqual([]);
  });
  test.each([
    { name: "invalid UTF-8", bytes: [0x7b, 0xff, 0x7d], detail: "body: is not valid UTF-8" },
    {
      name: "an overlong form",
      bytes: [0x22, 0xc0, 0xaf, 0x22],
      detail: "body: is not valid UTF-8",
    },
    {
      name: "a lone surrogate",
      bytes: [0x22, 0xed, 0xa0, 0x80, 0x22],
      detail: "body: is not valid UTF-8",
    },
    {
      name: "UTF-16",
      bytes: [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
      detail: "body: is not valid UTF-8",
    },
    { name: "blanks", bytes: [0x20, 0x0a], detail: "body: is empty; it must be a JSON object" },
  ])("of $name is 422", async ({ bytes, detail }) => {
    const answer = await appOf().request("/v1/store", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Uint8Array(bytes),
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({ code: "invalid_argument", detail });
  });

  test("may begin with a byte order mark", async () => {
    const server = await remembering();
    const { status } = await send(server, "/v1/store", post('\ufeff{"content":"x","user_id":"a"}'));
    expect(status).toBe(200);
  });

  test.each([
    { name: "missing", headers: {}, detail: "Content-Type: missing; it must be application/json" },
    {
      name: "a form",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      detail: 'Content-Type: "application/x-www-form-urlencoded"; it must be application/json',
    },
    {
      name: "JSON by another name",
      headers: { "content-type": "text/json" },
      detail: 'Content-Type: "text/json"; it must be application/json',
    },
    {
      name: "compressed",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      detail: 'Content-Encoding: "gzip"; send the body uncompressed',
    },
  ])("whose type is $name is 422", async ({ headers, detail }) => {
    const body = new TextEncoder().encode('{"content":"x","user_id":"a"}');
    const answer = await appOf().request("/v1/store", { method: "POST", headers, body });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({ code: "invalid_argument", detail });
  });

  test("may name its charset", async () => {
    const server = await remembering();
    const typed = { "content-type": "Application/JSON; charset=utf-8" };
    const { status } = await send(server, "/v1/store", post({ content: "x", user_id: "a" }, typed));
    expect(status).toBe(200);
  });
});

describe("an optional body", () => {
  const id = "01900000-0000-7000-8000-000000000001";
  const put = (init: RequestInit) =>
    remembering().then((server) =>
      send(server, `/v1/nodes/${id}/reinforce`, { method: "PUT", ...init }),
    );
  const json = { "content-type": "application/json" };

  test.each([
    { name: "absent", init: {} },
    { name: "null", init: { headers: json, body: "null" } },
    { name: "{}", init: { headers: json, body: "{}" } },
    { name: "empty", init: { headers: json, body: "" } },
  ])("may be $name", async ({ init }) => {
    const { status, json: answer } = await put(init);
    expect(status).toBe(404);
    expect(answer.detail).toContain("not found");
  });

  test.each(["[]", "1", '"x"'])("may not be %s", async (body) => {
    expect((await put({ headers: json, body })).status).toBe(422);
  });
});

describe("a query", () => {
  test("with the same parameter twice means the last one", async () => {
    const asked: unknown[] = [];
    const engine = fakeEngine({
      stats: (userId) => {
        asked.push(userId);
        return Promise.resolve({
          nodeCount: 0,
          eventCount: 0,
          backend: "sqlite",
          details: undefined,
        });
      },
    });
    await appOf({ engine }).request("/v1/stats?user_id=a&user_id=b");
    expect(asked).toEqual(["b"]);
  });

  test("with an owner of one's own first and a foreign one last is 403", async () => {
    const app = appOf({ auth: { userKeys: { ada: "k" } } });
    const answer = await app.request("/v1/stats?user_id=ada&user_id=bob", {
      headers: { authorization: "Bearer k" },
    });
    expect(answer.status).toBe(403);
  });

  test("of thousands of parameters is answered quickly", async () => {
    const server = await remembering();
    const many = Array.from({ length: 3000 }, (_, at) => `${at.toString(36)}=`).join("&");
    const started = processorMs();
    expect((await send(server, `/v1/stats?${many}`)).status).toBe(422);
    expect(processorMs() - started).toBeLessThan(500);
  });

  test("with names that mean something to JavaScript is refused", async () => {
    const server = await remembering();
    const names = "__proto__=1&constructor=2&toString=3&__proto__=4";
    expect((await send(server, `/v1/stats?${names}`)).status).toBe(422);
  });
});
