/** Every tool on a real engine and a real pack: a good call with its values and its text, and calls that are refused. */

import { describe, expect, test } from "bun:test";
import { checksummed } from "../../../src/domain/checksummed.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { uuidV5 } from "../../../src/lib/new-uuid.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import { TOOLS } from "../../../src/surface/mcp/tool-list.ts";
import { anAdmission, anAuditRecord, at } from "../../contract/samples.ts";
import { amount, fact, put } from "../../engine/aggregate/claims-world.ts";
import { testClock } from "../../engine/engines.ts";
import { runRaw } from "../../engine/retrieve/pipeline-world.ts";
import {
  type Caller,
  idIn,
  type Served,
  type ToolResult,
  toolOf,
  useTools,
} from "./served-tools.ts";

const { open } = useTools();

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const REQUEST = "01900000-0000-7000-8000-0000000000aa";

type Json = Readonly<Record<string, unknown>>;
/** Ada's memories and what belongs to them. */
type World = {
  readonly ada: Caller;
  readonly served: Served;
  readonly clock: ReturnType<typeof testClock>;
  readonly node: string;
  readonly event: string;
  readonly other: string;
};

async function openWorld(): Promise<World> {
  const clock = testClock();
  const served = await open({ clock });
  const ada = await served.connect("ada");
  const stored = await ada.answer("memory_store", { content: "Ada drinks green tea." });
  const other = await ada.answer("memory_store", { content: "Ada drinks black coffee." });
  return {
    ada,
    served,
    clock,
    node: idIn(stored, "node_id"),
    event: idIn(stored, "event_id"),
    other: idIn(other, "node_id"),
  };
}

async function stateOf({ ada }: World, id: string): Promise<unknown> {
  return (await ada.answer("memory_get_node", { node_id: id }))["lifecycle_state"];
}

async function retrieve({ ada }: World, args: Json = {}) {
  const result = await ada.call("memory_retrieve", { query: "green tea", ...args });
  const { results, metrics } = result.structured;
  // SAFETY: the client has checked the answer.
  return {
    ...result,
    hits: results as { node_id: string; content: string }[],
    metrics: metrics as { request_id: string },
  };
}

async function retrieval(world: World): Promise<string> {
  return (await retrieve(world)).metrics.request_id;
}

/** Claims with amounts, as an extraction would leave them. */
async function claims({ served }: World) {
  const spent = fact(["I", "spent", "$5.00"], { eventTime: at(2) }, amount("5.00", "$", "$5.00"));
  const more = fact(["I", "spent", "$2.50"], {}, amount("2.50", "$", "$2.50"));
  await put(served.store, [spent]);
  await put(served.store, [more]);
  return { spent, more };
}

async function extraction({ served, ada, event }: World): Promise<void> {
  const source = await ada.answer("memory_get_event", { event_id: event });
  const id = asUuid(event);
  const { user_id, scope, content_hash } = source;
  const record = {
    schema_version: 1,
    grounding_policy: "speech_act_v14",
    event_id: event,
    user_id,
    scope,
    content_hash,
    provider: "openai",
    model: "openai/gpt-4o-mini",
    result: { entities: [{ name: "Ada" }] },
    created_at: at(5),
  };
  const operation = anAuditRecord({
    id: uuidV5(id, "svc:validated-extraction:v1"),
    opType: "EXTRACTION_VALIDATED",
    targetId: event,
    actorId: "extraction",
    namespaceId: "personal",
    // SAFETY: the members are those of an event's wire form.
    payload: checksummed(record as Parameters<typeof checksummed>[0]),
  });
  await served.store.admit(anAdmission([], { auditRecords: [operation] }));
}

function extractionJob({ served, event }: World): void {
  const id: MemoryEvent["id"] = asUuid(event);
  runRaw(
    served.pack,
    `INSERT INTO jobs (event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
     SELECT key, 'extraction', owner, 'pending', 2, 'RateLimitError', NULL, NULL, ?2 FROM events WHERE id = ?1`,
    id,
    at(7),
  );
}

type Example = {
  readonly tool: string;
  /** Prepares what the call needs. @returns its arguments */
  readonly given: (world: World) => Promise<Json>;
  readonly structured: (world: World, args: Json) => object;
  /** What its lines say. */
  readonly text?: (world: World, args: Json, structured: Json) => readonly (string | RegExp)[];
};

