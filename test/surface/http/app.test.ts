import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { createHttpApp, type HttpAppDeps } from "../../../src/surface/http/app.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";

type Setup = Partial<Omit<HttpAppDeps, "engine">> & { readonly engine?: MemoryEngine | undefined };

function appOf({ engine = fakeEngine(), ...rest }: Setup = {}) {
  return createHttpApp({
    engine: () => engine,
    version: "9.9.9",
    auth: {},
    cors: { origins: [], allowCredentials: false },
    log: () => {},
    ...rest,
  });
}

const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

describe("unmatched requests", () => {
  test("an unknown path is 404, also with keys configured", async () => {
    const answer = await appOf({ auth: { apiKey: "k" } }).request("/v1/nope");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ detail: "Not Found" });
  });

  test("a wrong method is 405 and names the right one", async () => {
    const answer = await appOf().request("/v1/store", { method: "DELETE" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(await answer.json()).toEqual({ detail: "Method Not Allowed" });
  });

  test("a slash too many is redirected", async () => {
    const answer = await appOf().request("/v1/nodes/?limit=1");
    expect(answer.status).toBe(307);
    expect(answer.headers.get("location")).toBe("/v1/nodes?limit=1");
  });
});

describe("failures", () => {
  test("an unexpected one is a fixed text; its cause is in the log only", async () => {
    const lines: string[] = [];
    const engine = fakeEngine({ stats: () => Promise.reject(new TypeError("wires crossed")) });
    const app = appOf({ engine, log: (_level, message) => lines.push(message) });
    const answer = await app.request("/v1/stats");
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({ detail: "Internal server error" });
    expect(lines.join("\n")).toContain("wires crossed");
  });

  test("accepted but unfinished work is 503 with its event", async () => {
    const engine = fakeEngine({
      storeWithReceipt: () =>
        Promise.reject(
          new SvcError("materialization_failed", "accepted; it will be indexed later", {
            event_id: NODE_ID,
            reason_code: "disk_full",
          }),
        ),
    });
    const answer = await appOf({ engine }).request(
      "/v1/store",
      post({ content: "x", user_id: "a" }),
    );
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      detail: "accepted; it will be indexed later",
      event_id: NODE_ID,
      reason_code: "disk_full",
      accepted: true,
    });
  });

  test("a full disk is 507, a reused key 409", async () => {
    const failing = (code: "disk_full" | "request_conflict") =>
      appOf({
        engine: fakeEngine({ ingestFastMany: () => Promise.reject(new SvcError(code, "because")) }),
      }).request("/v1/ingest/fast", post({ user_id: "a", items: [{ content: "x" }] }));
    expect((await failing("disk_full")).status).toBe(507);
    const conflict = await failing("request_conflict");
    expect(conflict.status).toBe(409);
    expect(await conflict.json()).toEqual({ detail: "because" });
  });

  test("before the engine is open all but health is 503", async () => {
    const app = createHttpApp({
      engine: () => undefined,
      version: "9.9.9",
      auth: {},
      cors: { origins: [], allowCredentials: false },
      log: () => {},
    });
    const stats = await app.request("/v1/stats");
    expect(stats.status).toBe(503);
    expect(await stats.json()).toEqual({ detail: "Engine not initialized" });
    const health = await app.request("/v1/health");
    expect(await health.json()).toEqual({ status: "ok", version: "9.9.9" });
  });
});

