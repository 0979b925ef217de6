/** Requests with a value that breaks a documented rule. */
import { NOBODY } from "../../../engine/lifecycle/memories.ts";
import { type Case, post, put, store } from "./scene.ts";

const TYPES = "entity, event, fact, decision, preference, task, instruction, summary, note";

export const INVALID_ARGUMENTS: readonly Case[] = [
  {
    name: "a message without text",
    ask: post("/v1/ingest", { content: "", user_id: "ada" }),
    detail: "content: is empty; write what is to be remembered",
  },
  {
    name: "an item without text",
    ask: post("/v1/ingest/fast", { items: [{ content: "tea" }, { content: "" }], user_id: "ada" }),
    detail: "items[1].content: is empty; write what is to be remembered",
  },
  {
    name: "a type that there is not",
    ask: store({ node_type: "idea" }),
    detail: `node_type: "idea" is not one of ${TYPES}`,
  },
  {
    name: "a role that there is not",
    ask: store({ role: "parrot" }),
    detail: /^role: "parrot" is not one of user, human, /,
  },
  {
    name: "an outdated kind of knowledge for a new memory",
    ask: store({ epistemic_type: "deprecated" }),
    detail: /^epistemic_type: /,
  },
  {
    name: "an end before its beginning",
    ask: store({ valid_from: "2026-02-02T00:00:00Z", valid_to: "2026-02-01T00:00:00Z" }),
    detail:
      "valid_to: 2026-02-01T00:00:00.000000Z must be later than valid_from 2026-02-02T00:00:00.000000Z",
  },
  {
    name: "an end without a beginning",
    ask: store({ valid_to: "2026-02-01T00:00:00Z" }),
    detail: "valid_to: needs an explicit valid_from",
  },
  {
    name: "a moment without an offset",
    ask: store({ event_time: "2026-02-01T10:00:00" }),
    detail:
      'event_time: "2026-02-01T10:00:00" has no time zone; write for example 2026-02-01T10:00:00Z',
  },
  {
    name: "a day for a moment",
    ask: post("/v1/retrieve", { query: "tea", user_id: "ada", time_from: "2026-02-01" }),
    detail: 'time_from: "2026-02-01" has no time zone; write for example 2026-02-01T00:00:00Z',
  },
  {
    name: "a moment that there never was",
    ask: store({ event_time: "2026-02-30T10:00:00Z" }),
    detail: 'event_time: "2026-02-30T10:00:00Z" is not an ISO 8601 date and time',
  },
  {
    name: "a number for a moment",
    ask: store({ event_time: 1_770_000_000 }),
    detail: "event_time: 1770000000 is not text",
  },
  {
    name: "part of a day",
    ask: store({ ttl_days: 1.5 }),
    detail: "ttl_days: 1.5 is not an integer",
  },
  {
    name: "half a character",
    ask: store({ content: "tea \ud800" }),
    detail: /^content: /,
  },
  {
    name: "several faults",
    ask: post("/v1/store", { content: 1, confidence: 2 }),
    detail: "content: 1 is not text; confidence: 2 must be at most 1",
  },
  {
    name: "what is no JSON",
    ask: post("/v1/store", '{"content":NaN}'),
    detail: /^body: is not valid JSON: /,
  },
  {
    name: "a name twice",
    ask: post("/v1/store", '{"user_id":"u","user_id":"v","content":"tea"}'),
    detail: 'body: is not valid JSON: "user_id" stands twice in one object',
  },
  {
    name: "a body of another type",
    ask: () => ["/v1/store", { body: "tea", headers: { "content-type": "text/plain" } }],
    detail: 'Content-Type: "text/plain"; it must be application/json',
  },
  {
    name: "a cursor of no page",
    ask: ({ tea }) => [`/v1/nodes/${tea.node}/provenance?operation_cursor=x`],
    detail: 'operation_cursor: "x" is not the next_operation_cursor of an earlier page',
  },
  {
    name: "multipliers where no weights are read",
    ask: post("/v1/retrieve", { query: "t", user_id: "ada", ranking_multipliers: { graph: 2 } }),
    detail: /^ranking_multipliers: have no meaning with fusion /,
  },
  {
    name: "a blank question about an amount",
    ask: post("/v1/quantities/aggregate-text", { question: " ", user_id: "ada" }),
    detail: /^question: /,
  },
  {
    name: "amounts without their unit",
    ask: post("/v1/quantities/aggregate", { user_id: "ada", query: { group_by: ["object"] } }),
    detail: "group_by: must contain unit: amounts of different units are never added",
  },
  {
    name: "a memory that replaces itself",
    ask: ({ tea }) => post("/v1/supersedences", { old_node_id: tea.node, new_node_id: tea.node })(),
    detail: "new_node_id: names the same memory as old_node_id",
  },
  {
    name: "evidence that there is not",
    ask: ({ tea, fresh }) =>
      post("/v1/contradictions", {
        node_a_id: tea.node,
        node_b_id: fresh.node,
        evidence_id: NOBODY,
      })(),
    detail: /^evidence_id: there is no event /,
  },
  {
    name: "the state of a condition where there is none",
    ask: ({ tea }) => put(`${tea.node}/condition`, { state: "true" }),
    detail: /^node_id: memory \S+ is asserted; only conditional ones are evaluated$/,
  },
];
