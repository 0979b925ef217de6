/**
 * Clients that do wrong, against the built program over both transports. The program is SVC_EXE, else dist/svc, else
 * src/main.ts under Bun.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AssistantProcess, startAssistant } from "../../scripts/bench/assistant-client.ts";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { envelope } from "../surface/mcp/http-server.ts";
import { usePlace } from "./place.ts";

const place = usePlace("mcp-faults");
const { packIn } = place;
const environment = () => ({ ...place.environment(), SVC_KEY_STORE: "file" });

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
});
