import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { createMcpEndpoint, startMcpServer } from "../../../src/surface/mcp/http.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";
import { clientsOf, KEYS, modern, request, useMcpServers } from "./http-server.ts";

const serve = useMcpServers();
const PING = request("ping");
const close = async (): Promise<void> => {};
const GET_NODE = { name: "memory_get_node", arguments: { node_id: NODE_ID } };

describe("who may come", () => {
  test.each([
    ["no key", null],
    ["a wrong key", "key-of-eve"],
    ["a key with a word too many", "key-of-ada key-of-bob"],
  ])("%s is answered with 401 in the protocol's form", async (_, key) => {
    const { send } = await serve();
    const { status, headers, json } = await send(PING, { key });
    expect(status).toBe(401);
    expect(json).toEqual({
      error: "invalid_token",
      error_description: "The bearer key is missing or not known",
    });
    expect(headers.get("www-authenticate")).toBe(
      'Bearer error="invalid_token", error_description="The bearer key is missing or not known"',
    );
  });

  test("the key is asked for before the method and the body are looked at", async () => {
    const { send } = await serve();
    expect((await send("", { key: null, method: "GET" })).status).toBe(401);
    expect((await send("not JSON", { key: null })).status).toBe(401);
  });

  test.each(["localhost", "evil.example"])(
    "a caller with a key is served under the name %s, one without is not",
    async (host) => {
      const { send } = await serve();
      expect((await send(PING, { headers: { host } })).status).toBe(200);
      expect((await send(PING, { headers: { host }, key: null })).status).toBe(401);
    },
  );

  test.each(["https://evil.example", "null"])("a page of %s is refused", async (origin) => {
    const { send } = await serve();
    expect((await send(PING, { headers: { origin } })).status).toBe(403);
  });

  test("nothing but MCP is served", async () => {
    const { send, server } = await serve();
    const { status, json } = await send("", { method: "GET", path: `${server.url}/v1/health` });
    expect(status).toBe(404);
    expect(json).toEqual({ code: "route_not_found", detail: "Not Found: MCP is at /mcp" });
    expect((await send(PING, { path: `${server.url}/mcp/x` })).status).toBe(404);
  });

  test("the address is answered with a slash too", async () => {
    const { server } = await serve();
    const { connect, send } = clientsOf(`${server.url}/mcp/`);
    const client = await connect(KEYS.ada);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    expect((await send(PING, { key: null })).status).toBe(401);
  });
});

describe("an owner", () => {
  test("of a key is the owner of every call; naming another is an error object", async () => {
    const owners: unknown[] = [];
    const engine = fakeEngine({
      close,
      getNode: (_id, options) => {
        owners.push(options?.userId);
        return Promise.resolve(undefined);
      },
    });
    const { connect } = await serve(engine);
    const [ada, bob] = await Promise.all([connect("key-of-ada"), connect("key-of-bob")]);
    await Promise.all([ada.callTool(GET_NODE), bob.callTool(GET_NODE), ada.callTool(GET_NODE)]);
    expect(owners.sort()).toEqual(["ada", "ada", "bob"]);
    const foreign = await ada.callTool({
      name: "memory_process_materializations",
      arguments: { user_id: "bob" },
    });
    expect(foreign.structuredContent).toMatchObject({ error: expect.stringContaining('"bob"') });
    await Promise.all([ada.close(), bob.close()]);
  });
});

