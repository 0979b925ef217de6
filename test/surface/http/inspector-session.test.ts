/** The only way into the server of `svc open`: a link that opens it once. Real engine, real sockets where a browser would connect. */
import { describe, expect, test } from "bun:test";
import { createInspectorSession } from "../../../src/surface/http/inspector.ts";
import { useApps } from "./engine-app.ts";
import { useServers } from "./serving.ts";

const { open } = useApps();
const serve = useServers();

const MINUTES = 60_000;

/** A session with a clock that the test sets, and secrets that are counted. */
function aSession() {
  const clock = { ms: 0 };
  const told: string[] = [];
  let made = 0;
  const session = createInspectorSession({
    nowMs: () => clock.ms,
    secret: (bytes) => {
      made += 1;
      return made.toString(16).padStart(bytes * 2, "0");
    },
    onEnded: () => told.push("ended"),
  });
  return { session, clock, told, code: session.issue() };
}

async function opened() {
  const { session, ...rest } = aSession();
  const app = await open({}, {}, { session });
  const ask = (path: string, asked: Parameters<typeof app.ask>[1] = {}) =>
    app.ask(`http://127.0.0.1:4000${path}`, asked);
  const exchange = (code: unknown) => ask("/v1/inspector/session", { body: { code } });
  return { ...app, ...rest, session, ask, exchange };
}

const UNKNOWN = "f".repeat(32);

describe("a link", () => {
  test("gives a key once, which may do everything", async () => {
    const { ask, exchange, code, engine } = await opened();
    expect(code).toHaveLength(32);
    expect((await ask("/v1/caller")).status).toBe(401);

    const { status, json } = await exchange(code);
    expect([status, Object.keys(json)]).toEqual([200, ["key"]]);
    const key = String(json["key"]);
    expect(key).toHaveLength(64);
    expect((await ask("/v1/caller", { key })).json).toMatchObject({ is_operator: true });
    const body = { user_id: "ada", content: "Ada drinks tea" };
    const stored = await ask("/v1/store", { key, body });
    const path = `/v1/nodes/${String(stored.json["node_id"])}/archive`;
    expect((await ask(path, { key, method: "PUT", body: {} })).status).toBe(200);
    const kept = await engine.getProvenance(String(stored.json["node_id"]));
    expect(kept?.operations.at(-1)).toMatchObject({ actorId: "inspector" });
  });

  test("that is used a second time locks everybody out, and both are told", async () => {
    const { ask, exchange, code, told, clock } = await opened();
    const key = String((await exchange(code)).json["key"]);
    // Whenever the second use comes: the first may have been a thief's.
    clock.ms = 60 * MINUTES;

    const second = await exchange(code);
    expect([second.status, second.json]).toEqual([
      401,
      {
        code: "unauthenticated",
        detail:
          "This link was used before. The session that it opened has ended; start svc open again",
      },
    ]);
    const first = await ask("/v1/caller", { key });
    expect([first.status, first.json]).toEqual([
      401,
      {
        code: "session_ended",
        detail:
          "This session has ended, because its link was used a second time; start svc open again",
      },
    ]);
    expect((await ask("/v1/caller", { key: "x" })).json["code"]).toBe("unauthenticated");
    expect((await exchange(code)).status).toBe(401);
    expect(told).toEqual(["ended"]);
  });

  test("is good for two minutes", async () => {
    const inTime = await opened();
    inTime.clock.ms = 2 * MINUTES;
    expect((await inTime.exchange(inTime.code)).status).toBe(200);

    const late = await opened();
    late.clock.ms = 2 * MINUTES + 1;
    const { status, json } = await late.exchange(late.code);
    expect(status).toBe(401);
    expect(json["detail"]).toContain("older than two minutes");
  });

  test("is not found by trying: after five wrong codes none is taken", async () => {
    const four = await opened();
    for (let time = 0; time < 4; time += 1) {
      expect((await four.exchange(UNKNOWN)).status).toBe(401);
    }
    expect((await four.exchange(four.code)).status).toBe(200);

    const five = await opened();
    for (let time = 0; time < 5; time += 1) {
      expect((await five.exchange(UNKNOWN)).json["detail"]).toContain("not the code");
    }
    for (const code of [UNKNOWN, five.code]) {
      const { status, json } = await five.exchange(code);
      expect(status).toBe(401);
      expect(json["detail"]).toContain("none is taken any more");
    }
  });
  test("that is made anew ends what the one before opened", async () => {
    const { ask, exchange, code, session } = await opened();
    const key = String((await exchange(code)).json["key"]);
    const next = session.issue();

    expect((await ask("/v1/caller", { key })).status).toBe(401);
    expect((await exchange(code)).status).toBe(401);
    expect((await exchange(next)).status).toBe(200);
  });

  test.each([
    { name: "no code", body: {} },
    { name: "a number", body: { code: 5 } },
    { name: "a list", body: [] },
    { name: "a text without end", body: { code: "x".repeat(1000) } },
  ])("is refused with $name, which is not counted as a wrong code", async ({ body }) => {
    const { ask, exchange, code } = await opened();
    for (let time = 0; time < 6; time += 1) {
      expect((await ask("/v1/inspector/session", { body })).status).toBe(422);
    }
    expect((await exchange(code)).status).toBe(200);
  });
  test("is not known to a server with keys, nor in the document", async () => {
    const { ask } = await open();
    expect((await ask("/v1/inspector/session", { body: { code: UNKNOWN } })).status).toBe(404);
    expect(JSON.stringify((await ask("/openapi.json")).json)).not.toContain("inspector/session");
  });
});