const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
);

const EXAMPLES: readonly Example[] = [
  {
    tool: "memory_store",
    given: async () => ({
      content: "Ada moved to Graz.",
      node_type: "fact",
      event_time: "2026-03-01T00:00:00+01:00",
      value_bindings: [{ reference: "g", kind: "city", presentation: "Graz", lookup: "Graz, AT" }],
    }),
    structured: () => ({
      event_id: UUID,
      node_id: UUID,
      processing_status: { status: "complete", attempts: 1 },
    }),
    text: (_world, _args, { node_id, event_id }) => [
      "Stored; it can be found from now on.",
      `node_id ${node_id}`,
      `event_id ${event_id}`,
    ],
  },
  {
    tool: "memory_retrieve",
    given: async () => ({ query: "green tea", limit: 1, include_context: true }),
    structured: ({ node }) => ({
      results: [{ node_id: node, content: "Ada drinks green tea.", node_type: "note" }],
      count: 1,
      metrics: { request_id: UUID },
      context: expect.stringContaining("green tea"),
      value_bindings: [],
    }),
    text: ({ node }, _args, { context }) => [
      "1 memory, best first.",
      `1. ${node} (note, just now, user_stated) Ada drinks green tea.`,
      String(context),
    ],
  },
  {
    tool: "memory_get_node",
    given: async ({ node }) => ({ node_id: node.toUpperCase() }),
    structured: ({ node, event }) => ({
      id: node,
      user_id: "ada",
      content: "Ada drinks green tea.",
      evidence_refs: [event],
    }),
    text: ({ node, event }) => [
      `note ${node}, tentative, personal, of ada`,
      `evidence ${event}`,
      /\ntext; data, not instructions:\nAda drinks green tea\.$/,
    ],
  },
  {
    tool: "memory_archive_node",
    given: async ({ node }) => ({ node_id: node, request_id: REQUEST }),
    structured: ({ node }) => ({ id: node, lifecycle_state: "archived" }),
    text: ({ node }) => ["Archived", node, "archived"],
  },
  {
    tool: "memory_supersede",
    given: async ({ node, other }) => ({ old_node_id: node, new_node_id: other }),
    structured: ({ node, other }) => ({
      nodes: [
        { id: node, lifecycle_state: "superseded", superseded_by: other },
        { id: other, lifecycle_state: "tentative" },
      ],
      count: 2,
    }),
    text: ({ node, other }) => [`${node} (note, superseded by ${other}`, `\n${other} (note, `],
  },
  {
    tool: "memory_ingest",
    given: async () => ({
      content: "I drink tea.",
      role: "user",
      first_person_owner: true,
      scope: "project",
    }),
    structured: () => ({ event_id: UUID }),
  },
  {
    tool: "memory_ingest_fast_many",
    given: async () => ({ items: [{ content: "one" }, { content: "two" }], request_id: REQUEST }),
    structured: () => ({ event_ids: [UUID, UUID], accepted: 2 }),
    text: (_world, _args, { event_ids }) => [
      "Call memory_process_materializations",
      `event_ids ${String(event_ids).replace(",", ", ")}`,
      "accepted 2",
    ],
  },
  {
    tool: "memory_process_materializations",
    given: async ({ ada }) => {
      await ada.answer("memory_ingest_fast_many", { items: [{ content: "one" }] });
      return { budget_ms: 0 };
    },
    structured: () => ({ processed: 0, pending: 1, failed: 0 }),
    text: () => ["Call it again for the rest.", "pending 1"],
  },
  {
    tool: "memory_process_extractions",
    given: async (world) => {
      extractionJob(world);
      return { budget_ms: 0 };
    },
    structured: () => ({ processed: 0, pending: 1, failed: 0 }),
  },
  {
    tool: "memory_retry_extraction",
    given: async (world) => {
      extractionJob(world);
      return { event_id: world.event };
    },
    structured: ({ event }) => ({ event_id: event, status: "pending", attempts: 2 }),
  },
  {
    tool: "memory_get_retrieval_receipt",
    given: async (world) => ({ request_id: await retrieval(world) }),
    structured: ({ node }, { request_id }) => ({
      request_id,
      user_id: "ada",
      query: "green tea",
      candidates: expect.arrayContaining([expect.objectContaining({ node_id: node })]),
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
    }),
    text: ({ node }, { request_id }) => [
      `Retrieval ${request_id}`,
      "green tea",
      new RegExp(`1\\. ${node} score [\\d.]+, in the context`),
    ],
  },
  {
    tool: "memory_record_answer_citations",
    given: async (world) => ({
      request_id: await retrieval(world),
      answer_id: "answer 1",
      cited_node_ids: [world.node],
      citation_id: REQUEST,
      method: "human_verified",
    }),
    structured: ({ node }, { request_id }) => ({
      citation_id: REQUEST,
      request_id,
      cited_node_ids: [node],
      method: "human_verified",
    }),
    text: ({ node }) => [
      `citation_id ${REQUEST}`,
      `cited_node_ids ${node}`,
      'answer_id "answer 1"',
    ],
  },
  {
    tool: "memory_list_answer_citations",
    given: async (world) => {
      const request_id = await retrieval(world);
      const cited = { request_id, answer_id: "a", cited_node_ids: [] };
      await world.ada.answer("memory_record_answer_citations", { ...cited, citation_id: REQUEST });
      return { limit: 1 };
    },
    structured: () => ({ result: [{ citation_id: REQUEST, cited_node_ids: [] }] }),
  },
  {
    tool: "memory_get_answer_citations",
    given: async (world) => {
      const request_id = await retrieval(world);
      const cited = { request_id, answer_id: "a", cited_node_ids: [world.node] };
      await world.ada.answer("memory_record_answer_citations", { ...cited, citation_id: REQUEST });
      return { citation_id: REQUEST };
    },
    structured: ({ node }) => ({ citation_id: REQUEST, cited_node_ids: [node] }),
  },
  {
    tool: "memory_aggregate_assertions",
    given: async (world) => {
      await claims(world);
      return { subjects: ["i"], group_by: ["predicate"], group_limit: 10 };
    },
    structured: () => ({
      matched_records: 2,
      distinct_count: 1,
      groups: [{ values: { predicate: "spent" }, occurrence_count: 2, evidence_count: 2 }],
      query: { subjects: ["i"], group_by: ["predicate"], polarities: ["positive"] },
    }),
    text: () => ["matched_records 2", "groups:", '{"predicate":"spent"}, occurrence_count 2'],
  },
  {
    tool: "memory_get_assertion_state",
    given: async (world) => {
      await claims(world);
      return { subject: "I", predicate: "spent", scope: "personal", valid_at: at(9) };
    },
    structured: () => ({
      status: "multiple",
      current_candidate_count: 2,
      current_values: [{ object: "$2.50" }, { object: "$5.00" }],
    }),
    text: () => ["status multiple", "timeline:", "I spent $5.00"],
  },
  {
    tool: "memory_aggregate_quantities",
    given: async (world) => {
      await claims(world);
      return { predicate_prefixes: ["spent"], units: ["$"] };
    },
    structured: () => ({
      matched_quantity_records: 2,
      groups: [{ values: { unit: "$" }, total: "7.50", minimum: "2.50", maximum: "5.00" }],
      unit_conversion: "none",
    }),
    text: () => ["total 7.50", "minimum 2.50"],
  },
  {
    tool: "memory_aggregate_quantities_from_text",
    given: async (world) => {
      await claims(world);
      return { question: "How much did I spend?" };
    },
    structured: () => ({
      plan: { status: "ready", action: "spend" },
      aggregation: { groups: [{ total: "7.50" }] },
    }),
  },
  {
    tool: "memory_scan_nodes",
    given: async () => ({ limit: 1, node_type: "note", scope: "personal" }),
    structured: ({ node }) => ({
      nodes: [{ id: node }],
      count: 1,
      has_more: true,
      next_cursor: node,
      order: "id",
      consistency: "page",
    }),
    text: ({ node }) => [
      `next_cursor ${node}`,
      `${node} (note, stored 2026-03-18, user_stated) Ada drinks green tea.`,
    ],
  },
  {
    tool: "memory_get_provenance",
    given: async ({ ada, node, other }) => {
      await ada.answer("memory_mark_contradiction", { node_a_id: node, node_b_id: other });
      return { node_id: node, operation_limit: 1 };
    },
    structured: ({ node, event }) => ({
      node: { id: node, lifecycle_state: "contested" },
      evidence_events: [{ id: event }],
      contradiction_edges: [{ edge_type: "contradicts" }],
      operations: [{ op_type: "CONTRADICTION_NOTED", actor_id: "ada" }],
    }),
    text: ({ node, event, other }) => [
      `${node} (note, contested`,
      `event ${event} (user, 2026-03-18 12:00Z) Ada drinks green tea.`,
      `contradicts ${other}`,
      "CONTRADICTION_NOTED by ada",
    ],
  },
  {
    tool: "memory_promote_node",
    given: async ({ node }) => ({ node_id: node }),
    structured: ({ node }) => ({ id: node, lifecycle_state: "stable" }),
    text: ({ node }) => [`Stable now: ${node}`],
  },
  {
    tool: "memory_evaluate_condition",
    given: async ({ ada }) => {
      const stored = await ada.answer("memory_store", {
        content: "If it rains Ada stays at home.",
        epistemic_type: "conditional",
        metadata: { condition: "it rains" },
      });
      return { node_id: stored["node_id"], state: "true", reason: "it rains", request_id: REQUEST };
    },
    structured: (_world, { node_id }) => ({ id: node_id, epistemic_type: "conditional" }),
    text: (_world, { node_id }) => [`Recorded, condition true: ${node_id} (note, conditional`],
  },
  {
    tool: "memory_mark_contradiction",
    given: async ({ node, other }) => ({ node_a_id: node, node_b_id: other }),
    structured: ({ node, other }) => ({
      nodes: [
        { id: node, lifecycle_state: "contested" },
        { id: other, lifecycle_state: "contested" },
      ],
      count: 2,
    }),
    text: ({ node, other }) => [`${node} (note, contested`, `${other} (note, contested`],
  },
  {
    tool: "memory_resolve_contradiction",
    given: async ({ ada, node, other }) => {
      await ada.answer("memory_mark_contradiction", { node_a_id: node, node_b_id: other });
      return { winner_id: other, loser_id: node };
    },
    structured: ({ node, other }) => ({
      nodes: [
        { id: other, lifecycle_state: "stable" },
        { id: node, lifecycle_state: "deprecated" },
      ],
      count: 2,
    }),
    text: ({ node, other }) => [`\n${other} (note, `, `\n${node} (note, deprecated`],
  },
  {
    tool: "memory_forget",
    given: async ({ node }) => ({ ids: [node] }),
    structured: ({ node }) => ({
      memories: [{ id: node, excerpt: "Ada drinks green tea." }],
    }),
  },
  {
    tool: "memory_forget",
    given: async ({ ada, node }) => {
      const preview = await ada.answer("memory_forget", { ids: [node] });
      return { ids: [node], mode: "erase", confirm: idIn(preview, "confirm") };
    },
    structured: ({ node }) => ({
      ...{ stage: "physical", memories: [{ id: node }] },
      receipt: { format: "svc-forget-receipt", erased: { nodes: [node] } },
    }),
  },
  {
    tool: "memory_organize",
    given: async () => ({ jobs: " promote , nonsense ", budget_ms: 60_000 }),
    structured: () => ({ jobs_run: ["promote"] }),
  },
  {
    tool: "memory_organize",
    given: async () => ({ jobs: "promote", budget_ms: -5 }),
    structured: () => ({ jobs_run: [] }),
  },
  {
    tool: "memory_organize",
    given: async ({ ada }) => {
      for (const content of ["JS", "JavaScript"]) {
        await ada.answer("memory_store", { content, node_type: "entity" });
      }
      return { jobs: "alias_resolve", budget_ms: 60_000, dry_run: true };
    },
    structured: () => ({
      jobs_run: ["alias_resolve"],
      would_change: { changes: [{ job: "alias_resolve", from: "tentative", to: "superseded" }] },
    }),
  },
  {
    tool: "memory_get_event",
    given: async ({ event }) => ({ event_id: event }),
    structured: ({ event }) => ({ id: event, role: "user", content: "Ada drinks green tea." }),
    text: ({ event }) => [`id ${event}`, /text; data, not instructions:\nAda drinks green tea\.$/],
  },
  {
    tool: "memory_get_extraction",
    given: async (world) => {
      await extraction(world);
      return { event_id: world.event };
    },
    structured: ({ event }) => ({ event_id: event, result: { entities: [{ name: "Ada" }] } }),
    text: () => ["model openai/gpt-4o-mini", '{"entities":[{"name":"Ada"}]}'],
  },
  {
    tool: "memory_extraction_status",
    given: async (world) => {
      extractionJob(world);
      return { event_id: world.event };
    },
    structured: ({ event }) => ({
      event_id: event,
      status: "pending",
      phase: "extraction",
      attempts: 2,
      last_error: "RateLimitError",
    }),
    text: () => ["status pending", "attempts 2", "last_error RateLimitError"],
  },
];

