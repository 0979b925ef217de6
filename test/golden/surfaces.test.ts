/**
 * What stands on disk and goes over the wire, byte for byte. `GOLDEN=write` writes the files anew: only for a change that a
 * user is meant to see, and never for `export.jsonl` and `rows.txt`, in which old packs are written.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportLines, readSnapshot } from "../../src/adapters/sqlite/transfer/export-lines.ts";
import { DEFAULT_SCORING } from "../../src/domain/scoring.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { createHttpApp } from "../../src/surface/http/app.ts";
import { buildOpenApi } from "../../src/surface/http/openapi.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { at } from "../contract/samples.ts";
import {
  DEFAULT_SETTINGS,
  type EngineOptions,
  type OpenedEngine,
  tokenizer,
  useEngines,
} from "../engine/engines.ts";
import { callerOf } from "../surface/mcp/served-tools.ts";
import { openSession } from "../surface/mcp/session.ts";

const FOLDER = join(import.meta.dir, "surfaces");
const { open } = useEngines();

beforeAll(() => tokenizer.ready());

/** Compares with the file of that name. */
function expectGolden(name: string, text: string): void {
  const path = join(FOLDER, name);
  if (process.env["GOLDEN"] === "write") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}

/** Identifiers that ascend, the same in each run. */
function countedIds() {
  let serial = 0;
  return {
    next: () => {
      serial += 1;
      return asUuid(`01900000-0000-7000-8000-${serial.toString(16).padStart(12, "0")}`);
    },
  };
}

/** A clock that stands still while a call runs. */
function callClock() {
  let second = 0;
  return {
    now: () => at(second),
    next: () => {
      second += 1;
    },
  };
}
type CallClock = ReturnType<typeof callClock>;

const TURN = { session_id: "s1", user_id: "ada" };
const STORED = [
  { ...TURN, content: "The dentist of Ada is Dr. Li.", node_type: "fact", speaker: "Ann" },
  { ...TURN, content: "Ada moved to Graz last week.", event_time: "2025-12-24T09:00:00+01:00" },
  {
    user_id: "ada",
    content: "Call Dr. Li on Friday.",
    node_type: "task",
    scope: "project",
    metadata: { deep: { list: [1, "two", null] } },
    value_bindings: [
      { reference: "li", kind: "person", presentation: "Dr. Li", lookup: "Dr. Li Wei" },
    ],
    valid_from: "2025-12-01T00:00:00Z",
    valid_to: "2027-03-01T00:00:00Z",
    ttl_days: 30,
    confidence: 0.75,
    epistemic_type: "inferred",
    source_type: "system_inferred",
  },
  { user_id: "ada", content: "The dentist of Ada is Dr. Moor.", node_type: "fact", ttl_days: null },
  {
    user_id: "ada",
    content: "I spent $20 on gas.",
    node_type: "fact",
    metadata: {
      subject: "I",
      predicate: "spent_on_gas",
      object: "$20",
      quantity: { value: "20", unit: "$", text: "$20" },
    },
  },
  {
    user_id: "ada",
    content: "Ada may sail when the wind is low.",
    epistemic_type: "conditional",
    metadata: { condition: "the wind is below 5" },
  },
  { user_id: "ada", content: "Old note.", role: "assistant", scope: "agent" },
  { user_id: "bob", content: "Bob has a dentist too." },
] as const;

type Ask = (
  path: string,
  body?: unknown,
  method?: string,
) => Promise<Readonly<Record<string, string>>>;

/** An engine behind HTTP; every answer is noted as it was sent, but for the times that stages took. */
function served({ engine }: OpenedEngine, clock: CallClock, log: string[]): Ask {
  const app = createHttpApp({
    engine: () => engine,
    version: "9.9.9",
    auth: {},
    cors: { origins: [], allowCredentials: false },
    log: () => {},
  });
  return async (path, body, method = body === undefined ? "GET" : "POST") => {
    clock.next();
    const answer = await app.request(path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const text = await answer.text();
    const shown = text
      .replace(/"timing_ms":[^,}]+/g, '"timing_ms":0')
      .replace(/"change_sequence":"[^"]+","bytes":\d+/, '"change_sequence":"1","bytes":1');
    log.push(`${method} ${path} ${answer.status}\n${shown}\n`);
    return JSON.parse(text);
  };
}

