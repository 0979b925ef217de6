import { describe, expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import { SvcError } from "../../../src/domain/errors.ts";
import { parseMetadata } from "../../../src/domain/metadata.ts";
import { serveMcpStdio } from "../../../src/surface/mcp/stdio.ts";
import { fakeEngine } from "../fake-engine.ts";
import { BARE_NODE, NODE_ID } from "../fixtures.ts";
import { openSession } from "./session.ts";

const NEXT_REVISION = "2026-07-28";

describe("the engine", () => {
  test("is opened by the handshake, which repeats the user's standing instructions and nothing else", async () => {
    const entry = {
      name: undefined,
      memories: undefined,
      nodeId: NODE_ID,
      at: BARE_NODE.createdAt,
    };
    const entries = [
      { ...entry, part: "instructions", text: "Never book me anything before 9:30." },
      { ...entry, part: "preferences", text: "I prefer tea." },
    ] as const;
    const owners: unknown[] = [];
    const session = await openSession(() =>
      Promise.resolve(
        fakeEngine({
          packOwner: () => Promise.resolve("ada"),
          overview: ({ userId }) => {
            owners.push(userId);
            return Promise.resolve({ entries, text: "", tokens: 0, leftOut: 0 });
          },
        }),
      ),
    );
    const told = session.client.getInstructions()?.split("\n");
    expect(told?.slice(1)).toEqual([
      "The user's standing instructions:",
      "- Never book me anything before 9:30.",
    ]);
    expect(new Set(owners)).toEqual(new Set(["ada"]));
    await session.leave();
  });

  test("that is slow to open does not hold up the handshake", async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof fakeEngine>>();
    const session = await openSession(() => promise);
    expect(session.client.getInstructions()).not.toContain("standing instructions");
    resolve(fakeEngine());
    await session.leave();
  });

  test("is opened by the first call, once, and closed at the end", async () => {
    const events: string[] = [];
    const session = await openSession(() => {
      events.push("open");
      return Promise.resolve(
        fakeEngine({
          getNode: () => Promise.resolve(BARE_NODE),
          close: async () => {
            events.push("close");
          },
        }),
      );
    });
    const ask = { name: "memory_get_node", arguments: { node_id: NODE_ID } };
    await Promise.all([session.client.callTool(ask), session.client.callTool(ask)]);
    await session.leave();
    expect(events).toEqual(["open", "close"]);
  });

  test("that cannot open is told to every call and in the log, and fails the session", async () => {
    const failure = new SvcError("not_a_pack", "notes.txt is not a pack; name another file");
    const session = await openSession(() => Promise.reject(failure));
    for (let round = 0; round < 2; round += 1) {
      const result = await session.client.callTool({
        name: "memory_get_node",
        arguments: { node_id: NODE_ID },
      });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain(
        "notes.txt is not a pack; name another file",
      );
    }
    expect(session.log).toEqual([
      "The memory could not be opened: notes.txt is not a pack; name another file",
    ]);
    await expect(session.leave()).rejects.toBe(failure);
  });

  test("that could not open in the handshake is opened by a later call, and then the session has not failed", async () => {
    const failures = [
      new SvcError("pack_in_use", "the pack is being compacted"),
      new SvcError("pack_in_use", "the pack is being compacted"),
      new SvcError("storage_failed", "the disk is full"),
    ];
    let openings = 0;
    const session = await openSession(() => {
      const failure = failures[openings];
      openings += 1;
      if (failure !== undefined) return Promise.reject(failure);
      return Promise.resolve(fakeEngine({ getNode: () => Promise.resolve(BARE_NODE) }));
    });
    const outcomes: unknown[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { isError = false } = await session.client.callTool({
        name: "memory_get_node",
        arguments: { node_id: NODE_ID },
      });
      outcomes.push(isError);
    }
    expect(outcomes).toEqual([true, true, false, false, false]);
    expect(openings).toBe(4);
    expect(session.log).toEqual([
      "The memory could not be opened: the pack is being compacted",
      "The memory could not be opened: the disk is full",
    ]);
    await session.leave();
  });
});

