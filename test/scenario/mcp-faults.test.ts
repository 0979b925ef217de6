/**
 * Clients that do wrong, against the built program over both transports. The program is SVC_EXE, else dist/svc, else
 * src/main.ts under Bun.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { AssistantProcess, startAssistant } from "../../scripts/bench/assistant-client.ts";
import { cleanEnvironment, startServer, svcCommand } from "../../scripts/bench/server.ts";
import { clientsOf, envelope, modern, request } from "../surface/mcp/http-server.ts";
import { usePlace } from "./place.ts";

const KEYS = { ada: "a long random key of ada", bob: "a long random key of bob" };
const MISSING_ID = "01890000-0000-7000-8000-000000000000";
const MIB = 1024 * 1024;

const place = usePlace("mcp-faults");
const { packIn } = place;
const environment = () => ({ ...place.environment(), SVC_KEY_STORE: "file" });

async function startMcpServer(pack: string, own: Readonly<Record<string, string>> = {}) {
  const server = await startServer({
    pack,
    args: ["mcp", "--db-path", pack, "--transport", "streamable-http", "--port", "0"],
    environment: { ...environment(), SVC_MCP_USER_KEYS: JSON.stringify(KEYS), ...own },
  });
  return { ...server, ...clientsOf(server.url) };
}

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** `svc mcp` whose output nobody touches until a test does: what is unread stays in the pipe. */
function startUnread(pack: string): ChildProcessWithoutNullStreams {
  const [command, ...args] = svcCommand();
  const child = spawn(command, [...args, "mcp", "--db-path", pack], {
    cwd: join(pack, ".."),
    env: { ...cleanEnvironment(), ...environment() },
  });
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  children.push(child);
  return child;
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const HANDSHAKE =
  line({
    id: "open",
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1.0.0" },
    },
  }) + line({ method: "notifications/initialized" });

/** Bytes of resident memory; undefined where the system does not tell. */
function residentBytes(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  } catch {
    return undefined;
  }
}

async function until(holds: () => boolean, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!holds() && performance.now() < end) await Bun.sleep(10);
  expect(holds()).toBe(true);
}

describe("garbage", () => {
  test("on stdin is passed over, said once on stderr without its content, and the next message is answered", async () => {
    const assistant = new AssistantProcess({
      pack: packIn("garbage"),
      environment: environment(),
    });
    for (let count = 0; count < 50; count += 1) {
      assistant.say(`secret ${count} \u001b[2J }{ \u0000`);
      assistant.say("[]");
    }
    await assistant.open();
    expect((await assistant.ask(1, "ping")).result).toEqual({});
    expect(await assistant.leave()).toBe(0);
    const said = await assistant.stderr();
    expect(said.trim().split("\n")).toHaveLength(1);
    expect(said).not.toContain("secret");
  }, 120_000);

  test("on the socket closes that connection; others are served", async () => {
    const { url, send, end } = await startMcpServer(packIn("garbage-http"));
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const closed = once(socket, "close");
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256)));
    await closed;
    expect((await send(request("ping"), { key: KEYS.ada })).status).toBe(200);
    expect(await end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  }, 120_000);

  test.each([
    ["an unknown method", { id: 5, method: "tools/nowhere" }, -32601],
    ["a message without a method", { id: 5 }, -32600],
    ["a method that is a number", { id: 5, method: 7 }, -32600],
  ])(
    "%s is answered with an error over stdio",
    async (_, message, code) => {
      const assistant = new AssistantProcess({
        pack: packIn("garbage"),
        environment: environment(),
      });
      await assistant.open();
      assistant.say(message);
      const answer = await assistant.hears(({ id }) => id === 5);
      expect(answer.error?.code).toBe(code);
      expect(await assistant.leave()).toBe(0);
    },
    120_000,
  );
});

describe("a client that is gone", () => {
  test("by its end of stdout ends the process, and the pack is closed", async () => {
    const pack = packIn("closed");
    const child = startUnread(pack);
    const exited = once(child, "exit");
    child.stdin.write(HANDSHAKE);
    await once(child.stdout, "data");
    child.stdout.destroy();
    const args = { content: "Nobody hears of this.", user_id: "ada" };
    const params = { name: "memory_store", arguments: args };
    child.stdin.write(line({ id: 1, method: "tools/call", params }));
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(join(pack, ".."))).toEqual(["memory.pack"]);
  }, 120_000);
});