async function openFilled(log: string[], options: EngineOptions = {}) {
  const clock = callClock();
  const opened = await open({ clock, ids: countedIds(), ...options });
  const ask = served(opened, clock, log);
  const ids: string[] = [];
  const events: string[] = [];
  for (const body of STORED) {
    const { node_id: node = "", event_id: event = "" } = await ask("/v1/store", body);
    ids.push(node);
    events.push(event);
  }
  return { ...opened, ask, ids, events };
}

const QUESTION = { user_id: "ada", query: "Who is the dentist of Ada?", token_budget: 300 };

/** Changes of every kind. */
async function change(ask: Ask, ids: readonly string[], events: readonly string[]): Promise<void> {
  const [first, moved, task, moor, , conditional, old] = ids;
  await ask(`/v1/nodes/${first}/reinforce`, { evidence_id: events[1] }, "PUT");
  await ask(`/v1/nodes/${moved}/promote`, {}, "PUT");
  await ask(`/v1/nodes/${conditional}/condition`, { state: "true", reason: "calm" }, "PUT");
  await ask("/v1/contradictions", { node_a_id: first, node_b_id: moor, evidence_id: events[3] });
  await ask("/v1/contradictions/resolve", { winner_id: moor, loser_id: first });
  const { node_id: newer } = await ask("/v1/store", {
    user_id: "ada",
    scope: "agent",
    content: "New note.",
  });
  await ask("/v1/supersedences", { old_node_id: old, new_node_id: newer });
  await ask(`/v1/nodes/${task}/archive`, {}, "PUT");
}

async function readAll(ask: Ask, ids: readonly string[], events: readonly string[]): Promise<void> {
  const [first, , , moor] = ids;
  const claims = { subject: "I", predicate: "spent_on_gas", scope: "personal" };
  await ask("/v1/health");
  await ask("/v1/stats");
  await ask("/v1/nodes?user_id=ada&limit=3");
  await ask("/v1/nodes/scan?user_id=ada&limit=2");
  await ask(`/v1/nodes/${first}`);
  await ask(`/v1/nodes/${first}/provenance`);
  await ask(`/v1/nodes/${moor}/provenance?operation_limit=1`);
  await ask(`/v1/nodes/${first}/neighborhood`);
  await ask(`/v1/nodes/${ids[6]}/chain`);
  await ask(`/v1/events/${events[1]}`);
  await ask(`/v1/events/${events[1]}/nodes`);
  await ask(`/v1/events/${events[1]}/processing-status`);
  await ask(`/v1/events/${events[1]}/extraction`);
  await ask("/v1/assertions/aggregate", { user_id: "ada", query: { valid_at: at(5) } });
  await ask("/v1/assertions/state", {
    user_id: "ada",
    query: { ...claims, valid_at: "2026-01-02T00:00:00Z", knowledge_at: "2026-01-02T00:00:00Z" },
  });
  await ask("/v1/quantities/aggregate", {
    user_id: "ada",
    query: { group_by: ["unit", "subject"] },
  });
  await ask("/v1/quantities/aggregate-text", { user_id: "ada", question: "How much did I spend?" });
  await ask("/v1/quantities/aggregate-text", { user_id: "ada", question: "What is new?" });
}

/** A retrieval, its receipt, and what an answer cites from it. */
async function retrieve(ask: Ask, more: object = {}): Promise<void> {
  // SAFETY: the shape of a retrieval.
  const { metrics } = (await ask("/v1/retrieve", { ...QUESTION, ...more })) as unknown as {
    metrics?: { request_id: string };
  };
  await ask(`/v1/retrievals/${metrics?.request_id}?user_id=ada`);
}

test("HTTP answers as before", async () => {
  const log: string[] = [];
  const { ask, ids, events } = await openFilled(log);
  await retrieve(ask);
  await change(ask, ids, events);
  await ask("/v1/ingest", { user_id: "ada", content: "Said by hand." });
  const { event_ids: [late] = [] } = await ask("/v1/ingest/fast", {
    user_id: "ada",
    items: [{ content: "Said later." }],
  });
  await ask(`/v1/events/${late}/processing-status`);
  await ask("/v1/materializations/process", { user_id: "ada" });
  await readAll(ask, ids, events);
  await retrieve(ask, { scope: "personal", limit: 2, knowledge_at: "2026-01-01T00:00:05Z" });
  await retrieve(ask, { query: "How many dentists does Ada have?", max_per_source: 1 });
  const { citation_id: citation } = await ask("/v1/answer-citations", {
    user_id: "ada",
    request_id: JSON.parse(log.at(-2)?.split("\n")[1] ?? "").metrics.request_id,
    answer_id: "a1",
    citation_id: "01900000-0000-7000-8000-00000000c1c1",
  });
  await ask(`/v1/answer-citations/${citation}?user_id=ada`);
  await ask("/v1/answer-citations?user_id=ada");
  expectGolden("http.txt", log.join(""));
});