describe("what is not served", () => {
  test.each(["GET", "DELETE", "PUT", "OPTIONS"])("%s is answered with 405", async (method) => {
    const { send } = await serve();
    const { status, headers } = await send("", { method });
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("POST");
  });

  test.each([
    ["text/html", 406],
    ["text/event-stream", 406],
    ["application/json;q=0, text/event-stream", 406],
    ["application/json", 200],
    ["application/json, text/event-stream", 200],
    ["application/*", 200],
    ["*/*;q=0.1", 200],
    ["", 200],
  ])("an answer for Accept %p has the status %d", async (accept, status) => {
    const { send } = await serve();
    const answer = await send(PING, { headers: { accept } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/json");
  });

  test.each([
    ["text that is no JSON", "{", -32700],
    ["an empty body", "", -32700],
    ["a batch", [PING, PING], -32600],
    ["a number", "7", -32600],
    ["null", "null", -32600],
    ["an object that is no message", { hello: 1 }, -32600],
  ])("%s is answered with 400", async (_, body, code) => {
    const { send } = await serve();
    const { status, json } = await send(body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", ""])(
    "the content type %p is answered with 400",
    async (type) => {
      const { send } = await serve();
      const { status, json } = await send(PING, { headers: { "content-type": type } });
      expect(status).toBe(400);
      expect(JSON.stringify(json)).toContain("Content-Type");
    },
  );

  test("a body of 10 MiB is read, a larger one is answered with 413", async () => {
    const { send } = await serve();
    const text = JSON.stringify(request("ping", { filling: "" }));
    const filling = (bytes: number): string =>
      text.replace('""', `"${"x".repeat(bytes - text.length)}"`);
    expect((await send(filling(10 * 1024 * 1024))).status).toBe(200);
    const { status, json } = await send(filling(10 * 1024 * 1024 + 1));
    expect(status).toBe(413);
    expect(json).toMatchObject({ error: { message: expect.stringContaining("10 MiB") } });
  });
  test("a revision in the header that nobody knows is answered with 400", async () => {
    const { send } = await serve();
    const headers = { "mcp-protocol-version": "1999-01-01" };
    const { status, json } = await send(PING, { headers });
    expect(status).toBe(400);
    expect(JSON.stringify(json)).toContain("1999-01-01");
  });
});

describe("revisions with a handshake", () => {
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "%s is agreed on and served",
    async (protocolVersion) => {
      const { send } = await serve();
      const clientInfo = { name: "test", version: "1.0.0" };
      const hello = request("initialize", { protocolVersion, capabilities: {}, clientInfo });
      const agreed = await send(hello, { headers: { accept: "application/json" } });
      expect(agreed.json?.["result"]).toMatchObject({
        protocolVersion,
        serverInfo: { name: "svc", version: "9.9.9" },
      });
      expect(agreed.headers.get("mcp-session-id")).toBeNull();
      const headers = { "mcp-protocol-version": protocolVersion };
      const done = { jsonrpc: "2.0", method: "notifications/initialized" };
      expect(await send(done, { headers })).toMatchObject({ status: 202, text: "" });
      const { json } = await send(request("tools/list"), { headers });
      expect(JSON.stringify(json)).toContain("memory_retrieve");
    },
  );

  test("an unknown method is answered with the identifier of its request", async () => {
    const { send } = await serve();
    const { status, json } = await send(request("tools/nope", {}, "seven"));
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: "2.0",
      id: "seven",
      error: { code: -32601, message: "Method not found" },
    });
  });
});

describe("the revision without a handshake", () => {
  test.each([
    { method: "tools/list", params: null, has: "tools" },
    { method: "tools/call", params: { name: "memory_get_node", arguments: null }, has: "content" },
  ])("$method takes null for what is absent", async ({ method, params, has }) => {
    const { send } = await serve();
    const { json } = await send({ jsonrpc: "2.0", id: 1, method, params });
    expect(json?.["result"]).toHaveProperty(has);
  });

  test("tools are listed and called", async () => {
    const owners: unknown[] = [];
    const engine = fakeEngine({
      close,
      getNode: (_id, options) => {
        owners.push(options?.userId);
        return Promise.resolve(BARE_NODE);
      },
    });
    const { send } = await serve(engine);
    const listed = modern("tools/list");
    const { json: list } = await send(listed.message, { headers: listed.headers });
    expect(JSON.stringify(list)).toContain("memory_retrieve");
    const call = modern("tools/call", GET_NODE);
    const { json } = await send(call.message, { headers: call.headers, key: "key-of-bob" });
    expect(json?.["result"]).toMatchObject({ structuredContent: { id: NODE_ID } });
    expect(owners).toEqual(["bob"]);
  });

  test.each([
    ["an unknown revision", modern("tools/list", {}, "2099-01-01"), 400, -32022],
    ["an unknown method", modern("tools/nope"), 404, -32601],
  ])("%s is refused", async (_, { message, headers }, status, code) => {
    const { send } = await serve();
    const answer = await send(message, { headers });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ id: 1, error: { code } });
  });

  test("what is refused stands on one line of the log", async () => {
    const { send, log } = await serve();
    const { message, headers } = modern("tools/list", {}, "2099\n2026-01-01 ERROR all is lost");
    const plain = { ...headers, "mcp-protocol-version": "2099" };
    expect((await send(message, { headers: plain })).status).toBe(400);
    expect(log).toHaveLength(1);
    expect(log.join()).not.toContain("\n");
  });

  test("a header that contradicts the message is refused", async () => {
    const { send } = await serve();
    const { message, headers } = modern("tools/list");
    const { status, json } = await send(message, {
      headers: { ...headers, "mcp-method": "tools/call" },
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: -32020 } });
  });

  test("a subscription is acknowledged with what can change, which is nothing, and ends", async () => {
    const { send } = await serve();
    const { message, headers } = modern("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    const answer = await send(message, { headers });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.text).toContain("notifications/subscriptions/acknowledged");
    const strict = { ...headers, accept: "application/json" };
    expect((await send(message, { headers: strict })).status).toBe(406);
  });
});

describe("the tools", () => {
  test("a client asks for few by the address", async () => {
    const { send, server } = await serve();
    const count = async (query: string): Promise<number> => {
      const { text } = await send(request("tools/list"), { path: `${server.url}/mcp${query}` });
      return text.match(/"inputSchema"/g)?.length ?? 0;
    };
    const full = await count("");
    expect(await count("?tools=full")).toBe(full);
    expect(await count("?tools=core")).toBeLessThan(full / 2);
  });
});

