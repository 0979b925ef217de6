/**
 * The built program, spoken to over both transports in every revision of the protocol: by the official client in those with
 * a handshake, by plain requests in the one without. The program is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  type Assistant,
  AssistantProcess,
  hasOpen,
  startAssistant,
} from "../../scripts/bench/assistant-client.ts";
import {
  cleanEnvironment,
  type ServerProcess,
  startServer,
  svcCommand,
} from "../../scripts/bench/server.ts";
import { clientsOf, modern, REVISION, request, type Served } from "../surface/mcp/http-server.ts";
import { usePlace } from "./place.ts";

const KEYS = { ada: "a long random key of ada", bob: "a long random key of bob" };
const MISSING_ID = "01890000-0000-7000-8000-000000000000";

const place = usePlace("transports");
const { root, packIn } = place;
const environment = () => ({ ...place.environment(), SVC_KEY_STORE: "file" });

/** `svc mcp --transport streamable-http` on a free port. */
async function startMcpServer(
  pack: string,
): Promise<ServerProcess & Pick<Served, "send" | "connect">> {
  const server = await startServer({
    pack,
    args: ["mcp", "--db-path", pack, "--transport", "streamable-http", "--port", "0"],
    environment: { ...environment(), SVC_MCP_USER_KEYS: JSON.stringify(KEYS) },
  });
  return { ...server, ...clientsOf(server.url) };
}