test.each([
  {
    name: "relative",
    settings: {
      scoring: {
        ...DEFAULT_SCORING,
        fusion: { kind: "relative", semanticShare: 0.6, recencyBoost: 0.5, tieBreak: "event_time" },
      },
      newerFirst: true,
    },
    more: { query: "Where does Ada live now?", explain: true },
  },
  {
    name: "adaptive",
    settings: {
      scoring: {
        ...DEFAULT_SCORING,
        fusion: {
          kind: "adaptive",
          semanticShare: 0.65,
          fullCoverage: 0.5,
          recencyBoost: 0.5,
          tieBreak: "event_time",
        },
      },
    },
    more: { query: "Where does Ada live now?", explain: true },
  },
  {
    name: "weighted",
    settings: {
      scoring: { ...DEFAULT_SCORING, fusion: { kind: "weighted", recencyTime: "event_time" } },
      packing: {
        ...DEFAULT_SETTINGS.packing,
        contextFormat: "auditable",
        evidenceAugmentationTopK: 3,
      },
    },
    more: {
      ranking_multipliers: { lexical: 2 },
      source_types: ["user_stated"],
      min_score: 0.1,
      explain: true,
    },
  },
] as const)("a retrieval with $name fusion answers as before", async ({ name, settings, more }) => {
  const log: string[] = [];
  const { ask } = await openFilled(log, { settings });
  log.length = 0;
  await retrieve(ask, more);
  expectGolden(`${name}.txt`, log.join(""));
});

test("rows, audit records and export lines are as before", async () => {
  const log: string[] = [];
  const { ask, ids, events, pack, engine } = await openFilled(log);
  await change(ask, ids, events);
  await engine.close();
  const choices = { withVectors: false, softwareVersion: "1.2.3", exportedAt: at(60) };
  const lines = readSnapshot(pack.layout, connectionOf(pack), (database) =>
    exportLines(database, choices),
  );
  expectGolden("export.jsonl", [...lines].join(""));
  const rows = readSnapshot(pack.layout, connectionOf(pack), (database) =>
    ["events", "nodes", "edges"].flatMap((table) =>
      database
        .query(`SELECT * FROM ${table} ORDER BY key`)
        .all()
        .map((row) => `${table} ${JSON.stringify(row)}\n`),
    ),
  );
  expectGolden("rows.txt", [...rows].join(""));
});

test("the OpenAPI document is as before", () => {
  expectGolden("openapi.json", `${JSON.stringify(buildOpenApi("1.2.3"))}\n`);
});

test("MCP lists and answers as before", async () => {
  const log: string[] = [];
  const { engine, ids, events } = await openFilled(log);
  log.length = 0;
  const session = await openSession(() => Promise.resolve({ ...engine, close: async () => {} }), {
    boundUserId: "ada",
    toolSet: "full",
  });
  const { tools } = await session.client.listTools();
  expectGolden("tools.json", `${tools.map((tool) => JSON.stringify(tool)).join("\n")}\n`);
  const { call } = callerOf(session);
  const note = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const { structured, text } = await call(tool, args);
    const json = JSON.stringify({ structured, text });
    log.push(`${tool} ${json.replace(/"timing_ms":[^,}]+/g, '"timing_ms":0')}\n`);
    return structured;
  };
  const found = await note("memory_retrieve", { query: QUESTION.query, include_context: true });
  // SAFETY: the shape of a retrieval.
  const { request_id } = found["metrics"] as { request_id: string };
  await note("memory_get_retrieval_receipt", { request_id });
  await note("memory_get_node", { node_id: ids[2] });
  await note("memory_get_event", { event_id: events[2] });
  await note("memory_scan_nodes", { limit: 2 });
  await note("memory_get_provenance", { node_id: ids[0] });
  await note("memory_aggregate_assertions", { valid_at: "2026-01-02T00:00:00Z" });
  await note("memory_aggregate_quantities", {});
  await note("memory_aggregate_quantities_from_text", { question: "How much did I spend?" });
  await note("memory_get_assertion_state", {
    subject: "I",
    predicate: "spent_on_gas",
    scope: "personal",
    valid_at: "2026-01-02T00:00:00Z",
  });
  await note("memory_store", { content: "Ada likes tea.", node_type: "preference" });
  await note("memory_process_materializations", {});
  await session.leave();
  expectGolden("mcp.txt", log.join(""));
});
