/** MCP in the server of the HTTP interface, as `svc serve --mcp` has it. */
import { afterEach, describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import {
  type HttpServer,
  type HttpServerDeps,
  startHttpServer,
} from "../../../src/surface/http/server.ts";
import { lazyMcpEndpoint } from "../../../src/surface/listener/mcp-endpoint.ts";
import { createMcpEndpoint } from "../../../src/surface/mcp/http.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";
import { clientsOf, modern, request } from "./http-server.ts";

const GET_NODE = { name: "memory_get_node", arguments: { node_id: NODE_ID } };
const PING = request("ping");

const servers: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

type Logged = { readonly message: string; readonly route: unknown; readonly status: unknown };

async function serve(deps: Partial<HttpServerDeps> = {}) {
  const log: Logged[] = [];
  const owners: unknown[] = [];
  let loads = 0;
  const engine = fakeEngine({
    close: async () => {},
    getNode: (_id, options) => {
      owners.push(options?.userId);
      return Promise.resolve(BARE_NODE);
    },
  });
  const mcp = (opening: () => Promise<MemoryEngine>) =>
    lazyMcpEndpoint(() => {
      loads += 1;
      return Promise.resolve(
        createMcpEndpoint({ engine: opening, version: "9.9.9", log: () => {} }),
      );
    });
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    allowUnauthenticatedExternalBind: false,
    version: "9.9.9",
    auth: {},
    cors: { origins: [], allowCredentials: false },
    drainMs: 1000,
    log: (_level, message, { route, status } = {}) => log.push({ message, route, status }),
    openEngine: () => Promise.resolve(engine),
    mcp,
    ...deps,
  });
  servers.push(server);
  await server.ready;
  return { server, log, owners, loads: () => loads, ...clientsOf(`${server.url}/mcp`) };
}

describe("keys are those of the other routes", () => {
  test("a key of an owner binds", async () => {
    const { connect, owners, send, server } = await serve({
      auth: { userKeys: { ada: "key-a", bob: "key-b" } },
    });
    const client = await connect("key-b");
    await client.callTool(GET_NODE);
    await client.close();
    const authorization = "Bearer key-b";
    const over = await fetch(`${server.url}/v1/nodes/${NODE_ID}`, { headers: { authorization } });
    expect(over.status).toBe(200);
    expect(owners).toEqual(["bob", "bob"]);
    const refused = await send(PING, { key: "key-c" });
    expect(refused.status).toBe(401);
    expect(refused.json).toMatchObject({ error: "invalid_token" });
    expect((await fetch(`${server.url}/v1/nodes/${NODE_ID}`)).status).toBe(401);
  });
});

describe("names and pages are those of the other routes", () => {
  test("a foreign host is misdirected, a foreign page refused, whatever it asks", async () => {
    const { send, loads } = await serve();
    expect((await send(PING, { headers: { host: "evil.example" } })).status).toBe(421);
    expect((await send(PING, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect(loads()).toBe(0);
  });

  test("with a key any host will do, and a foreign page is refused as the protocol demands", async () => {
    const { send } = await serve({ auth: { apiKey: "master" } });
    const asked = (headers: Record<string, string>) => send(PING, { key: "master", headers });
    expect((await asked({ host: "evil.example" })).status).toBe(200);
    expect((await asked({ origin: "https://evil.example" })).status).toBe(403);
  });

  test("a page of the settings may call, and read the answer", async () => {
    const origin = "https://page.example";
    const { send } = await serve({ cors: { origins: [origin], allowCredentials: false } });
    const { status, headers } = await send(PING, { headers: { origin } });
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
  });
});

describe("the server", () => {
  test("loads what speaks the protocol with the first request, once", async () => {
    const { send, server, loads } = await serve();
    await fetch(`${server.url}/v1/health`);
    expect(loads()).toBe(0);
    const { message, headers } = modern("tools/list");
    await Promise.all([send(PING), send(message, { headers }), send(PING)]);
    expect(loads()).toBe(1);
  });

  test("logs the route of each request", async () => {
    const { send, log } = await serve();
    await send(PING);
    await send("", { method: "DELETE" });
    expect(log).toEqual([
      { message: "request", route: "/mcp", status: 200 },
      { message: "request", route: "/mcp", status: 405 },
    ]);
  });

  test("answers at its address with a slash too, and logs it as the same route", async () => {
    const { server, log } = await serve({ auth: { userKeys: { ada: "key-a" } } });
    const { connect, send } = clientsOf(`${server.url}/mcp/`);
    const client = await connect("key-a");
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    expect((await send(PING, { key: null })).status).toBe(401);
    expect(new Set(log.map(({ route }) => route))).toEqual(new Set(["/mcp"]));
    expect((await send(PING, { path: `${server.url}/mcp//`, key: "key-a" })).status).toBe(404);
  });

  test("has no such route without it", async () => {
    const { send, server } = await serve({ mcp: undefined });
    expect(await send(PING)).toMatchObject({ status: 404, json: { detail: "Not Found" } });
    expect((await send(PING, { path: `${server.url}/mcp/` })).status).toBe(404);
  });
});