describe("a client that never reads", () => {
  test("over stdio is read from no further; what it asked is answered once it reads", async () => {
    const pack = packIn("unread");
    const pipe = join(pack, "../stdout");
    Bun.spawnSync(["mkfifo", pipe]);
    // Somebody has to hold the other end.
    const held = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const stdout = openSync(pipe, "w");
    const child = Bun.spawn([...svcCommand(), "mcp", "--db-path", pack], {
      cwd: join(pack, ".."),
      env: { ...cleanEnvironment(), ...environment() },
      stdin: "pipe",
      stdout,
      stderr: "pipe",
    });
    closeSync(stdout);
    child.stdin.write(HANDSHAKE);
    // Answers to all of them are ninety megabytes, as text alone.
    const asked = 3000;
    for (let id = 0; id < asked; id += 1) child.stdin.write(line({ id, method: "tools/list" }));
    await child.stdin.end();
    await Bun.sleep(3000);
    const resident = residentBytes(child.pid);
    if (resident !== undefined) expect(resident).toBeLessThan(170 * MIB);
    const reader = openSync(pipe, constants.O_RDONLY);
    const count = Bun.spawn(["wc", "-l"], { stdin: reader, stdout: "pipe" });
    for (const end of [reader, held]) closeSync(end);
    expect((await new Response(count.stdout).text()).trim()).toBe(String(asked + 1));
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stderr).text()).toBe("");
  }, 120_000);

  test("over HTTP costs one answer, whatever it has asked, and nobody else waits for it", async () => {
    const { url, pid, send, end } = await startMcpServer(packIn("unread-http"));
    const key = KEYS.ada;
    const call = (name: string, args: object): object =>
      request("tools/call", { name, arguments: args });
    const items = [{ content: "The heron stands in the water. ".repeat(32_000) }];
    const ingested = await send(call("memory_ingest_fast_many", { items }), { key });
    const [eventId] = Object(ingested.json?.["result"])["structuredContent"]["event_ids"];
    await send(call("memory_process_materializations", { budget_ms: 30_000 }), { key });
    const question = call("memory_get_event", { event_id: eventId });
    expect((await send(question, { key })).text.length).toBeGreaterThan(MIB);
    const before = residentBytes(pid);

    const body = JSON.stringify(question);
    const head = [
      "POST /mcp HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ].join("\r\n");
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    // All answers together are four hundred megabytes.
    socket.write(`${head}\r\n\r\n${body}`.repeat(200));
    await Bun.sleep(2000);
    expect((await send(request("ping"), { key: KEYS.bob })).status).toBe(200);
    const after = residentBytes(pid);
    if (before !== undefined && after !== undefined) {
      expect(after - before).toBeLessThan(150 * MIB);
    }
    socket.destroy();
    expect(await end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  }, 120_000);
});

describe("arguments of 1 MB", () => {
  /** Some words, so that a text is long in every way. */
  const LONG = "The heron stands in the shallow water. ".repeat(27_000);

  const calls = [
    { name: "memory_ingest_fast_many", arguments: { items: [{ content: LONG }] } },
    { name: "memory_store", arguments: { content: LONG } },
    { name: "memory_retrieve", arguments: { query: LONG } },
    { name: "memory_get_node", arguments: { node_id: LONG } },
  ];

  test("over stdio are answered, kept or refused, and the process goes on", async () => {
    const { client, leave } = await startAssistant({
      pack: packIn("large"),
      environment: { ...environment(), SVC_MCP_USER_ID: "ada" },
    });
    for (const call of calls) {
      const answer = await client.callTool(call);
      // A refusal does not repeat what it refuses.
      expect(JSON.stringify(answer).length).toBeLessThan(200_000);
    }
    const { contents } = await client.readResource({ uri: "memory://stats" });
    expect(JSON.stringify(contents)).toContain("node_count");
    expect(await leave()).toBe(0);
  }, 120_000);

  test("over HTTP are answered, kept or refused, and the server goes on", async () => {
    const { connect: connectAs, end } = await startMcpServer(packIn("large-http"));
    const client = await connectAs(KEYS.ada);
    for (const call of calls) {
      const answer = await client.callTool(call);
      expect(JSON.stringify(answer).length).toBeLessThan(200_000);
    }
    const { contents } = await client.readResource({ uri: "memory://stats" });
    expect(JSON.stringify(contents)).toContain("node_count");
    await client.close();
    expect(await end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  }, 120_000);
});

describe("a call that is cancelled half-way", () => {
  /** A language model that never answers, and what it saw. */
  function silentModel() {
    const seen = { asked: 0, gone: 0 };
    const never = Promise.withResolvers<Response>();
    const model = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (asked) => {
        seen.asked += 1;
        asked.signal.addEventListener("abort", () => {
          seen.gone += 1;
        });
        return never.promise;
      },
    });
    models.push(model);
    const settings = {
      SVC_ENABLE_QUERY_REFORMULATION: "true",
      SVC_EXTRACTION__PROVIDER: "openai",
      SVC_EXTRACTION__API_KEY: "no key",
      SVC_EXTRACTION__BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    };
    return { seen, settings };
  }

  const models: Bun.Server<undefined>[] = [];
  afterEach(async () => {
    await Promise.all(models.splice(0).map((model) => model.stop(true)));
  });

  const QUESTION = { name: "memory_retrieve", arguments: { query: "Where does the heron stand?" } };
  const HERON = {
    name: "memory_store",
    arguments: { content: "The heron stands in the shallow water." },
  };

  test.each(["with a handshake", "without one"])(
    "over stdio, in a revision %s, stops the work and gets no answer",
    async (era) => {
      const { seen, settings } = silentModel();
      const assistant = new AssistantProcess({
        pack: packIn(`cancel-${era.replaceAll(" ", "-")}`),
        environment: { ...environment(), ...settings, SVC_MCP_USER_ID: "ada" },
      });
      const meta = era === "without one" ? { _meta: envelope() } : {};
      if (era === "with a handshake") await assistant.open();
      await assistant.ask(1, "tools/call", { ...HERON, ...meta });
      assistant.say({ id: 2, method: "tools/call", params: { ...QUESTION, ...meta } });
      await until(() => seen.asked === 1);
      const params = { requestId: 2, ...meta };
      assistant.say({ method: "notifications/cancelled", params });
      await until(() => seen.gone === 1);
      const next = await assistant.ask(3, "tools/list", meta);
      expect(next.result).toBeDefined();
      expect(assistant.heard.filter(({ id }) => id === 2)).toEqual([]);
      expect(await assistant.leave()).toBe(0);
      expect(await assistant.stderr()).toBe("");
    },
    120_000,
  );

  test("by the official client over stdio stops the work", async () => {
    const { seen, settings } = silentModel();
    const { client, leave } = await startAssistant({
      pack: packIn("cancel-client"),
      environment: { ...environment(), ...settings, SVC_MCP_USER_ID: "ada" },
    });
    await client.callTool(HERON);
    const caller = new AbortController();
    const answer = client.callTool(QUESTION, undefined, { signal: caller.signal });
    await until(() => seen.asked === 1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await until(() => seen.gone === 1);
    expect(await leave()).toBe(0);
  }, 120_000);

  test.each(["with a handshake", "without one"])(
    "over HTTP, in a revision %s, by hanging up, stops the work",
    async (era) => {
      const { seen, settings } = silentModel();
      const server = await startMcpServer(packIn(`hang-up-${era.replaceAll(" ", "-")}`), settings);
      const { send } = server;
      await send(request("tools/call", HERON), { key: KEYS.ada });
      const isModern = era === "without one";
      const { message, headers } = isModern
        ? modern("tools/call", QUESTION)
        : { message: request("tools/call", QUESTION), headers: {} };
      const caller = new AbortController();
      const answer = send(message, { key: KEYS.ada, headers, signal: caller.signal });
      await until(() => seen.asked === 1);
      caller.abort();
      await expect(answer).rejects.toThrow();
      await until(() => seen.gone === 1);
      expect((await send(request("ping"), { key: KEYS.ada })).status).toBe(200);
      expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
      expect(server.log()).not.toMatch(/ERROR|WARN/);
    },
    120_000,
  );
});