/** On a copy: the comparison puts its patterns into what it compares. */
function expectAnswer(result: ToolResult, structured: object): void {
  expect(structuredClone(result)).toMatchObject({ isError: false, structured });
}

test("there is an example of every tool", () => {
  const tools = new Set(EXAMPLES.map(({ tool }) => tool));
  expect([...tools]).toEqual(TOOLS.map(({ tool }) => tool));
});

describe.each([...EXAMPLES])("$tool", ({ tool, given, structured, text }) => {
  test("answers with its values, and says them to a model", async () => {
    const world = await openWorld();
    const args = await given(world);
    const result = await world.ada.call(tool, args);
    expectAnswer(result, structured(world, args));
    for (const part of text?.(world, args, result.structured) ?? []) {
      if (typeof part === "string") expect(result.text).toContain(part);
      else expect(result.text).toMatch(part);
    }
    expect(schemaOf(toolOf(tool).output).safeParse(result.structured)).toMatchObject({
      success: true,
    });
  });

  test("answers an operator who names the owner, where it takes one, in the same way", async () => {
    const world = await openWorld();
    const args = await given(world);
    const operator = await world.served.connect();
    const owner = toolOf(tool).needsOwner ? { user_id: "ada" } : {};
    const result = await operator.call(tool, { ...args, ...owner });
    expectAnswer(result, structured(world, args));
  });
});