type Wire = (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>;

/** The same over HTTP. */
function overHttp({ send }: Pick<Served, "send">, key: string): Wire {
  return async (method, params = {}) => {
    const { message, headers } = modern(method, params);
    return (await send(message, { headers, key })).json ?? {};
  };
}

/** Everything that the official client can ask for, on a connection that is bound to one owner. */
async function expectJourney(client: Client): Promise<void> {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("memory_store");
  const content = "Ada takes the night train to Vienna on Friday.";
  const stored = await client.callTool({ name: "memory_store", arguments: { content } });
  const nodeId = String(Object(stored.structuredContent)["node_id"]);
  const found = await client.callTool({
    name: "memory_retrieve",
    arguments: { query: "When does Ada travel?" },
  });
  expect(found.structuredContent).toMatchObject({ results: [{ node_id: nodeId, content }] });

  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([
    "memory://health",
    "memory://stats",
    "memory://profile",
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates).toMatchObject([{ uriTemplate: "memory://nodes/{node_id}" }]);
  const { contents } = await client.readResource({ uri: `memory://nodes/${nodeId}` });
  expect(JSON.parse(Object(contents[0])["text"])).toMatchObject({ id: nodeId, content });
  const offered = await client.complete({
    ref: { type: "ref/resource", uri: "memory://nodes/{node_id}" },
    argument: { name: "node_id", value: nodeId.slice(0, 10) },
  });
  expect(offered.completion.values).toContain(nodeId);
  const { prompts } = await client.listPrompts();
  expect(prompts.length).toBeGreaterThan(0);

  const missing = await client.callTool({
    name: "memory_get_node",
    arguments: { node_id: MISSING_ID },
  });
  expect(missing.structuredContent).toEqual({
    error: `Node '${MISSING_ID}' not found. Find the id with memory_retrieve.`,
  });
  const unfit = await client.callTool({ name: "memory_store", arguments: { content: 7 } });
  expect(unfit.isError).toBe(true);
  await expect(client.readResource({ uri: "memory://nowhere" })).rejects.toThrow("not found");
  await expect(client.getPrompt({ name: "nowhere" })).rejects.toThrow("not found");
}

/** The same in the revision without a handshake. */
async function expectModernJourney(ask: Wire): Promise<void> {
  expect((await ask("server/discover"))["result"]).toMatchObject({
    supportedVersions: [REVISION],
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  });
  expect(JSON.stringify(await ask("tools/list"))).toContain("memory_store");
  const content = "Bob keeps bees on the roof.";
  const stored = await ask("tools/call", { name: "memory_store", arguments: { content } });
  expect(stored["result"]).toMatchObject({ resultType: "complete" });
  const nodeId = String(Object(stored["result"])["structuredContent"]["node_id"]);
  const found = await ask("tools/call", {
    name: "memory_retrieve",
    arguments: { query: "What is on Bob's roof?" },
  });
  expect(found["result"]).toMatchObject({
    structuredContent: { results: [{ node_id: nodeId, content }] },
  });
  expect(JSON.stringify(await ask("resources/list"))).toContain("memory://stats");
  expect(JSON.stringify(await ask("resources/templates/list"))).toContain("{node_id}");
  const read = await ask("resources/read", { uri: `memory://nodes/${nodeId}` });
  expect(JSON.stringify(read)).toContain("bees on the roof");
  const [prompt] = Object((await ask("prompts/list"))["result"])["prompts"];
  expect(prompt).toMatchObject({ name: expect.any(String) });

  expect(await ask("tools/call", { name: "memory_nowhere", arguments: {} })).toMatchObject({
    error: { code: -32602 },
  });
  expect(await ask("resources/read", { uri: "memory://nowhere" })).toMatchObject({
    error: { code: -32602 },
  });
  expect(await ask("tools/nowhere")).toMatchObject({ error: { code: -32601 } });
}

describe("revisions with a handshake", () => {
  test.each(["2024-11-05", "2025-11-25"])(
    "%s is agreed on over stdio",
    async (protocolVersion) => {
      const assistant = new AssistantProcess({
        pack: packIn("revisions"),
        environment: environment(),
      });
      const clientInfo = { name: "test", version: "1.0.0" };
      const hello = { protocolVersion, capabilities: {}, clientInfo };
      expect((await assistant.ask(1, "initialize", hello)).result).toMatchObject({
        protocolVersion,
        serverInfo: { name: "svc" },
      });
      assistant.say({ method: "notifications/initialized" });
      const listed = await assistant.ask(2, "tools/list");
      expect(JSON.stringify(listed)).toContain("memory_retrieve");
      expect((await assistant.ask(3, "tools/nowhere")).error?.code).toBe(-32601);
      expect(await assistant.leave()).toBe(0);
    },
    120_000,
  );

  test("a client of a revision to come is offered the newest with a handshake", async () => {
    const assistant = new AssistantProcess({
      pack: packIn("revisions"),
      environment: environment(),
    });
    const clientInfo = { name: "test", version: "1.0.0" };
    const hello = { protocolVersion: "2099-01-01", capabilities: {}, clientInfo };
    const { result } = await assistant.ask(1, "initialize", hello);
    expect(result).toMatchObject({ protocolVersion: "2025-11-25" });
    expect(await assistant.leave()).toBe(0);
  }, 120_000);

  test("the official client gets everything over stdio", async () => {
    const { client, leave } = await startAssistant({
      pack: packIn("stdio"),
      environment: { ...environment(), SVC_MCP_USER_ID: "ada" },
    });
    await expectJourney(client);
    expect(await leave()).toBe(0);
  }, 120_000);
});

describe("the revision without a handshake", () => {
  test("everything over HTTP", async () => {
    const server = await startMcpServer(packIn("modern-http"));
    await expectModernJourney(overHttp(server, KEYS.bob));
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  }, 120_000);
});

describe("svc serve --mcp", () => {
  const serve = async (pack: string, own: Readonly<Record<string, string>> = {}) => {
    const server = await startServer({
      pack,
      args: ["serve", "--mcp", "--db-path", pack, "--port", "0"],
      environment: { ...environment(), ...own },
    });
    return { ...server, ...clientsOf(`${server.url}/mcp`) };
  };

  test("serves programs and assistants from one memory, by the same keys", async () => {
    const server = await serve(packIn("both"), {
      SVC_API_USER_KEYS: JSON.stringify(KEYS),
    });
    const client = await server.connect(KEYS.ada);
    await expectJourney(client);
    const ask = async (key: string): Promise<unknown> => {
      const answer = await fetch(`${server.url}/v1/retrieve`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: "When does Ada travel?" }),
      });
      return Object(await answer.json())["results"];
    };
    expect(await ask(KEYS.ada)).toMatchObject([{ content: expect.stringContaining("Vienna") }]);
    expect(await ask(KEYS.bob)).toEqual([]);
    expect((await server.send(request("ping"), { key: "wrong" })).status).toBe(401);
    await client.close();
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
    const log = readFileSync(join(root, "both/memory.pack.log"), "utf8");
    expect(log).toContain("request method=POST route=/mcp status=200");
    expect(log).not.toContain("ERROR");
  }, 120_000);

  test("serves the assistants of the pack that start a process, with other keys than its own", async () => {
    const pack = packIn("shared");
    const server = await serve(pack, { SVC_API_API_KEY: "a key of the server alone" });
    const start = (owner: string): Promise<Assistant> =>
      startAssistant({ pack, environment: { ...environment(), SVC_MCP_USER_ID: owner } });
    const [ada, bob] = await Promise.all([start("ada"), start("bob")]);
    await ada.call("memory_store", { content: "The spare key is under the third pot." });
    const http = await server.connect("a key of the server alone");
    const query = { query: "Where is the spare key?", user_id: "ada" };
    const found = await http.callTool({ name: "memory_retrieve", arguments: query });
    expect(found.structuredContent).toMatchObject({
      results: [{ content: "The spare key is under the third pot." }],
    });
    const foreign = await bob.call("memory_retrieve", { query: "Where is the spare key?" });
    expect(foreign.value["results"]).toEqual([]);
    for (const { process } of [ada, bob]) {
      const isOpen = hasOpen(process.pid, pack);
      if (isOpen !== undefined) expect(isOpen).toBe(false);
    }
    await http.close();
    // The server goes; the assistants stay.
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
    const again = await ada.call("memory_retrieve", { query: "Where is the spare key?" });
    expect(again.value["results"]).toMatchObject([
      { content: "The spare key is under the third pot." },
    ]);
    expect(await Promise.all([ada.leave(), bob.leave()])).toEqual([0, 0]);
    expect(readdirSync(join(pack, "..")).sort()).toEqual(["memory.pack", "memory.pack.log"]);
  }, 120_000);
});

