import { describe, expect, test } from "bun:test";
import { createHttpApp } from "../../../src/surface/http/app.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";
import { appOf } from "./serving.ts";

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
      detail: expect.stringMatching(/^Method Not Allowed: here .+ can be called$/),
    });
  });

  test.each([
    { method: "PATCH", path: "/v1/health", allow: "GET, HEAD" },
    { method: "OPTIONS", path: "/v1/store", allow: "POST" },
    { method: "POST", path: `/v1/nodes/${NODE_ID}`, allow: "GET, HEAD, PATCH, DELETE" },
    { method: "PUT", path: "/docs", allow: "GET, HEAD" },
    { method: "GET", path: `/v1/nodes/${NODE_ID}/reinforce`, allow: "PUT" },
  ])("$method $path is 405 with Allow: $allow", async ({ method, path, allow }) => {
    const answer = await appOf({ auth: { apiKey: "k" } }).request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
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

describe("keys", () => {
  const auth = { userKeys: { ada: "key-a" } };
  const bearer = { authorization: "Bearer key-a" };

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
});
