/** What a client may send and how it may behave, to a process that serves the pack and to one that is served. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AssistantProcess,
  endAllAssistants,
  hasOpen,
} from "../../scripts/bench/assistant-client.ts";
import { until } from "../until.ts";
import { livingIn, socketOf } from "./place.ts";

const OWNER = "ada";
const MEGABYTE = 1024 * 1024;

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

  test("of almost 16 MB are read, and answered with what is wrong with them", async () => {
    await inBothRoles(async (assistant) => {
      const query = "x".repeat(15 * MEGABYTE);
      const answer = await assistant.call("huge", "memory_retrieve", { query, user_id: OWNER });
      expect(answer.result ?? answer.error).toBeDefined();
      await store(assistant, "Still here after the huge one.");
      assistant.heard.length = 0;
    });
  }, 120_000);

  test("in pieces that cut characters, with carriage returns and blank lines between, are read", async () => {
    await inBothRoles(async (assistant) => {
      const content = "Żółw 東京 👋 goes home.";
      const params = { name: "memory_store", arguments: { content, user_id: OWNER } };
      const line = `\r\n\n${JSON.stringify({ jsonrpc: "2.0", id: "cut", method: "tools/call", params })}\r\n`;
      for (const byte of Buffer.from(line)) {
        assistant.child.stdin.write(new Uint8Array([byte]));
        await assistant.child.stdin.flush();
      }
      const { result } = await assistant.hears(({ id }) => id === "cut");
      const { event_id: eventId } = Object(result?.["structuredContent"]);
      expect(await contentOf(assistant, String(eventId))).toBe(content);
      assistant.heard.length = 0;
    });
  }, 120_000);

  test("with the ids 0 and the empty text are answered under these ids", async () => {
    await inBothRoles(async (assistant) => {
      for (const id of [0, ""]) {
        const { result } = await assistant.ask(id, "tools/list");
        expect(result).toHaveProperty("tools");
      }
      assistant.heard.length = 0;
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

  test("of a call that is cancelled half-way end nothing else", async () => {
    const served = await start();
    const args = {
      items: Array.from({ length: 50 }, (_, n) => ({ content: `turn ${n}` })),
      user_id: OWNER,
    };
    served.say({
      id: "long",
      method: "tools/call",
      params: { name: "memory_ingest_fast_many", arguments: args },
    });
    served.say({
      id: "work",
      method: "tools/call",
      params: { name: "memory_process_materializations", arguments: { user_id: OWNER } },
    });
    served.say({
      method: "notifications/cancelled",
      params: { requestId: "work", reason: "enough" },
    });
    await store(served, "Stored after the cancellation.");
    const before = performance.now();
    expect(await served.leave()).toBe(0);
    expect(performance.now() - before).toBeLessThan(9900);
  }, 120_000);
});

/** Kilobytes of memory that belong to the process alone; undefined where the system does not tell. */
function privateKilobytes(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Anonymous:\s+(\d+)/m.exec(text)?.[1]);
  } catch {
    return undefined;
  }
}

test("ten thousand calls that another process answers leave nothing behind in memory", async () => {
  const served = await start();
  const params = { _meta: { note: "x".repeat(4000) } };
  const ask = async (count: number, name: string): Promise<void> => {
    for (let from = 0; from < count; from += 100) {
      served.heard.length = 0;
      const ids = Array.from({ length: 100 }, (_, index) => `${name} ${from + index}`);
      for (const id of ids) served.say({ id, method: "ping", params });
      await served.hears(() => served.heard.length === ids.length);
      expect(new Set(served.heard.map(({ id }) => id))).toEqual(new Set(ids));
    }
  };
  // As much as is set aside for the traffic itself.
  await ask(5000, "warm");
  const before = privateKilobytes(served.pid);
  await ask(10_000, "call");
  const after = privateKilobytes(served.pid);
  // Forty megabytes of text have passed.
  if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(20 * 1024);
  expect(await served.leave()).toBe(0);
}, 120_000);

describe("a client that does not read", () => {
  /** Twice as many bytes of answers as may be held. */
  const CALLS = 300;
  const SIZE = 500_000;

  test.each(["is served by another process", "is served by its own"])(
    "and %s holds up only itself, fills nobody's memory, and finds every answer once it reads",
    async (role) => {
      const isServed = role.includes("another");
      const own = isServed ? pack : join(root, "own", "memory.pack");
      const deaf = new AssistantProcess({ pack: own, environment: livingIn(root), isDeaf: true });
      const opening = { protocolVersion: "2025-11-25", capabilities: {} };
      const clientInfo = { name: "deaf", version: "1.0.0" };
      deaf.say({ id: "open", method: "initialize", params: { ...opening, clientInfo } });
      deaf.say({ method: "notifications/initialized" });
      // It serves itself once it is the first that has the pack open.
      await until(async () => isServed || (hasOpen(deaf.pid, own) ?? true));
      const writer = await new AssistantProcess({ pack: own, environment: livingIn(root) }).open();
      const eventId = await store(writer, "x".repeat(SIZE));
      const watched = isServed ? [host.pid, deaf.pid] : [deaf.pid];
      const before = watched.map(privateKilobytes);
      const read = { name: "memory_get_event", arguments: { event_id: eventId } };
      for (let id = 0; id < CALLS; id += 1) deaf.say({ id, method: "tools/call", params: read });
      for (let count = 0; count < 10; count += 1) {
        await store(writer, `Stored beside a deaf client that ${role}, ${count}.`);
        await Bun.sleep(100);
      }
      for (const [index, pid] of watched.entries()) {
        const [now, then] = [privateKilobytes(pid), before[index]];
        if (now !== undefined && then !== undefined) expect(now - then).toBeLessThan(150 * 1024);
      }
      deaf.listen();
      await deaf.hears(() => deaf.heard.length >= CALLS + 1);
      expect(new Set(deaf.heard.map(({ id }) => id)).size).toBe(CALLS + 1);
      expect([await writer.leave(), await deaf.leave()]).toEqual([0, 0]);
      expect(await deaf.stderr()).toBe("");
    },
    120_000,
  );
});

describe("the socket", () => {
  const connect = async (): Promise<Socket> => {
    const socket = createConnection(socketOf(root, pack));
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.once("connect", resolve));
    return socket;
  };

  test("takes garbage, silence and two hundred connections without harm to anybody", async () => {
    const served = await start();
    const sockets = await Promise.all(Array.from({ length: 200 }, connect));
    for (const [index, socket] of sockets.entries()) {
      if (index % 3 === 0) socket.write(Buffer.alloc(200_000, index));
      if (index % 3 === 1) socket.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
      socket.resume();
    }
    await store(served, "Stored in the crowd.");
    const newcomer = await start();
    await store(newcomer, "Stored by a newcomer.");
    await Promise.all(
      // Who says nothing is ended after a while only.
      sockets
        .filter((_, index) => index % 3 !== 2)
        .map(
          (socket) =>
            new Promise<void>((resolve) => {
              if (socket.destroyed) resolve();
              socket.once("close", () => resolve());
            }),
        ),
    );
    expect(await newcomer.leave()).toBe(0);
    expect(await served.leave()).toBe(0);
    for (const socket of sockets) socket.destroy();
  }, 120_000);
});
