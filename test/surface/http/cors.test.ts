import { describe, expect, test } from "bun:test";
import { fakeEngine } from "../fake-engine.ts";
import { NODE_ID } from "../fixtures.ts";
import { appOf } from "./serving.ts";

const cors = { origins: ["http://app.test"], allowCredentials: true };

const from = (origin: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { origin, ...init.headers },
});
const preflight = (method: string, headers?: string): RequestInit => ({
  method: "OPTIONS",
  headers: {
    "access-control-request-method": method,
    ...(headers !== undefined && { "access-control-request-headers": headers }),
  },
});

describe("while it is off", () => {
  test("a page of this machine is served, without leave to read and without a preflight", async () => {
    const page = "http://localhost:3000";
    const answer = await appOf().request("/v1/health", from(page));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    const asked = await appOf().request("/v1/store", from(page, preflight("POST")));
    expect(asked.status).toBe(405);
    expect(asked.headers.get("access-control-allow-methods")).toBeNull();
  });
});

describe("with listed origins", () => {
  test("each may read every answer, also a refusal", async () => {
    const app = appOf({ cors, auth: { apiKey: "k" } });
    for (const path of ["/v1/stats", "/v1/nope", "/v1/store"]) {
      const answer = await app.request(path, from("http://app.test"));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get("access-control-allow-origin")).toBe("http://app.test");
      expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
      expect(answer.headers.get("vary")).toBe("Origin");
    }
  });

  test("another one is refused without leave to read", async () => {
    const answer = await appOf({ cors }).request("/v1/stats", from("http://other.test"));
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });
  test("credentials only where they are allowed", async () => {
    const app = appOf({ cors: { ...cors, allowCredentials: false } });
    const answer = await app.request("/v1/health", from("http://app.test"));
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://app.test");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe("a preflight", () => {
  test("needs no key, and allows every method and the headers it asks for", async () => {
    const app = appOf({ cors, auth: { apiKey: "k" } });
    const wanted = "authorization,content-type,idempotency-key,traceparent";
    for (const [method, path] of [
      ["PUT", `/v1/nodes/${NODE_ID}/promote`],
      ["POST", "/v1/store"],
      ["GET", "/v1/stats"],
    ] as const) {
      const answer = await app.request(path, from("http://app.test", preflight(method, wanted)));
      expect(answer.status).toBe(200);
      expect(answer.headers.get("access-control-allow-methods")?.split(", ")).toContain(method);
      expect(answer.headers.get("access-control-allow-headers")).toBe(wanted);
      expect(answer.headers.get("access-control-allow-origin")).toBe("http://app.test");
      expect(answer.headers.get("access-control-max-age")).toBe("600");
    }
  });

  test("of an origin that is not listed is 400", async () => {
    const app = appOf({ cors });
    for (const origin of ["http://other.test", "http://localhost:3000", "null"]) {
      const answer = await app.request("/v1/store", from(origin, preflight("POST")));
      expect(answer.status).toBe(400);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("by a foreign host name is refused like any request", async () => {
    const asked = preflight("POST");
    const answer = await appOf({ cors }).request(
      "/v1/store",
      from("http://app.test", { ...asked, headers: { ...asked.headers, host: "evil.test" } }),
    );
    expect(answer.status).toBe(421);
  });
});

describe("a star", () => {
  const open = { origins: ["*"], allowCredentials: true };

  test("lets every page in, never with credentials", async () => {
    for (const origin of ["http://any.test", "null"]) {
      const answer = await appOf({ cors: open }).request("/v1/health", from(origin));
      expect(answer.status).toBe(200);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test("still asks for the key, or where there is none for a host name of ours", async () => {
    const keyed = appOf({ cors: open, auth: { apiKey: "k" }, engine: fakeEngine() });
    const rebound = from("http://any.test", { headers: { host: "any.test" } });
    expect((await keyed.request("/v1/stats", from("http://any.test"))).status).toBe(401);
    expect((await keyed.request("/v1/stats", rebound)).status).toBe(401);
    expect((await appOf({ cors: open }).request("/v1/stats", rebound)).status).toBe(421);
  });
});
