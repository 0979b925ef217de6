/** What a client may send and how it may behave, to a process that serves the pack and to one that is served. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssistantProcess, endAllAssistants } from "../../scripts/bench/assistant-client.ts";
import { livingIn } from "./place.ts";

const OWNER = "ada";

let root = "";
let pack = "";
/** Serves the pack for all tests. */
let host: AssistantProcess;
beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "svc-traffic-")));
  mkdirSync(join(root, "pack"));
  pack = join(root, "pack/memory.pack");
  host = await start();
  await store(host, "The first memory.");
}, 120_000);
afterAll(async () => {
  expect(await host.leave()).toBe(0);
  expect(await host.stderr()).toBe("");
  await endAllAssistants();
  rmSync(root, { recursive: true, force: true });
});

const start = async (): Promise<AssistantProcess> =>
  await new AssistantProcess({ pack, environment: livingIn(root) }).open();

let calls = 0;
async function store(assistant: AssistantProcess, content: string): Promise<string> {
  calls += 1;
  const { result } = await assistant.call(`store ${calls}`, "memory_store", {
    content,
    user_id: OWNER,
  });
  const { event_id: eventId } = Object(result?.["structuredContent"]);
  expect(typeof eventId).toBe("string");
  return String(eventId);
}

async function contentOf(assistant: AssistantProcess, eventId: string): Promise<string> {
  calls += 1;
  const { result } = await assistant.call(`event ${calls}`, "memory_get_event", {
    event_id: eventId,
  });
  return String(Object(result?.["structuredContent"]).content);
}

/** A process whose client is served through another one, and one that serves its client itself. */
async function inBothRoles(check: (assistant: AssistantProcess) => Promise<void>): Promise<void> {
  const served = await start();
  await check(served);
  expect(await served.leave()).toBe(0);
  await check(host);
}

describe("messages", () => {
  test("of a megabyte, in any script, come back as they were", async () => {
    await inBothRoles(async (assistant) => {
      const content = `Grüße 東京 مرحبا 👩‍👩‍👧 ${"ü東👋".repeat(30_000)}`;
      expect(await contentOf(assistant, await store(assistant, content))).toBe(content);
    });
  }, 120_000);

  test("that make no sense disturb nobody", async () => {
    const served = await start();
    for (const text of [
      "garbage",
      "{",
      "[]",
      "7",
      "null",
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      "\u0000\u0001",
    ]) {
      served.say(text);
    }
    served.say(JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "tools/list" }]));
    served.say({ id: "nobody asked", result: {} });
    expect((await served.ask("odd", "no/such/method")).error).toMatchObject({ code: -32_601 });
    expect((await served.ask("fine", "tools/list")).result).toHaveProperty("tools");
    const before = performance.now();
    expect(await served.leave()).toBe(0);
    // Nothing of it counts as a call that is still to be answered, for which it would wait ten seconds.
    expect(performance.now() - before).toBeLessThan(9900);
    expect(await served.stderr()).toBe("");
  }, 120_000);
});

/** Kilobytes of memory that belong to the process alone; 0 where the system does not tell. */
function privateKilobytes(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Anonymous:\s+(\d+)/m.exec(text)?.[1]);
  } catch {
    return 0;
  }
}

describe("a client that does not read", () => {
  /** Twice as many bytes of answers as may be held. */
  const CALLS = 300;
  const SIZE = 500_000;

  test("and is served by another process holds up only itself, fills nobody's memory, and finds every answer once it reads", async () => {
    const deaf = new AssistantProcess({ pack, environment: livingIn(root), isDeaf: true });
    const opening = { protocolVersion: "2025-11-25", capabilities: {} };
    const clientInfo = { name: "deaf", version: "1.0.0" };
    deaf.say({ id: "open", method: "initialize", params: { ...opening, clientInfo } });
    deaf.say({ method: "notifications/initialized" });
    const writer = await start();
    const eventId = await store(writer, "x".repeat(SIZE));
    const watched = [host.pid, deaf.pid];
    const before = watched.map(privateKilobytes);
    const read = { name: "memory_get_event", arguments: { event_id: eventId } };
    for (let id = 0; id < CALLS; id += 1) deaf.say({ id, method: "tools/call", params: read });
    // Garbage comes and goes; what is held for the client stays, however often others are served.
    const grown = (): number =>
      Math.max(...watched.map((pid, index) => privateKilobytes(pid) - Number(before[index])));
    const served = async (count: number): Promise<void> => {
      await store(writer, `Stored beside a deaf client, ${count}.`);
      await Bun.sleep(100);
    };
    for (let count = 0; count < 10; count += 1) await served(count);
    for (let count = 10; grown() > 150 * 1024; count += 1) await served(count);
    deaf.listen();
    await deaf.hears(() => deaf.heard.length >= CALLS + 1);
    expect(new Set(deaf.heard.map(({ id }) => id)).size).toBe(CALLS + 1);
    expect([await writer.leave(), await deaf.leave()]).toEqual([0, 0]);
    expect(await deaf.stderr()).toBe("");
  }, 120_000);
});
