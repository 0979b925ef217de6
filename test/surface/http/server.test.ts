import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { type HttpServer, startHttpServer } from "../../../src/surface/http/server.ts";
import { fakeEngine } from "../fake-engine.ts";

const BASE = {
  host: "127.0.0.1",
  port: 0,
  allowUnauthenticatedExternalBind: false,
  version: "9.9.9",
  auth: {},
  cors: { origins: [], allowCredentials: false },
  log: () => {},
};
const MIB = 1024 * 1024;

let folder: string;
let server: HttpServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-http-"));
  const { config } = loadConfig({ explicit: { pack_path: join(folder, "memory.pack") } });
  server = await startHttpServer({ ...BASE, openEngine: () => openEngine(config) });
  await server.ready;
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function send(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init =
    body === undefined
      ? { headers }
      : {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
        };
  const answer = await fetch(server.url + path, init);
  // SAFETY: every answer of this server is a JSON object.
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

describe("the memory over HTTP", () => {
  test("what was stored is found, read and counted", async () => {
    const stored = await send("/v1/store", {
      content: "Ada prefers green tea in the morning.",
      user_id: "tea",
      node_type: "preference",
      speaker: "Ada",
    });
    expect(stored.status).toBe(200);
    expect(Object.keys(stored.json)).toEqual(["event_id", "node_id", "processing_status", "near"]);
    expect(stored.json["processing_status"]).toMatchObject({ status: "complete", attempts: 1 });

    const found = await send("/v1/retrieve", { query: "What does Ada drink?", user_id: "tea" });
    expect(found.status).toBe(200);
    expect(Object.keys(found.json)).toEqual(["results", "bundle", "value_bindings", "metrics"]);
    expect(found.json["results"]).toMatchObject([
      { node_id: stored.json["node_id"], node_type: "preference", lifecycle_state: "tentative" },
    ]);
    expect(found.json["bundle"]).toMatchObject({
      rendered_context: expect.stringContaining("green tea"),
    });

    const node = await send(`/v1/nodes/${stored.json["node_id"]}`);
    expect(Object.keys(node.json)).toHaveLength(26);
    expect(node.json).toMatchObject({ user_id: "tea", evidence_refs: [stored.json["event_id"]] });

    const event = await send(`/v1/events/${stored.json["event_id"]}`);
    expect(event.json).toMatchObject({ content: "Ada prefers green tea in the morning." });
    const status = await send(`/v1/events/${stored.json["event_id"]}/processing-status`);
    expect(status.json).toMatchObject({ status: "complete", last_error: null });

    const listed = await send("/v1/nodes?type=preference&user_id=tea&limit=5");
    expect(listed.json).toMatchObject({ count: 1, nodes: [{ id: stored.json["node_id"] }] });
    const stats = await send("/v1/stats?user_id=tea");
    expect(stats.json).toMatchObject({ node_count: 1, event_count: 1, backend: "sqlite" });
  });

  test("fast ingest is repeatable under its key and refuses other items", async () => {
    const key = { "idempotency-key": "0190AAAA000070008000000000000009" };
    const body = { user_id: "fast", items: [{ content: "one" }, { content: "two" }] };
    const first = await send("/v1/ingest/fast", body, key);
    expect(first.json).toMatchObject({ accepted: 2 });
    const again = await send("/v1/ingest/fast", body, key);
    expect(again.json).toEqual(first.json);
    const other = await send("/v1/ingest/fast", { ...body, items: [{ content: "three" }] }, key);
    expect(other.status).toBe(409);

    const worked = await send("/v1/materializations/process", {
      user_id: "fast",
      budget_ms: 20_000,
    });
    expect(worked.json).toEqual({ processed: 2, pending: 0, failed: 0 });
  });

  test("the filters reach the search", async () => {
    await send("/v1/store", { content: "The parser is slow.", user_id: "f", scope: "project" });
    await send("/v1/store", { content: "The parser is fun.", user_id: "f", scope: "personal" });
    const found = await send("/v1/retrieve", {
      query: "parser",
      user_id: "f",
      filters: { scope: ["project"] },
    });
    expect(found.json["results"]).toMatchObject([{ content: "The parser is slow." }]);
  });
});

describe("bad input is refused with a clear text and nothing is stored", () => {
  const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
  const store = (fields: object) => send("/v1/store", { content: "x", user_id: "bad", ...fields });

  test.each([
    {
      name: "bad enum",
      ask: () => store({ node_type: "memo" }),
      detail: /^node_type: "memo" is not one of entity, /,
    },
    {
      name: "bad role",
      ask: () => store({ role: "robot" }),
      detail: 'role: "robot" is not one of user, human, participant, assistant, tool, system',
    },
    {
      name: "naive datetime",
      ask: () => store({ valid_from: "2026-01-01T00:00:00" }),
      detail:
        'valid_from: "2026-01-01T00:00:00" has no time zone; write for example 2026-01-01T00:00:00Z',
    },
    {
      name: "inverted interval",
      ask: () => store({ valid_from: "2026-02-01T00:00:00Z", valid_to: "2026-01-01T00:00:00Z" }),
      detail: /^valid_to: .*2026-01-01.* must be later than valid_from .*2026-02-01/,
    },
    {
      name: "unknown key",
      ask: () => store({ colour: "red" }),
      detail: /^colour: is not a known key; the known keys are content, /,
    },
    {
      name: "over-long speaker",
      ask: () => store({ speaker: "n".repeat(201) }),
      detail: "speaker: has 201 characters; at most 200 are allowed",
    },
    {
      name: "NaN",
      ask: () => send("/v1/store", '{"content": "x", "user_id": "bad", "confidence": NaN}'),
      detail: 'body: is not valid JSON: Unexpected identifier "NaN"',
    },
    {
      name: "NaN in metadata of an item",
      ask: () =>
        send("/v1/ingest/fast", '{"user_id":"bad","items":[{"content":"x","metadata":{"a":NaN}}]}'),
      detail: 'body: is not valid JSON: Unexpected identifier "NaN"',
    },
    {
      name: "a number beyond all bounds in metadata",
      ask: () => send("/v1/store", '{"content":"x","user_id":"bad","metadata":{"a":1e999}}'),
      detail: "metadata.a: Infinity is not a JSON number",
    },
    {
      name: "invalid JSON",
      ask: () => send("/v1/store", '{"content": '),
      detail: "body: is not valid JSON: Unexpected EOF",
    },
    {
      name: "empty body",
      ask: () => send("/v1/store", ""),
      detail: "body: is empty; it must be a JSON object",
    },
    {
      name: "a list as body",
      ask: () => send("/v1/store", []),
      detail: "body: [] is not an object",
    },
    {
      name: "wrong content type",
      ask: () => send("/v1/store", "x", { "content-type": "text/plain" }),
      detail: 'Content-Type: "text/plain"; it must be application/json',
    },
    {
      name: "empty batch",
      ask: () => send("/v1/ingest/fast", { user_id: "bad", items: [] }),
      detail: "items: has 0 entries; it must have at least 1",
    },
    {
      name: "one bad item of two",
      ask: () =>
        send("/v1/ingest/fast", {
          user_id: "bad",
          items: [{ content: "x" }, { content: "y", scope: "home" }],
        }),
      detail: /^items\[1\]\.scope: "home" is not one of personal, /,
    },
    {
      name: "malformed request key",
      ask: () =>
        send(
          "/v1/ingest/fast",
          { user_id: "bad", items: [{ content: "x" }] },
          { "idempotency-key": "7" },
        ),
      detail: 'Idempotency-Key: "7" is not a UUID',
    },
    {
      name: "no owner",
      ask: () => send("/v1/store", { content: "x" }),
      detail: "user_id: is required: the name of the owner of these memories",
    },
    {
      name: "reserved metadata key",
      ask: () => store({ metadata: { svc_speaker_v1: "Eve" } }),
      detail: /^metadata\.svc_speaker_v1: is reserved/,
    },
    {
      name: "negative budget",
      ask: () => send("/v1/materializations/process", { user_id: "bad", budget_ms: -1 }),
      detail: "budget_ms: -1 must be at least 0",
    },
    {
      name: "unknown filter",
      ask: () => send("/v1/retrieve", { query: "x", user_id: "bad", filters: { colour: 1 } }),
      detail: /^filters\.colour: is not a known key; the known keys are scope, time_from, /,
    },
    {
      name: "limit of a listing",
      ask: () => send("/v1/nodes?limit=1001"),
      detail: 'limit: "1001" is not an integer from 0 to 1000',
    },
    {
      name: "state of a listing",
      ask: () => send("/v1/nodes?state=alive"),
      detail: /^state: "alive" is not one of tentative, /,
    },
    {
      name: "malformed id",
      ask: () => send("/v1/nodes/7"),
      detail: 'node_id: "7" is not a UUID',
    },
  ])("$name: 422", async ({ ask, detail }) => {
    const { status, json } = await ask();
    expect(status).toBe(422);
    expect(Object.keys(json)).toEqual(["detail", "code"]);
    if (typeof detail === "string") expect(json["detail"]).toBe(detail);
    else expect(json["detail"]).toMatch(detail);
  });

  test.each([
    { name: "with a declared length", chunked: false },
    { name: "in chunks of unknown number", chunked: true },
  ])("11 MiB $name: 413", async ({ chunked }) => {
    const answer = await fetch(`${server.url}/v1/store`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: chunked ? megabytes(11) : "x".repeat(11 * MIB),
    });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual({
      code: "too_large",
      detail:
        "The request body is larger than 10485760 bytes (10 MiB); split it into several requests",
    });
  });

  test("unknown ids: 404", async () => {
    expect((await send(`/v1/nodes/${UNKNOWN}`)).json).toEqual({
      code: "not_found",
      detail: `Node '${UNKNOWN}' not found`,
    });
    expect((await send(`/v1/events/${UNKNOWN}`)).json).toEqual({
      code: "not_found",
      detail: `Event '${UNKNOWN}' not found`,
    });
    const { status } = await send(`/v1/events/${UNKNOWN}/processing-status`);
    expect(status).toBe(404);
  });

  test("nothing of all this was stored", async () => {
    const { json } = await send("/v1/stats?user_id=bad");
    expect(json).toMatchObject({ node_count: 0, event_count: 0 });
  });
});

