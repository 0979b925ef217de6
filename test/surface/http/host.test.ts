import { describe, expect, test } from "bun:test";
import { fakeEngine } from "../fake-engine.ts";
import { appOf, plain, post, speak, useServers } from "./serving.ts";

const serve = useServers();

const EMPTY = { nodeCount: 0, eventCount: 0, backend: "sqlite", details: undefined } as const;
const counting = () => fakeEngine({ stats: () => Promise.resolve(EMPTY) });

/** Every kind of thing that can be asked for. */
const PATHS = ["/v1/stats", "/", "/docs", "/redoc", "/openapi.json", "/v1/nope"];

describe("the name in Host, where no keys are configured", () => {
  const ask = (host: string, path = "/v1/stats") =>
    appOf({ engine: counting() }).request(path, { headers: { host } });

  test.each([
    "localhost",
    "LOCALHOST:8000",
    "localhost.",
    "localhost.:8000",
    "127.0.0.1",
    "127.0.0.1:8000",
    "127.255.255.254:1",
    "127.0.0.1.",
    "[::1]",
    "[::1]:8000",
    "[0:0:0:0:0:0:0:1]:8000",
    "[::ffff:127.0.0.1]:8000",
    "[::FFFF:7f00:1]",
  ])("%s is ours", async (host) => {
    expect((await ask(host)).status).toBe(200);
  });

  test.each([
    "evil.test",
    "evil.test:8000",
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "notlocalhost",
    "10.0.0.1",
    "192.168.1.5:8000",
    "128.0.0.1",
    "0.0.0.0",
    "[::]",
    "[fe80::1]",
    "[::ffff:10.0.0.1]",
    "evil.test, localhost",
    "localhost, evil.test",
    "localhost@evil.test",
    "evil.test/?@localhost",
    "localhost:80:80",
    "localhost:x",
    "[::1",
    "local host",
    "",
  ])("%p is refused with 421, by its name", async (host) => {
    const answer = await ask(host);
    expect(answer.status).toBe(421);
    expect(await answer.json()).toEqual({
      code: "foreign_host",
      detail: `Host: ${JSON.stringify(host)} is not a name of this server; use localhost or 127.0.0.1, or add the name to api.allowed_hosts`,
    });
  });

  test.each(PATHS)("a foreign name is refused for %s too", async (path) => {
    expect((await ask("evil.test", path)).status).toBe(421);
  });

  test("a long name is cut in the answer", async () => {
    const answer = await ask(`${"e".repeat(5000)}.test`);
    expect((await answer.text()).length).toBeLessThan(250);
  });
  test("configured names are ours in any spelling, and so are pages of that name", async () => {
    const allowedHosts = ["memory.example", "[fd00:0::1]"];
    const app = appOf({ engine: counting(), allowedHosts });
    const status = async (headers: Record<string, string>) =>
      (await app.request("/v1/stats", { headers })).status;
    expect(await status({ host: "Memory.Example.:443" })).toBe(200);
    expect(await status({ host: "[FD00::1]" })).toBe(200);
    expect(await status({ host: "memory.example", origin: "https://memory.example" })).toBe(200);
    expect(await status({ host: "localhost" })).toBe(200);
    expect(await status({ host: "other.example" })).toBe(421);
  });
});

