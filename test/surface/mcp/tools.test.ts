import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { testClock } from "../../engine/engines.ts";
import { idIn, useTools } from "./served-tools.ts";
import { openSession, type Session } from "./session.ts";

const { open } = useTools();

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

describe("an expected failure is a normal result with an error", () => {
  test.each([
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
    {
      tool: "memory_retrieve",
      args: { query: "x", user_id: "a", ranking_multipliers: { graph: 2 } },
      error: "ranking_multipliers: have no meaning with fusion adaptive",
    },
    {
      tool: "memory_organize",
      args: { user_id: "a", jobs: "promote,feedback_apply" },
      error: "jobs: feedback_apply concerns all owners",
    },
    {
      tool: "memory_forget",
      args: { user_id: "a" },
      error: "ids: or session_id, containing or everything is needed",
    },
  ])("$tool: $error", async ({ tool, args, error }) => {
    const result = await answer(tool, args);
    expect(Object.keys(result)).toEqual(["error"]);
    expect(result["error"]).toStartWith(error);
  });
});

describe("arguments that break the schema are an error with a readable text", () => {
  test.each([
    {
      tool: "memory_store",
      args: { content: "x", user_id: "a", epistemic_type: "felt" },
      text: 'epistemic_type: "felt" is not one of observed, ',
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

describe("what a tool does, beyond one call of each", () => {
  async function openWorld() {
    const served = await open({ clock: testClock() });
    const ada = await served.connect("ada");
    const store = async (content: string) =>
      idIn(await ada.answer("memory_store", { content }), "node_id");
    const node = await store("Ada drinks green tea.");
    return { served, ada, node, other: await store("Ada drinks black coffee.") };
  }

  test("a change is recorded in the name of the bound owner, else of the operator", async () => {
    const { served, ada, node, other } = await openWorld();
    await ada.answer("memory_promote_node", { node_id: node });
    const operator = await served.connect();
    await operator.answer("memory_promote_node", { node_id: other });
    for (const [id, actor] of [
      [node, "ada"],
      [other, "mcp-operator"],
    ]) {
      const { operations } = await ada.answer("memory_get_provenance", { node_id: id });
      expect(operations).toMatchObject([{ op_type: "LIFECYCLE_CHANGED", actor_id: actor }]);
    }
  });

  test("memories are listed latest first, page by page, with what is unusual of each", async () => {
    const { ada, node, other } = await openWorld();
    await ada.answer("memory_archive_node", { node_id: node, pinned: true });
    const first = await ada.answer("memory_scan_nodes", { newest_first: true, limit: 1 });
    expect(first).toEqual({
      nodes: [
        {
          ...{ id: other, content: "Ada drinks black coffee.", node_type: "note" },
          stored: expect.any(String),
        },
      ],
      ...{ count: 1, has_more: true, next_cursor: other },
    });
    const page = { newest_first: true, limit: 1, after_id: other };
    expect(await ada.answer("memory_scan_nodes", page)).toMatchObject({
      nodes: [{ id: node, pinned: true }],
      has_more: false,
    });
    const lost = { newest_first: true, after_id: "01a21f31-a2f0-74e3-b4f6-29a7a70d439d" };
    expect((await ada.call("memory_scan_nodes", lost)).structured["error"]).toStartWith("after_id");
  });

  test("an empty list of states scans nothing, and null arguments are absent", async () => {
    const { ada } = await openWorld();
    const none = await ada.answer("memory_scan_nodes", { lifecycle_states: [] });
    expect(none).toMatchObject({ nodes: [], count: 0, has_more: false });
    const all = await ada.answer("memory_scan_nodes", { scope: null, lifecycle_states: null });
    expect(all).toMatchObject({ count: 2 });
  });

  test("a call needs nothing to go on but what stands in the text of the one before", async () => {
    const { ada, node, other } = await openWorld();
    const scanned = await ada.call("memory_scan_nodes", { limit: 1 });
    const after = /next_cursor (\S+)/.exec(scanned.text)?.[1];
    const next = await ada.call("memory_scan_nodes", { limit: 1, after_id: after });
    expect(/^([0-9a-f-]{36}) \(/m.exec(next.text)?.[1]).toBe(other);
    const { text } = await ada.call("memory_retrieve", { query: "green tea" });
    const cited = /^1\. ([0-9a-f-]{36}) /m.exec(text)?.[1];
    await ada.answer("memory_record_answer_citations", {
      request_id: /^request_id (\S+)$/m.exec(text)?.[1],
      answer_id: "a",
      cited_node_ids: [cited],
    });
    expect(cited).toBe(node);
  });
  test("organizing tells what it would change, and runs no job without time", async () => {
    const { ada } = await openWorld();
    for (const content of ["JS", "JavaScript"]) {
      await ada.answer("memory_store", { content, node_type: "entity" });
    }
    const job = { jobs: "alias_resolve", budget_ms: 60_000, dry_run: true };
    expect(await ada.answer("memory_organize", job)).toMatchObject({
      jobs_run: ["alias_resolve"],
      would_change: { changes: [{ job: "alias_resolve", from: "tentative", to: "superseded" }] },
    });
    const late = { jobs: "promote", budget_ms: -5 };
    expect(await ada.answer("memory_organize", late)).toMatchObject({ jobs_run: [] });
  });
});