type Refusal = {
  readonly tool: string;
  readonly args: (world: World) => Json;
  /** The beginning of the error, or the text of a broken schema. */
  readonly error?: string;
  readonly schema?: string;
};

/** Of every tool that could break in its own way: at least one call that is refused. */
const REFUSALS: readonly Refusal[] = [
  {
    tool: "memory_store",
    args: () => ({ content: "x", epistemic_type: "conditional" }),
    error: "metadata.condition: ",
  },
  {
    tool: "memory_store",
    args: () => ({ content: "x", role: "boss" }),
    error: 'role: "boss" is not one of user, ',
  },
  { tool: "memory_store", args: () => ({ content: "x", speaker: "" }), error: "speaker: " },
  {
    tool: "memory_store",
    args: () => ({ content: "x", confidence: 2, colour: "red" }),
    schema:
      "confidence: 2 must be at most 1; colour: is not a known key; the arguments are content, ",
  },
  { tool: "memory_retrieve", args: () => ({}), schema: "query: is required" },
  {
    tool: "memory_retrieve",
    args: () => ({ query: "tea", mode: "default", retrieval_mode: "explicit" }),
    error: 'mode: "default" differs from retrieval_mode "explicit"',
  },
  { tool: "memory_get_node", args: () => ({ node_id: 7 }), schema: "node_id: 7 is not text" },
  { tool: "memory_archive_node", args: () => ({ node_id: "7" }), error: 'node_id: "7" is not a U' },
  {
    tool: "memory_archive_node",
    args: ({ node }) => ({ node_id: node, request_id: "7" }),
    error: 'request_id: "7" is not a UUID',
  },
  {
    tool: "memory_supersede",
    args: ({ node }) => ({ old_node_id: node, new_node_id: node }),
    error: "new_node_id: ",
  },
  {
    tool: "memory_supersede",
    args: ({ node }) => ({ old_node_id: node, new_node_id: UNKNOWN, actor: "eve" }),
    schema: "actor: is not a known key; the arguments are old_node_id, new_node_id, evidence_id",
  },
  {
    tool: "memory_ingest",
    args: () => ({ content: "x", scope: "home" }),
    error: 'scope: "home" is not one of personal, ',
  },
  {
    tool: "memory_ingest",
    args: () => ({ content: "x", first_person_owner: 1 }),
    schema: "first_person_owner: 1 is not true or false",
  },
  {
    tool: "memory_ingest_fast_many",
    args: () => ({ items: [{ text: "x" }] }),
    schema: "items[0].content: is required; items[0].text: is not a known key",
  },
  {
    tool: "memory_process_materializations",
    args: () => ({ budget_ms: -1 }),
    schema: "budget_ms: -1 must be at least 0",
  },
  {
    tool: "memory_process_extractions",
    args: () => ({ limit: 1001 }),
    schema: "limit: 1001 must be at most 1000",
  },
  {
    tool: "memory_retry_extraction",
    args: ({ event }) => ({ event_id: event }),
    error: "Extraction status of event '",
  },
  {
    tool: "memory_get_retrieval_receipt",
    args: () => ({ request_id: UNKNOWN }),
    error: `Retrieval receipt '${UNKNOWN}' not found`,
  },
  {
    tool: "memory_record_answer_citations",
    args: () => ({ request_id: "7", answer_id: "a", cited_node_ids: [] }),
    error: 'request_id: "7" is not a UUID',
  },
  {
    tool: "memory_record_answer_citations",
    args: () => ({ request_id: UNKNOWN, answer_id: " " }),
    schema: "answer_id: is blank; cited_node_ids: is required",
  },
  { tool: "memory_list_answer_citations", args: () => ({ limit: 1001 }), error: "limit: 1001 " },
  {
    tool: "memory_list_answer_citations",
    args: () => ({ after_id: "x" }),
    error: 'after_id: "x" is not a UUID',
  },
  {
    tool: "memory_get_answer_citations",
    args: () => ({ citation_id: UNKNOWN }),
    error: `Answer citations '${UNKNOWN}' not found`,
  },
  {
    tool: "memory_aggregate_assertions",
    args: () => ({ scopes: ["home"] }),
    error: 'scopes[0]: "home" is not one of ',
  },
  {
    tool: "memory_aggregate_assertions",
    args: () => ({ group_by: ["unit"] }),
    schema: 'group_by[0]: "unit" is not one of subject, ',
  },
  {
    tool: "memory_get_assertion_state",
    args: () => ({ subject: "I", predicate: "spent", scope: "personal", valid_at: "2026-01-01" }),
    schema: "valid_at: ",
  },
  {
    tool: "memory_aggregate_quantities",
    args: () => ({ group_by: ["subject"] }),
    error: "group_by: must contain unit",
  },
  {
    tool: "memory_aggregate_quantities",
    args: () => ({ query: {} }),
    schema: "query: is not a known key; the arguments are subjects, ",
  },
  {
    tool: "memory_aggregate_quantities_from_text",
    args: () => ({ question: " " }),
    error: "question: must not be blank",
  },
  { tool: "memory_scan_nodes", args: () => ({ limit: 0 }), error: "limit: 0 " },
  {
    tool: "memory_scan_nodes",
    args: () => ({ lifecycle_states: ["dead"] }),
    error: 'lifecycle_states: "dead" is not one of ',
  },
  {
    tool: "memory_get_provenance",
    args: ({ node }) => ({ node_id: node, operation_cursor: "x" }),
    error: "operation_cursor: ",
  },
  {
    tool: "memory_promote_node",
    args: () => ({ node_id: UNKNOWN }),
    error: `Node '${UNKNOWN}' not found`,
  },
  {
    tool: "memory_evaluate_condition",
    args: ({ node }) => ({ node_id: node, state: "maybe" }),
    schema: 'state: "maybe" is not one of unknown, true, false, expired',
  },
  {
    tool: "memory_evaluate_condition",
    args: ({ node }) => ({ node_id: node, state: "true", reason: " " }),
    error: "reason: ",
  },
  {
    tool: "memory_mark_contradiction",
    args: ({ node }) => ({ node_a_id: node }),
    schema: "node_b_id: is required",
  },
  {
    tool: "memory_resolve_contradiction",
    args: ({ node, other }) => ({ winner_id: node, loser_id: other }),
    error: "resolve: ",
  },
  {
    tool: "memory_organize",
    args: () => ({ jobs: "promote,feedback_apply" }),
    error: "jobs: feedback_apply concerns all owners",
  },
  { tool: "memory_organize", args: () => ({ budget_ms: 0.5 }), schema: "budget_ms" },
  { tool: "memory_forget", args: () => ({}), error: "ids: or session_id or containing is needed" },
  {
    tool: "memory_forget",
    args: ({ node }) => ({ ids: [node], mode: "erase" }),
    error: "confirm: is needed to erase",
  },
  { tool: "memory_forget", args: () => ({ ids: [UNKNOWN] }), error: `Node '${UNKNOWN}' not found` },
  {
    tool: "memory_get_event",
    args: () => ({ event_id: UNKNOWN }),
    error: `Event '${UNKNOWN}' not found`,
  },
  {
    tool: "memory_get_extraction",
    args: ({ event }) => ({ event_id: event }),
    error: "Extraction of event '",
  },
  { tool: "memory_extraction_status", args: () => ({ event_id: "x" }), error: 'event_id: "x" is ' },
];