describe("the page", () => {
  const codeAt = async (url: string): Promise<unknown> =>
    Reflect.get(Object(await (await fetch(url)).json().catch(() => ({}))), "code");

  test("is served where only this machine is, and elsewhere only if the settings say so", async () => {
    const auth = { apiKey: "key-o" };
    const near = await serve();
    const off = await serve({ inspector: false });
    const far = await serve({ host: "0.0.0.0", auth });
    const wanted = await serve({ host: "0.0.0.0", auth, inspector: true });
    const addresses = [near, off, far, wanted].map(
      ({ port }) => `http://127.0.0.1:${port}/inspect/`,
    );

    expect(await Promise.all(addresses.map(codeAt))).toEqual([
      ...[undefined, "route_not_found", "route_not_found", undefined],
    ]);
  });
});

describe("the page of a link", () => {
  async function listening() {
    const { session, code } = aSession();
    const server = await serve({ session });
    const opening = session.exchange(code);
    const key = "key" in opening ? opening.key : "";
    const ask = (path: string, headers: Readonly<Record<string, string>>) =>
      fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
    return { server, ask };
  }

  test.each([
    { name: "another port of this machine", origin: "http://127.0.0.1:1" },
    { name: "another name of this machine", origin: "http://localhost" },
    { name: "another scheme", origin: "https://127.0.0.1" },
    { name: "another site", origin: "https://evil.test" },
    { name: "no page in particular", origin: "null" },
  ])("is not $name", async ({ origin }) => {
    const { server, ask } = await listening();
    // The names with the right port too, so that only what differs decides.
    const own = origin.includes("localhost") || origin.startsWith("https://127");
    const answer = await ask("/v1/caller", { origin: own ? `${origin}:${server.port}` : origin });
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: "foreign_origin" }]);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is that of its own address, port included", async () => {
    const { server, ask } = await listening();
    // The origin is let through; the key then decides, and the engine of this server answers nothing.
    expect((await ask("/v1/health", { origin: server.url })).status).toBe(200);
    expect((await ask("/v1/unknown", { origin: server.url })).status).toBe(404);
  });

  test.each(["same-site", "cross-site"])("is not embedded by a page that is %s", async (site) => {
    const { ask } = await listening();
    const headers = { "sec-fetch-site": site, "sec-fetch-mode": "no-cors" };
    expect((await ask("/v1/caller", headers)).status).toBe(403);
  });
});
