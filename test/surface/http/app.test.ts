import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { createHttpApp } from "../../../src/surface/http/app.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";
import { appOf, post } from "./serving.ts";

describe("unmatched requests", () => {
  test("an unknown path is 404, also with keys configured", async () => {
    const answer = await appOf({ auth: { apiKey: "k" } }).request("/v1/nope");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ code: "route_not_found", detail: "Not Found" });
  });

  test("a wrong method is 405 and names the right one", async () => {
    const answer = await appOf().request("/v1/store", { method: "DELETE" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(await answer.json()).toEqual({
      code: "method_not_allowed",
      detail: "Method Not Allowed",
    });
  });

  test.each([
    { method: "PATCH", path: "/v1/health", allow: "GET, HEAD" },
    { method: "OPTIONS", path: "/v1/store", allow: "POST" },
    { method: "POST", path: `/v1/nodes/${NODE_ID}`, allow: "GET, HEAD" },
    { method: "PUT", path: "/docs", allow: "GET, HEAD" },
    { method: "GET", path: `/v1/nodes/${NODE_ID}/reinforce`, allow: "PUT" },
  ])("$method $path is 405 with Allow: $allow", async ({ method, path, allow }) => {
    const answer = await appOf({ auth: { apiKey: "k" } }).request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
  });

  test("HEAD answers as GET does, without a body", async () => {
    const answer = await appOf().request("/v1/health", { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.text()).toBe("");
    const keyed = appOf({ auth: { apiKey: "k" } });
    expect((await keyed.request("/v1/stats", { method: "HEAD" })).status).toBe(401);
  });

  test.each(["/v1/nodes/", "/v1/nodes///"])("a slash too many is redirected: %s", async (path) => {
    const answer = await appOf().request(`${path}?limit=1`);
    expect(answer.status).toBe(307);
    expect(answer.headers.get("location")).toBe("/v1/nodes?limit=1");
  });

  test.each(["//evil.test/v1/nodes/", "/v1/nope/", "//evil.test/"])(
    "no redirect leads away: %s",
    async (path) => {
      const answer = await appOf().request(`http://localhost${path}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get("location")).toBeNull();
    },
  );
});

test("the bare address leads to the documentation, also without a key", async () => {
  const answer = await appOf({ auth: { apiKey: "k" } }).request("/");
  expect(answer.status).toBe(302);
  expect(answer.headers.get("location")).toBe("/docs");
});

describe("failures", () => {
  test("an unexpected one is a fixed text; its cause is in the log only", async () => {
    const lines: string[] = [];
    const engine = fakeEngine({ stats: () => Promise.reject(new TypeError("wires crossed")) });
    const app = appOf({ engine, log: (_level, message) => lines.push(message) });
    const answer = await app.request("/v1/stats");
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({ code: "internal", detail: "Internal server error" });
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
      code: "materialization_failed",
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
    expect(await conflict.json()).toEqual({ code: "request_conflict", detail: "because" });
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
    expect(await stats.json()).toEqual({ code: "not_ready", detail: "Engine not initialized" });
    const health = await app.request("/v1/health");
    expect(await health.json()).toEqual({ status: "ok", version: "9.9.9" });
  });
});

describe("keys", () => {
  const auth = { userKeys: { ada: "key-a" } };
  const bearer = { authorization: "Bearer key-a" };

  test.each([
    { name: "a body that is no JSON", path: "/v1/store", init: post("{") },
    { name: "a body too large", path: "/v1/store", init: post("x".repeat(11 * 1024 * 1024)) },
    { name: "a wrong content type", path: "/v1/store", init: { method: "POST", body: "x" } },
    { name: "a foreign owner", path: "/v1/stats?user_id=bob", init: {} },
    { name: "a malformed id", path: "/v1/nodes/7", init: {} },
    { name: "a bad query", path: "/v1/nodes?limit=x", init: {} },
    { name: "a wrong key", path: "/v1/stats", init: { headers: { authorization: "Bearer k" } } },
  ])("without one the answer is 401, whatever else is wrong: $name", async ({ path, init }) => {
    const answer = await appOf({ auth }).request(path, init);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(await answer.json()).toEqual({
      code: "unauthenticated",
      detail: "Invalid or missing API key",
    });
  });

  test("without one nobody learns whether the pack is open", async () => {
    const app = createHttpApp({
      engine: () => undefined,
      version: "9.9.9",
      auth,
      cors: { origins: [], allowCredentials: false },
      log: () => {},
    });
    expect((await app.request("/v1/stats")).status).toBe(401);
    expect((await app.request("/v1/stats", { headers: bearer })).status).toBe(503);
  });

  test("health, document and pages need none", async () => {
    for (const path of ["/v1/health", "/openapi.json", "/docs", "/redoc"]) {
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
        return Promise.resolve({
          nodeCount: 0,
          eventCount: 0,
          backend: "sqlite",
          details: undefined,
        });
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

describe("headers", () => {
  const node = { engine: fakeEngine({ getNode: () => Promise.resolve(BARE_NODE) }) };

  test.each([
    { name: "an answer", setup: node, path: `/v1/nodes/${NODE_ID}` },
    { name: "a refusal", setup: { auth: { apiKey: "k" } }, path: "/v1/stats" },
    { name: "an unexpected failure", setup: {}, path: "/v1/stats" },
    { name: "an unknown path", setup: {}, path: "/v1/nope" },
    { name: "a wrong method", setup: {}, path: "/v1/store" },
    { name: "the document", setup: {}, path: "/openapi.json" },
  ])("of $name: JSON that no cache keeps and no browser guesses at", async ({ setup, path }) => {
    const { headers } = await appOf(setup).request(path);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test.each(["/docs", "/redoc"])(
    "of %s: only its own style applies, and no script runs",
    async (path) => {
      const answer = await appOf().request(path);
      const policy = answer.headers.get("content-security-policy") ?? "";
      const page = await answer.text();
      const text = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? "none";
      const hash = new Bun.CryptoHasher("sha256").update(text).digest("base64");
      expect(policy).toContain(`style-src 'sha256-${hash}'`);
      expect(policy).not.toContain("script-src");
      expect(page).not.toContain("<script");
      expect(policy).toStartWith("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );
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