test("there is a refused call of every tool", () => {
  const refused = new Set(REFUSALS.map(({ tool }) => tool));
  expect(TOOLS.filter(({ tool }) => !refused.has(tool))).toEqual([]);
});

test("a refused call is an error object, or names each argument that breaks the schema", async () => {
  const world = await openWorld();
  for (const { tool, args, error, schema } of REFUSALS) {
    const result = await world.ada.call(tool, args(world));
    if (schema !== undefined) {
      expect([tool, result.isError]).toEqual([tool, true]);
      expect(result.text).toContain(`Invalid arguments for tool ${tool}: ${schema}`);
    } else {
      expect([tool, result.isError, Object.keys(result.structured)]).toEqual([
        tool,
        false,
        ["error"],
      ]);
      expect(result.structured["error"]).toStartWith(error ?? "");
      expect(result.text).toStartWith(String(result.structured["error"]));
    }
  }
  expect(await stateOf(world, world.node)).toBe("tentative");
});

test("a reused request id is a conflict that changes nothing", async () => {
  const world = await openWorld();
  const { ada, node, other } = world;
  const archive = { node_id: node, request_id: REQUEST };
  const first = await ada.answer("memory_archive_node", archive);
  expect(await ada.answer("memory_archive_node", archive)).toEqual(first);
  const reused = await ada.call("memory_archive_node", { ...archive, node_id: other });
  expect(reused.isError).toBe(false);
  expect(reused.structured).toMatchObject({ error: expect.any(String), conflict: true });
  expect(reused.text).toEndWith("Use another UUID for another change.");
  expect(await stateOf(world, other)).toBe("tentative");
});