function megabytes(count: number): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream({
    pull: (controller) => {
      if (left === 0) controller.close();
      else controller.enqueue(new Uint8Array(MIB).fill(120));
      left -= 1;
    },
  });
}

describe("start and end", () => {
  test("a taken port is refused at once, and the engine is never opened", async () => {
    let isOpened = false;
    const attempt = startHttpServer({
      ...BASE,
      port: server.port,
      openEngine: () => {
        isOpened = true;
        return Promise.resolve(fakeEngine());
      },
    });
    await expect(attempt).rejects.toMatchObject({
      code: "bind_failed",
      message: expect.stringContaining(`127.0.0.1:${server.port} is already in use`),
    });
    expect(isOpened).toBe(false);
  });

  test("a network address without keys is refused before anything is opened", async () => {
    const attempt = startHttpServer({
      ...BASE,
      host: "0.0.0.0",
      openEngine: () => Promise.reject(new Error("opened")),
    });
    await expect(attempt).rejects.toMatchObject({ code: "unauthenticated_bind" });
  });

  test("requests that come while the engine opens wait until it can serve", async () => {
    const opening = Promise.withResolvers<MemoryEngine>();
    const young = await startHttpServer({ ...BASE, openEngine: () => opening.promise });
    let answered = 0;
    const early = ["/v1/stats", "/v1/health", "/docs", "/v1/nope"].map(async (path) => {
      const { status } = await fetch(young.url + path);
      answered += 1;
      return status;
    });
    await Bun.sleep(100);
    expect(answered).toBe(0);
    opening.resolve(
      fakeEngine({
        stats: () =>
          Promise.resolve({ nodeCount: 0, eventCount: 0, backend: "sqlite", details: undefined }),
      }),
    );
    expect(await Promise.all(early)).toEqual([200, 200, 200, 404]);
    await young.stop();
  });

  test("an engine that cannot open closes the socket again", async () => {
    const failure = new SvcError("not_a_pack", "memory.pack is a directory");
    const failing = await startHttpServer({ ...BASE, openEngine: () => Promise.reject(failure) });
    const early = fetch(`${failing.url}/v1/stats`).then(
      ({ status }) => status,
      () => "cut",
    );
    await expect(failing.ready).rejects.toBe(failure);
    expect([503, "cut"]).toContain(await early);
    await expect(fetch(`${failing.url}/v1/health`)).rejects.toThrow();
  });

  test("a running request is finished before the engine closes", async () => {
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const engine = fakeEngine({
      processPending: async () => {
        begun.resolve();
        await Bun.sleep(150);
        order.push("done");
        return { processed: 1, pending: 0, failed: 0 };
      },
      close: async () => {
        order.push("closed");
      },
    });
    const young = await startHttpServer({ ...BASE, openEngine: () => Promise.resolve(engine) });
    await young.ready;
    const answer = fetch(`${young.url}/v1/materializations/process`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"user_id":"a"}',
    });
    await begun.promise;
    await Promise.all([young.stop(), young.stop()]);
    expect((await answer).status).toBe(200);
    expect(order).toEqual(["done", "closed"]);
    await expect(fetch(`${young.url}/v1/health`)).rejects.toThrow();
  });

  test("a request that does not end is cut off after the bound", async () => {
    const begun = Promise.withResolvers<void>();
    const engine = fakeEngine({
      processPending: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const young = await startHttpServer({
      ...BASE,
      drainMs: 100,
      openEngine: () => Promise.resolve(engine),
    });
    await young.ready;
    const answer = fetch(`${young.url}/v1/materializations/process`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"user_id":"a"}',
    }).catch(() => "cut");
    await begun.promise;
    await young.stop();
    expect(await answer).toBe("cut");
  });
});