describe("the end", () => {
  test("a stop signal ends the session", async () => {
    const stop = new AbortController();
    const session = await openSession(() => Promise.resolve(fakeEngine()), { stop: stop.signal });
    stop.abort();
    await session.served;
  });

  test("a call under way is answered before the engine closes", async () => {
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const engine = fakeEngine({
      getNode: async () => {
        begun.resolve();
        await Bun.sleep(50);
        order.push("answered");
        return BARE_NODE;
      },
      close: async () => {
        order.push("closed");
      },
    });
    const session = await openSession(() => Promise.resolve(engine));
    const answer = session.client.callTool({
      name: "memory_get_node",
      arguments: { node_id: NODE_ID },
    });
    await begun.promise;
    const left = session.leave();
    expect((await answer).structuredContent).toMatchObject({ id: NODE_ID });
    await left;
    expect(order).toEqual(["answered", "closed"]);
  });
});

describe("a bound owner", () => {
  test("is the owner of every call; naming another is an error", async () => {
    const owners: unknown[] = [];
    const engine = fakeEngine({
      getNode: (_id, options) => {
        owners.push(options?.userId);
        return Promise.resolve(undefined);
      },
      processPending: (input) => {
        owners.push(input?.userId);
        return Promise.resolve({ processed: 0, pending: 0, failed: 0 });
      },
    });
    const session = await openSession(() => Promise.resolve(engine), { boundUserId: "ada" });
    const { tools } = await session.client.listTools();
    expect(tools[0]?.inputSchema.required).toEqual(["content"]);
    const process = (args: Record<string, unknown>) =>
      session.client.callTool({ name: "memory_process_materializations", arguments: args });
    await session.client.callTool({ name: "memory_get_node", arguments: { node_id: NODE_ID } });
    await process({});
    const foreign = await process({ user_id: "bob" });
    expect(foreign.structuredContent).toMatchObject({ error: expect.stringContaining('"bob"') });
    expect(owners).toEqual(["ada", "ada"]);
    await session.leave();
  });
});

test("an unexpected failure says nothing but the tool's name", async () => {
  const engine = fakeEngine({ getNode: () => Promise.reject(new TypeError("wires crossed")) });
  const session = await openSession(() => Promise.resolve(engine));
  const result = await session.client.callTool({
    name: "memory_get_node",
    arguments: { node_id: NODE_ID },
  });
  expect(result.structuredContent).toEqual({ error: "Internal error in memory_get_node" });
  expect(session.log.join("\n")).toContain("wires crossed");
  await session.leave();
});

test("the stateless revision is served without a handshake", async () => {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const engine = fakeEngine({
    getNode: () => Promise.resolve(BARE_NODE),
    claimPack: () => Promise.resolve(undefined),
    storeWithReceipt: async ({ metadata }) => {
      parseMetadata(metadata);
      throw new Error("not refused");
    },
  });
  const served = serveMcpStdio({
    openEngine: () => Promise.resolve(engine),
    version: "9.9.9",
    log: () => {},
    stdin,
    stdout,
  });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": NEXT_REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const request = (id: number, method: string, params: object) =>
    stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } })}\n`,
    );
  request(1, "server/discover", {});
  request(2, "tools/list", {});
  request(3, "tools/call", { name: "memory_get_node", arguments: { node_id: NODE_ID } });
  const store = {
    name: "memory_store",
    arguments: { user_id: "ada", content: "x", metadata: { id: "HUGE" } },
  };
  stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { ...store, _meta: meta } }).replace('"HUGE"', "1234567890123456789")}\n`,
  );
  stdin.end();
  await served;
  stdout.end();
  const lines = (await stdout.toArray()).join("").trim().split("\n");
  const results = new Map(lines.map((line) => JSON.parse(line)).map((m) => [m.id, m.result]));
  expect(JSON.stringify(results.get(1))).toContain(NEXT_REVISION);
  expect(results.get(2).tools).toHaveLength(30);
  expect(results.get(3).structuredContent).toMatchObject({ id: NODE_ID });
  expect(results.get(4)).toMatchObject({
    structuredContent: { error: expect.stringContaining("metadata.id: 1234567890123456789 has") },
  });
});