describe("a real server", () => {
  const from = (name: string, path = "/v1/stats") =>
    plain(`GET ${path} HTTP/1.1`, [`Host: ${name}`]);
  const host = (name: string) => from(name);

  test("without keys refuses foreign names", async () => {
    const { port, lines } = await serve({ engine: counting() });
    expect((await speak(port, [host(`localhost:${port}`)])).statuses).toEqual([200]);
    expect((await speak(port, [host("evil.test")])).statuses).toEqual([421]);
    expect((await speak(port, [host("")])).statuses).toEqual([400]);
    expect((await speak(port, [host("a b/c@d")])).statuses).toEqual([400]);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("refuses a request with two names", async () => {
    const { port } = await serve();
    const two = plain("GET /v1/stats HTTP/1.1", ["Host: localhost", "Host: evil.test"]);
    expect((await speak(port, [two])).statuses).toEqual([421]);
  });

  test("refuses a request without a name, also one of HTTP/1.0", async () => {
    const { port, lines } = await serve();
    expect((await speak(port, [plain("GET /v1/stats HTTP/1.1", [])])).statuses).toEqual([400]);
    expect((await speak(port, [plain("GET /v1/stats HTTP/1.0", [])])).statuses).toEqual([400]);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test.each([
    { name: "with keys", setup: { auth: { apiKey: "k" } } },
    { name: "with keys on a network address", setup: { host: "0.0.0.0", auth: { apiKey: "k" } } },
    {
      name: "with keys and names of its own",
      setup: { auth: { apiKey: "k" }, allowedHosts: ["memory.example"] },
    },
    {
      name: "that may serve everybody",
      setup: { host: "0.0.0.0", allowUnauthenticatedExternalBind: true },
    },
  ])("$name serves a caller whatever the name", async ({ setup }) => {
    const { port } = await serve({ ...setup, engine: counting() });
    const ask = (name: string) =>
      plain("GET /v1/stats HTTP/1.1", [`Host: ${name}`, "Authorization: Bearer k"]);
    expect((await speak(port, [ask("localhost")])).statuses).toEqual([200]);
    expect((await speak(port, [ask("evil.test:80")])).statuses).toEqual([200]);
    expect((await speak(port, [ask("no such/name")])).statuses).toEqual([400]);
  });
  test.each(["evil.test", "a b/c@d", ""])("tells its health under the name %p", async (name) => {
    const { port, lines } = await serve();
    const { statuses, text } = await speak(port, [from(name, "/v1/health?x=1")]);
    expect(statuses).toEqual([200]);
    expect(text).toContain('"status":"ok"');
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("a page of another origin, where keys are configured or everybody may call", () => {
  const origin = "http://evil.test";
  const SETUPS = [
    { name: "with keys", setup: { auth: { apiKey: "k" } } },
    { name: "open to everybody", setup: { allowsUnauthenticated: true } },
  ];

  test.each(SETUPS)("is served $name, without leave to read the answer", async ({ setup }) => {
    const app = appOf({ engine: counting(), ...setup });
    const answer = await app.request("/v1/stats", {
      headers: { origin, authorization: "Bearer k" },
    });
    expect(answer.status).toBe(200);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-"))).toEqual([]);
  });
});

test.each([{ origin: "http://evil.test" }, { origin: "null" }, { host: "evil.test" }])(
  "health is told to %o",
  async (headers) => {
    const answer = await appOf().request("/v1/health", { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  },
);

describe("a page of another origin, where no keys are configured", () => {
  const asked = (headers: Record<string, string>, path = "/v1/stats") =>
    appOf({ engine: counting() }).request(path, { headers });

  test.each([
    "http://evil.test",
    "https://evil.test:8000",
    "null",
    "",
    "http://10.0.0.1",
    "http://localhost.evil.test",
    "http://localhost@evil.test",
    "http://evil.test#localhost",
    "chrome-extension://abcdefgh",
    "file://",
    "tauri://localhost",
    "localhost",
  ])("%p is refused with 403", async (origin) => {
    const answer = await asked({ origin });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({
      code: "foreign_origin",
      detail: `Origin: ${JSON.stringify(origin)} may not call this server; if the page is yours, add its origin to api.cors_origins`,
    });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each(PATHS)("is refused for %s, whether it reads or writes", async (path) => {
    const origin = "http://evil.test";
    expect((await asked({ origin }, path)).status).toBe(403);
    const write = await appOf().request(path, post({}, { origin }));
    expect(write.status).toBe(403);
  });
  test.each([
    "http://localhost:3000",
    "http://127.0.0.1",
    "https://[::1]:8443",
    "http://LOCALHOST",
  ])("%p is of this machine and served", async (origin) => {
    expect((await asked({ origin })).status).toBe(200);
  });

  test("without a named origin it may not embed an answer", async () => {
    const embedded = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    expect((await asked(embedded)).status).toBe(403);
    expect((await asked({ ...embedded, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  describe("that opens an address, as a window or in a frame", () => {
    const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };

    test.each(["/docs", "/redoc", "/openapi.json", "/"])("may open the page %s", async (path) => {
      expect((await asked(opened, path)).status).toBeLessThan(400);
    });

    test.each(["/v1/stats", "/v1/nodes", "/v1/doctor", "/v1/nope", "/mcp"])(
      "may not open %s",
      async (path) => {
        for (const dest of ["document", "iframe", "object"]) {
          const answer = await asked({ ...opened, "sec-fetch-dest": dest }, path);
          expect([answer.status, await answer.json()]).toMatchObject([
            403,
            { code: "foreign_origin" },
          ]);
        }
        const typed = await asked({ ...opened, "sec-fetch-site": "none" }, path);
        expect(typed.status).not.toBe(403);
      },
    );

    test("shows no answer in a frame", async () => {
      for (const path of ["/v1/stats", "/v1/nope", "/docs"]) {
        const { headers } = await asked({}, path);
        expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      }
    });
  });
});