describe("the engine", () => {
  test("that cannot open fails the start and closes the socket", async () => {
    const failure = new SvcError("not_a_pack", "notes.txt is not a pack; name another file");
    const server = startMcpServer({
      port: 0,
      userKeys: { ada: "k" },
      version: "9.9.9",
      log: () => {},
      openEngine: () => Promise.reject(failure),
    });
    await expect(server.ready).rejects.toBe(failure);
    await expect(fetch(`${server.url}/mcp`)).rejects.toThrow();
    await server.stop();
  });

  test("is not opened for keys that cannot be told apart", () => {
    let isOpened = false;
    const start = (): unknown =>
      startMcpServer({
        port: 0,
        userKeys: { ada: "same", bob: "same " },
        version: "9.9.9",
        log: () => {},
        openEngine: () => {
          isOpened = true;
          return Promise.resolve(fakeEngine());
        },
      });
    expect(start).toThrow("mcp.user_keys: has one key for two owners");
    expect(isOpened).toBeFalse();
  });
});

describe("the end", () => {
  /** An engine whose only call is held until told. */
  function holding() {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const order: string[] = [];
    const engine = fakeEngine({
      getNode: async () => {
        begun.resolve();
        await release.promise;
        order.push("answered");
        return BARE_NODE;
      },
      close: async () => {
        order.push("closed");
      },
    });
    return { engine, begun: begun.promise, release: release.resolve, order };
  }

  test.each([
    ["with a handshake", { message: request("tools/call", GET_NODE), headers: {} }],
    ["without one", modern("tools/call", GET_NODE)],
  ])("a call of a revision %s is answered before the engine closes", async (_, call) => {
    const { engine, begun, release, order } = holding();
    const { send, server } = await serve(engine);
    const answer = send(call.message, { headers: call.headers });
    await begun;
    const stopped = server.stop();
    release();
    expect((await answer).json?.["result"]).toMatchObject({ structuredContent: { id: NODE_ID } });
    await stopped;
    expect(order).toEqual(["answered", "closed"]);
  });
});

describe("a client that hangs up", () => {
  test.each([
    ["with a handshake", { message: request("tools/call"), headers: {} }],
    ["without one", modern("tools/call")],
  ])("stops the work of its call of a revision %s", async (_, { headers }) => {
    const begun = Promise.withResolvers<void>();
    const told = Promise.withResolvers<unknown>();
    const engine = fakeEngine({
      close,
      retrieve: async ({ signal }) => {
        signal?.addEventListener("abort", () => told.resolve("aborted"));
        begun.resolve();
        await told.promise;
        throw signal?.reason;
      },
    });
    const { send, log } = await serve(engine);
    const params = { name: "memory_retrieve", arguments: { query: "What does Ada drink?" } };
    const isModern = Object.keys(headers).length > 0;
    const call = isModern
      ? modern("tools/call", params)
      : { message: request("tools/call", params) };
    const caller = new AbortController();
    const sent = send(call.message, { ...call, signal: caller.signal });
    await begun.promise;
    caller.abort();
    await expect(sent).rejects.toThrow();
    expect(await told.promise).toBe("aborted");
    expect(log).toEqual([]);
  });
});

describe("where the pack lies", () => {
  const PATH = "/srv/tenants/7/memory.pack";
  const locked = new SvcError("pack_locked", `${PATH}: is locked; unlock it with its key`, {
    path: PATH,
  });
  const fails = (error: unknown) => (): Promise<never> => Promise.reject(error);
  const told = "<pack>: is locked; unlock it with its key";

  test("is told to nobody who comes with a key, by a tool or a resource", async () => {
    const engine = fakeEngine({ getNode: fails(locked), stats: fails(locked), close });
    const { connect } = await serve(engine);
    const client = await connect("key-of-ada");
    expect(await client.callTool(GET_NODE)).toMatchObject({
      structuredContent: { error: told },
      content: [{ text: told }],
    });
    for (const uri of ["memory://stats", `memory://nodes/${NODE_ID}`]) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ text: JSON.stringify({ error: told }) }]);
    }
    await client.close();
  });

  test.each([
    { failure: locked, error: `The memory could not be opened: ${told}` },
    {
      failure: new Error(`EACCES: permission denied, open '${PATH}'`),
      error: "The memory could not be opened; the log of the server says why",
    },
  ])("is not told by an opening that failed: $error", async ({ failure, error }) => {
    const log: string[] = [];
    const endpoint = createMcpEndpoint({
      engine: fails(failure),
      version: "9.9.9",
      log: (_level, message) => log.push(message),
    });
    const ask = async (method: string, params: object): Promise<string> => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(request(method, params));
      const sent = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body });
      return await (await endpoint.answer(sent, { boundUserId: "ada" }, () => {})).text();
    };
    const read = { uri: `memory://nodes/${NODE_ID}` };
    for (const answer of [await ask("tools/call", GET_NODE), await ask("resources/read", read)]) {
      expect(answer).toContain(error);
      expect(answer).not.toContain("/srv");
    }
    expect(log.join("\n")).toContain(PATH);
  });
});