describe("strangers", () => {
  test.each([
    ["no key", null],
    ["a wrong key", "a long random key of eve"],
    ["half a key", KEYS.ada.slice(0, 10)],
  ])(
    "%s gets nothing",
    async (_, key) => {
      const { send, end } = await startMcpServer(packIn("strangers"));
      const refused = await send(request("tools/list"), { key });
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
      expect(refused.json).toMatchObject({ error: "invalid_token" });
      await end("SIGTERM");
    },
    120_000,
  );

  test("other owners' ids are answered as ids that do not exist, over both transports", async () => {
    const pack = packIn("foreign");
    const server = await startMcpServer(pack);
    const ada = await server.connect(KEYS.ada);
    const store = await ada.callTool({
      name: "memory_store",
      arguments: { content: "Ada's locker has the number 7." },
    });
    const ids = Object(store.structuredContent);
    const stdio = await startAssistant({
      pack,
      environment: { ...environment(), SVC_MCP_USER_ID: "bob" },
    });
    const bob = await server.connect(KEYS.bob);
    const own = { nodeId: String(ids["node_id"]), eventId: String(ids["event_id"]) };
    for (const client of [bob, stdio.client]) {
      const tries = async ({ nodeId, eventId }: typeof own): Promise<string> => {
        const answers = [
          await client.callTool({ name: "memory_get_node", arguments: { node_id: nodeId } }),
          await client.callTool({ name: "memory_get_event", arguments: { event_id: eventId } }),
          await client.callTool({ name: "memory_archive_node", arguments: { node_id: nodeId } }),
          await client.callTool({ name: "memory_get_provenance", arguments: { node_id: nodeId } }),
          await client.callTool({
            name: "memory_supersede",
            arguments: { old_node_id: nodeId, new_node_id: MISSING_ID },
          }),
          await client.readResource({ uri: `memory://nodes/${nodeId}` }),
        ];
        return JSON.stringify(answers).replaceAll(nodeId, "ID").replaceAll(eventId, "ID");
      };
      const foreign = await tries(own);
      expect(foreign).not.toContain("locker");
      const missing = { nodeId: MISSING_ID, eventId: MISSING_ID };
      expect(foreign.replaceAll(MISSING_ID, "ID")).toBe(await tries(missing));
    }
    const kept = await ada.callTool({
      name: "memory_get_node",
      arguments: { node_id: own.nodeId },
    });
    expect(kept.structuredContent).toMatchObject({ lifecycle_state: "tentative" });
    await Promise.all([ada.close(), bob.close()]);
    expect(await stdio.leave()).toBe(0);
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  }, 120_000);
});