describe("keys", () => {
  const auth = { userKeys: { ada: "key-a" } };
  const bearer = { authorization: "Bearer key-a" };

  test("without one the answer is 401, before the body is looked at", async () => {
    const answer = await appOf({ auth }).request("/v1/store", post("{"));
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(await answer.json()).toEqual({ detail: "Invalid or missing API key" });
  });

  test("health, document and page need none", async () => {
    for (const path of ["/v1/health", "/openapi.json", "/docs"]) {
      expect((await appOf({ auth }).request(path)).status).toBe(200);
    }
  });

  test("a bound request sees its owner only", async () => {
    const owners: unknown[] = [];
    const engine = fakeEngine({
      getNode: (_id, options) => {
        owners.push(options?.userId);
        return Promise.resolve(undefined);
      },
      stats: (userId) => {
        owners.push(userId);
        return Promise.resolve({ nodeCount: 0, eventCount: 0, backend: "sqlite", details: {} });
      },
    });
    const app = appOf({ auth, engine });
    const node = await app.request(`/v1/nodes/${NODE_ID}`, { headers: bearer });
    expect(node.status).toBe(404);
    await app.request("/v1/stats", { headers: bearer });
    expect(owners).toEqual(["ada", "ada"]);
    const foreign = await app.request("/v1/stats?user_id=bob", { headers: bearer });
    expect(foreign.status).toBe(403);
    const empty = await app.request("/v1/store", post({ content: "x", user_id: "" }, bearer));
    expect(empty.status).toBe(403);
  });
});

describe("pages of other origins", () => {
  const cors = { origins: ["http://app.test"], allowCredentials: true };
  const ask = (origin: string, init: RequestInit = {}) => ({
    ...init,
    headers: { origin, ...init.headers },
  });
  const preflight = { method: "OPTIONS", headers: { "access-control-request-method": "POST" } };

  test("no header and no preflight while it is off", async () => {
    const answer = await appOf().request("/v1/health", ask("http://app.test"));
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    expect((await appOf().request("/v1/store", ask("http://app.test", preflight))).status).toBe(
      405,
    );
  });

  test("a listed origin may read every answer, also a refusal", async () => {
    const app = appOf({ cors, auth: { apiKey: "k" } });
    const answer = await app.request("/v1/stats", ask("http://app.test"));
    expect(answer.status).toBe(401);
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://app.test");
    expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  test("an unlisted origin is served without leave to read", async () => {
    const answer = await appOf({ cors }).request("/v1/health", ask("http://other.test"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a preflight is 200 for a listed origin, 400 for another", async () => {
    const good = await appOf({ cors }).request("/v1/store", ask("http://app.test", preflight));
    expect(good.status).toBe(200);
    expect(good.headers.get("access-control-max-age")).toBe("600");
    const bad = await appOf({ cors }).request("/v1/store", ask("http://other.test", preflight));
    expect(bad.status).toBe(400);
  });

  test("a star never goes with credentials", async () => {
    const app = appOf({ cors: { origins: ["*"], allowCredentials: true } });
    const answer = await app.request("/v1/health", ask("http://any.test"));
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe("what the log gets", () => {
  test("method, path, status and time; neither query nor text", async () => {
    const lines: unknown[] = [];
    const app = appOf({
      log: (level, message, fields) => lines.push({ level, message, ...fields }),
    });
    await app.request("/v1/store?user_id=secret-owner", post({ content: "secret text", x: 1 }));
    expect(lines).toEqual([
      {
        level: "info",
        message: "request",
        method: "POST",
        path: "/v1/store",
        status: 422,
        ms: expect.any(Number),
      },
    ]);
  });
});

test("a node is found under any spelling of its id, in any state", async () => {
  const asked: unknown[] = [];
  const engine = fakeEngine({
    getNode: (id, options) => {
      asked.push([id, options?.includeSuperseded]);
      return Promise.resolve(BARE_NODE);
    },
  });
  const answer = await appOf({ engine }).request(
    `/v1/nodes/${NODE_ID.replaceAll("-", "").toUpperCase()}`,
  );
  expect(answer.status).toBe(200);
  expect(asked).toEqual([[NODE_ID, true]]);
});

test("retrieve learns when the caller is gone", async () => {
  let signal: AbortSignal | undefined;
  const engine = fakeEngine({
    retrieve: (input) => {
      signal = input.signal;
      return Promise.reject(new SvcError("internal", "enough"));
    },
  });
  await appOf({ engine }).request("/v1/retrieve", post({ query: "q", user_id: "a" }));
  expect(signal).toBeInstanceOf(AbortSignal);
});