describe("what the command line refuses before anything is opened", () => {
  const keys = { SVC_MCP_USER_KEYS: JSON.stringify(KEYS) };
  test.each([
    ["the outdated transport", ["--transport", "sse"], keys, "sse is an outdated transport"],
    ["an unknown transport", ["--transport", "tcp"], {}, '"tcp" is not a transport'],
    ["HTTP without keys", ["--transport", "streamable-http"], {}, "SVC_MCP_USER_KEYS"],
    [
      "HTTP for one fixed owner",
      ["--transport", "streamable-http"],
      { SVC_MCP_USER_ID: "ada" },
      "SVC_MCP_USER_KEYS",
    ],
    ["stdio with keys", [], keys, "SVC_MCP_USER_ID"],
    ["a port for stdio", ["--port", "8000"], {}, "--port"],
    ["a port that is none", ["--port", "70000"], {}, "70000"],
    [
      "keys that are equal",
      ["--transport", "streamable-http"],
      { SVC_MCP_USER_KEYS: '{"ada":"one","bob":"one"}' },
      "one key for two owners",
    ],
  ])(
    "%s",
    async (_, args, own, complaint) => {
      const pack = packIn("refused");
      const child = Bun.spawn([...svcCommand(), "mcp", "--db-path", pack, ...args], {
        cwd: join(pack, ".."),
        env: { ...cleanEnvironment(), ...environment(), ...own },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await child.exited).toBe(2);
      expect(await new Response(child.stderr).text()).toContain(complaint);
      expect(await new Response(child.stdout).text()).toBe("");
      expect(existsSync(pack)).toBe(false);
    },
    120_000,
  );
});
