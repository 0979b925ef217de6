import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { openSession, type Session } from "./session.ts";

let folder: string;
let session: Session;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-mcp-"));
  const { config } = loadConfig({ explicit: { pack_path: join(folder, "memory.pack") } });
  session = await openSession(() => openEngine(config));
  // From here on the client checks every result against the tool's output schema.
  await session.client.listTools();
});

afterAll(async () => {
  await session.leave();
  await rm(folder, { recursive: true, force: true });
});

async function call(name: string, args: Record<string, unknown>) {
  const result = await session.client.callTool({ name, arguments: args });
  // SAFETY: the shape of a tool result; the client has checked it.
  return result as {
    isError?: boolean;
    content: { type: string; text: string }[];
    structuredContent?: Record<string, unknown>;
  };
}

async function answer(name: string, args: Record<string, unknown>) {
  const result = await call(name, args);
  expect(result.isError ?? false).toBe(false);
  return result.structuredContent ?? {};
}

test("what one tool stored another finds and reads", async () => {
  const stored = await answer("memory_store", {
    content: "Ada prefers green tea.",
    user_id: "tea",
    node_type: "preference",
  });
  expect(stored["processing_status"]).toMatchObject({ status: "complete" });
  const found = await answer("memory_retrieve", { query: "green tea", user_id: "tea" });
  expect(found).toMatchObject({
    count: 1,
    results: [{ node_id: stored["node_id"], content: "Ada prefers green tea." }],
  });
  expect(found).not.toHaveProperty("context");
  const packed = await answer("memory_retrieve", {
    query: "green tea",
    user_id: "tea",
    include_context: true,
    scope: ["personal"],
    exclude_node_types: ["task"],
  });
  expect(packed["context"]).toContain("green tea");
  const node = await answer("memory_get_node", { node_id: stored["node_id"] });
  expect(node).toMatchObject({ id: stored["node_id"], node_type: "preference", pinned: false });
});

test("many texts are taken at once, once", async () => {
  const request = {
    user_id: "fast",
    request_id: "01900000-0000-7000-8000-00000000000a",
    items: [{ content: "one" }, { content: "two" }],
  };
  const first = await answer("memory_ingest_fast_many", request);
  expect(first).toMatchObject({ accepted: 2 });
  expect(await answer("memory_ingest_fast_many", request)).toEqual(first);
  const conflict = await answer("memory_ingest_fast_many", {
    ...request,
    items: [{ content: "3" }],
  });
  expect(conflict).toMatchObject({ error: expect.any(String), conflict: true });
  const done = await answer("memory_process_materializations", {
    user_id: "fast",
    budget_ms: 20_000,
  });
  expect(done).toEqual({ processed: 2, pending: 0, failed: 0 });
});

describe("an expected failure is a normal result with an error", () => {
  const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";

  test.each([
    { tool: "memory_store", args: { content: "x", user_id: " " }, error: "user_id: must be" },
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", node_type: "memo" },
      error: 'node_type: "memo" is not one of entity, ',
    },
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", scope: "home" },
      error: 'scope: "home" is not one of personal, ',
    },
    {
      tool: "memory_store",
      args: {
        content: "x",
        user_id: "a",
        valid_from: "2026-02-01T00:00:00Z",
        valid_to: "2026-01-01T00:00:00Z",
      },
      error: "valid_to: ",
    },
    { tool: "memory_ingest_fast_many", args: { user_id: "a", items: [] }, error: "items: has 0" },
    {
      tool: "memory_ingest_fast_many",
      args: { user_id: "a", items: [{ content: "x" }], request_id: "7" },
      error: "request_id: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", scope: [] },
      error: "scope: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", knowledge_at: "yesterday" },
      error: "knowledge_at: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", token_budget: -1 },
      error: "token_budget: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", max_per_source: 0 },
      error: "max_per_source: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", ranking_multipliers: { graph: 9 } },
      error: "ranking_multipliers.graph: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", ranking_multipliers: { graph: 2 } },
      error: "ranking_multipliers: have no meaning with fusion adaptive",
    },
    { tool: "memory_get_node", args: { node_id: "7" }, error: 'node_id: "7" is not a UUID' },
    { tool: "memory_get_node", args: { node_id: UNKNOWN }, error: `Node '${UNKNOWN}' not found` },
  ])("$tool: $error", async ({ tool, args, error }) => {
    const result = await answer(tool, args);
    expect(Object.keys(result)).toEqual(["error"]);
    expect(result["error"]).toStartWith(error);
  });
});

describe("arguments that break the schema are an error with a readable text", () => {
  test.each([
    { tool: "memory_store", args: { user_id: "a" }, text: "content: is required" },
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", colour: 1 },
      text: "colour: is not a known key",
    },
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", epistemic_type: "felt" },
      text: 'epistemic_type: "felt" is not one of observed, ',
    },
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", event_time: "2026-01-01T00:00:00" },
      text: "event_time: ",
    },
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", limit: "many" },
      text: 'limit: "many" is not a number',
    },
  ])("$tool: $text", async ({ tool, args, text }) => {
    const result = await call(tool, args);
    expect(result.isError).toBe(true);
    expect(result.structuredContent?.["error"]).toContain(text);
    expect(result.content[0]?.text).toBe(String(result.structuredContent?.["error"]));
  });

  test("an unknown key of an item is not answered with the arguments of the tool", async () => {
    const items = [{ content: "x", colour: 1 }];
    const nested = await call("memory_ingest_fast_many", { user_id: "a", items });
    expect(nested.structuredContent?.["error"]).toEndWith("items[0].colour: is not a known key");
    const both = await call("memory_ingest_fast_many", { user_id: "a", items, colour: 1 });
    expect(both.structuredContent?.["error"]).toContain("; the arguments are items, ");
  });
});