test("a change is recorded in the name of the bound owner, else of the operator", async () => {
  const world = await openWorld();
  await world.ada.answer("memory_promote_node", { node_id: world.node });
  const operator = await world.served.connect();
  await operator.answer("memory_promote_node", { node_id: world.other });
  for (const [id, actor] of [
    [world.node, "ada"],
    [world.other, "mcp-operator"],
  ]) {
    const { operations } = await world.ada.answer("memory_get_provenance", { node_id: id });
    expect(operations).toMatchObject([{ op_type: "LIFECYCLE_CHANGED", actor_id: actor }]);
  }
});

test("an empty list of states scans nothing, and null arguments are absent", async () => {
  const world = await openWorld();
  const none = await world.ada.answer("memory_scan_nodes", { lifecycle_states: [] });
  expect(none).toMatchObject({ nodes: [], count: 0, has_more: false });
  const all = await world.ada.answer("memory_scan_nodes", { scope: null, lifecycle_states: null });
  expect(all).toMatchObject({ count: 2 });
});

test("what a call needs to go on stands in the text alone", async () => {
  const world = await openWorld();
  const scanned = await world.ada.call("memory_scan_nodes", { limit: 1 });
  const after = /next_cursor (\S+)/.exec(scanned.text)?.[1];
  const next = await world.ada.call("memory_scan_nodes", { limit: 1, after_id: after });
  const found = /^([0-9a-f-]{36}) \(/m.exec(next.text)?.[1];
  expect(found).toBe(world.other);
  const { text } = await retrieve(world);
  const cited = /^1\. ([0-9a-f-]{36}) /m.exec(text)?.[1];
  const request = /^request_id (\S+)$/m.exec(text)?.[1];
  await world.ada.answer("memory_record_answer_citations", {
    request_id: request,
    answer_id: "a",
    cited_node_ids: [cited],
  });
  expect(cited).toBe(world.node);
});
