import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

/** The built program; the checks build it before they run the tests. */
const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");
const OWNER = "ada";

let folder: string;
let pack: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-exe-"));
  pack = join(folder, "memory.pack");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** No setting of the developer's own machine reaches the program. */
function environment(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CACHE_HOME: join(folder, "cache") };
}

async function connect(): Promise<Client> {
  const client = new Client({ name: "scenario", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: EXECUTABLE,
      args: ["mcp", "--db-path", pack],
      cwd: folder,
      env: environment(),
      stderr: "pipe",
    }),
  );
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args });
  expect(result.isError ?? false).toBe(false);
  // SAFETY: every tool declares an object as its output; the client has checked it.
  return result.structuredContent as Record<string, unknown>;
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

const HANDSHAKE =
  line({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "scenario", version: "1.0.0" },
    },
  }) + line({ method: "notifications/initialized" });

function spawn(path: string) {
  return Bun.spawn([EXECUTABLE, "mcp", "--db-path", path], {
    cwd: folder,
    env: environment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

describe("the built program and the official client", () => {
  test("a memory that one session stored is found by the next", async () => {
    const first = await connect();
    expect(first.getServerVersion()).toMatchObject({ name: "svc" });
    const { tools } = await first.listTools();
    expect(tools.map((tool) => tool.name)).toContain("memory_store");
    const stored = await call(first, "memory_store", {
      content: "Ada takes the night train to Vienna on Friday.",
      user_id: OWNER,
      node_type: "task",
    });
    expect(stored["processing_status"]).toMatchObject({ status: "complete" });
    await first.close();

    const second = await connect();
    await second.listTools();
    const found = await call(second, "memory_retrieve", {
      query: "When does Ada travel?",
      user_id: OWNER,
      include_context: true,
    });
    expect(found["results"]).toMatchObject([{ node_id: stored["node_id"], node_type: "task" }]);
    expect(found["context"]).toContain("night train");
    expect(found["metrics"]).toMatchObject({ backend_failures: {} });
    const node = await call(second, "memory_get_node", { node_id: stored["node_id"] });
    expect(node).toMatchObject({ user_id: OWNER, evidence_refs: [stored["event_id"]] });
    const { contents } = await second.readResource({ uri: "memory://stats" });
    expect(JSON.stringify(contents)).toContain("node_count");
    await second.close();
  }, 120_000);

  test("two sessions on one pack both work", async () => {
    const sessions = await Promise.all([connect(), connect()]);
    const stored = await Promise.all(
      sessions.map((client, index) =>
        call(client, "memory_ingest_fast_many", {
          user_id: "two",
          items: [{ content: `turn of session ${index}` }],
        }),
      ),
    );
    expect(stored.map((answer) => answer["accepted"])).toEqual([1, 1]);
    await Promise.all(sessions.map((client) => client.close()));
  }, 120_000);
});

describe("the process", () => {
  test("answers what was piped in, writes protocol only, and leaves with its client", async () => {
    const child = spawn(pack);
    child.stdin.write(HANDSHAKE);
    child.stdin.write(line({ id: 2, method: "tools/list" }));
    child.stdin.write(line({ id: 3, method: "resources/read", params: { uri: "memory://stats" } }));
    await child.stdin.end();
    const text = await new Response(child.stdout).text();
    const messages = text
      .trim()
      .split("\n")
      .map((answer) => JSON.parse(answer));
    expect(messages.map((message) => message.id).sort()).toEqual([1, 2, 3]);
    expect(await child.exited).toBe(0);
  }, 120_000);

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s ends it in order",
    async (signal) => {
      const child = spawn(pack);
      child.stdin.write(HANDSHAKE);
      await child.stdin.flush();
      const reader = child.stdout.getReader();
      await reader.read();
      reader.releaseLock();
      child.kill(signal);
      expect(await child.exited).toBe(0);
    },
    120_000,
  );

  test("a file that is no pack is told to the client and on stderr, and fails", async () => {
    const notes = join(folder, "notes.pack");
    await writeFile(notes, "these are my notes, and they stay as they are");
    const child = spawn(notes);
    child.stdin.write(HANDSHAKE);
    const params = { name: "memory_retrieve", arguments: { query: "q", user_id: OWNER } };
    child.stdin.write(line({ id: 2, method: "tools/call", params }));
    await child.stdin.end();
    const text = await new Response(child.stdout).text();
    const answer = JSON.parse(text.trim().split("\n").pop() ?? "");
    expect(answer.result.isError).toBe(true);
    expect(answer.result.content[0].text).toContain("notes.pack");
    expect(await new Response(child.stderr).text()).toContain("notes.pack");
    expect(await child.exited).toBe(1);
    expect(await Bun.file(notes).text()).toBe("these are my notes, and they stay as they are");
  }, 120_000);
});
