/**
 * Every documented error that HTTP can answer with, provoked over HTTP, on a real engine and a real pack. `PROVOKED` says of
 * each code where that is done, or why it cannot be.
 */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { endAllServers, startServer } from "../../../scripts/bench/server.ts";
import { ERROR_CATALOGUE, type ErrorCode, SvcError } from "../../../src/domain/errors.ts";
import { ERROR_MAP } from "../../../src/surface/contract/error-map.ts";
import { directoryPack, encrypted } from "../../contract/sqlite-pack.ts";
import { wordEmbedder } from "../../engine/engines.ts";
import { NOBODY, rememberConditional } from "../../engine/lifecycle/memories.ts";
import { type Answer, type Asked, KEYS, type OpenedApp, useApps } from "./engine-app.ts";

setDefaultTimeout(60_000);

type Where =
  /** By the tests below. */
  | { readonly here: true }
  /** By a test of another file. */
  | { readonly file: string; readonly test: string }
  /** Not at all. */
  | { readonly never: string };

const STARTS_NOT = "it ends the start: no address is served by then, or not any more";

const PROVOKED: Readonly<Record<ErrorCode, Where>> = {
  invalid_argument: { here: true },
  invalid_speaker: { here: true },
  request_conflict: { here: true },
  invalid_transition: { here: true },
  bad_citation: { here: true },
  not_found: { here: true },
  forbidden: { here: true },
  unauthenticated: { here: true },
  too_large: { here: true },
  unauthenticated_bind: { never: STARTS_NOT },
  bind_failed: { never: STARTS_NOT },
  invalid_config: { never: STARTS_NOT },
  not_a_pack: { here: true },
  not_an_export: { never: "no route imports" },
  pack_too_new: { never: STARTS_NOT },
  pack_read_only: { never: STARTS_NOT },
  encryption_failed: { never: STARTS_NOT },
  pack_in_use: { never: STARTS_NOT },
  pack_damaged: { here: true },
  storage_failed: { here: true },
  disk_full: { file: "test/fault/disk-full.test.ts", test: "a store is refused with disk_full" },
  storage_busy: { here: true },
  embedding_failed: { never: "a store leaves its job pending, a question is answered without" },
  embedding_mismatch: { never: "a store leaves its job pending, a question is answered without" },
  model_failed: { never: "no route asks a model on which its answer depends" },
  model_timeout: { never: "no route asks a model on which its answer depends" },
  materialization_failed: { here: true },
  engine_closed: { here: true },
  pack_locked: { here: true },
  unsupported: { never: "no route locks or unlocks" },
  internal: { here: true },
};

/** Refusals that have no code: what is no proper request for anything. */
const WITHOUT_CODE: readonly {
  readonly status: number;
  readonly file: string;
  readonly test: string;
}[] = [
  { status: 307, file: "test/surface/http/app.test.ts", test: "a slash too many is redirected" },
  { status: 404, file: "test/surface/http/app.test.ts", test: "an unknown path is 404" },
  { status: 405, file: "test/surface/http/app.test.ts", test: "a wrong method is 405" },
  { status: 408, file: "test/surface/http/slow.test.ts", test: "is 408" },
  { status: 403, file: "test/surface/http/host.test.ts", test: "is refused for %s" },
  { status: 421, file: "test/surface/http/host.test.ts", test: "a foreign name is refused" },
  { status: 503, file: "test/surface/http/app.test.ts", test: "before the engine is open" },
];

const { open } = useApps();
const seen = new Set<ErrorCode>();

/** Expects a refusal of a code with its documented status. */
function expectRefused(code: ErrorCode, answer: Answer, detail: string | RegExp): void {
  seen.add(code);
  const { detail: given, ...rest } = answer.json;
  const wanted = detail instanceof RegExp ? expect.stringMatching(detail) : detail;
  expect({ status: answer.status, detail: given }).toEqual({
    status: ERROR_MAP[code].httpStatus,
    detail: wanted,
  });
  expect(Object.keys(rest)).toEqual([]);
}

const UNUSED = "77777777-2222-4333-8444-555555555555";

/** A memory of ada, its event, a conditional one, two that contradict each other, one that was replaced, and an answer. */
async function settle({ ask, engine }: OpenedApp) {
  const stored = async (content: string) => {
    const { json } = await ask("/v1/store", { body: { content, user_id: "ada" } });
    return { node: String(json["node_id"]), event: String(json["event_id"]) };
  };
  const tea = await stored("Ada drinks tea");
  const [old, fresh] = [await stored("Ada lives in Oslo"), await stored("Ada lives in Rome")];
  const [right, wrong] = [await stored("the hall is white"), await stored("the hall is blue")];
  const gone = await stored("nobody needs this");
  await engine.supersede(old.node, fresh.node);
  await engine.contradict(right.node, wrong.node);
  await engine.archive(gone.node);
  const conditional = await rememberConditional(engine);
  const { metadata } = await engine.retrieve({ userId: "ada", query: "what does Ada drink" });
  return {
    tea,
    old,
    fresh,
    right,
    wrong,
    gone,
    conditional: conditional.id,
    request: metadata.requestId,
  };
}
type World = Awaited<ReturnType<typeof settle>>;

type Case = {
  readonly name: string;
  readonly ask: (world: World) => readonly [string, Asked?];
  readonly detail: string | RegExp;
};

const store = (given: object) => (): readonly [string, Asked] => [
  "/v1/store",
  { body: { content: "tea", user_id: "ada", ...given } },
];
const get = (path: string) => (): readonly [string] => [path];
const post = (path: string, body: unknown) => (): readonly [string, Asked] => [path, { body }];
const put = (path: string, body?: unknown, key?: string): readonly [string, Asked] => [
  `/v1/nodes/${path}`,
  {
    method: "PUT",
    ...(body !== undefined && { body }),
    ...(key !== undefined && { headers: { "idempotency-key": key } }),
  },
];

const TYPES = "entity, event, fact, decision, preference, task, instruction, summary, note";

const CASES: Readonly<Partial<Record<ErrorCode, readonly Case[]>>> = {
  invalid_argument: [
    {
      name: "a type that there is not",
      ask: store({ node_type: "idea" }),
      detail: `node_type: "idea" is not one of ${TYPES}`,
    },
    {
      name: "a type that there is not, in a query",
      ask: get("/v1/nodes?type=idea"),
      detail: `type: "idea" is not one of ${TYPES}`,
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
      name: "more confidence than there is",
      ask: store({ confidence: 1.5 }),
      detail: "confidence: 1.5 must be at most 1",
    },
    {
      name: "fewer days than none",
      ask: store({ ttl_days: -1 }),
      detail: "ttl_days: -1 must be at least 0",
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
    { name: "an unknown key", ask: store({ colour: "red" }), detail: "colour: is not a known key" },
    {
      name: "no content",
      ask: post("/v1/store", { user_id: "ada" }),
      detail: "content: is required",
    },
    {
      name: "no owner",
      ask: post("/v1/store", { content: "tea" }),
      detail: "user_id: is required: the name of the owner of these memories",
    },
    {
      name: "an empty owner",
      ask: get("/v1/nodes/scan?user_id="),
      detail: "user_id: is required: the name of the owner of these memories",
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
      name: "a body of another type",
      ask: () => ["/v1/store", { body: "tea", headers: { "content-type": "text/plain" } }],
      detail: 'Content-Type: "text/plain"; it must be application/json',
    },
    {
      name: "a node's id that is none",
      ask: get("/v1/nodes/x"),
      detail: 'node_id: "x" is not a UUID',
    },
    {
      name: "an event's id that is none",
      ask: get("/v1/events/x/processing-status"),
      detail: 'event_id: "x" is not a UUID',
    },
    {
      name: "a receipt's id that is none",
      ask: get("/v1/retrievals/x?user_id=ada"),
      detail: 'request_id: "x" is not a UUID',
    },
    {
      name: "citations' id that is none",
      ask: get("/v1/answer-citations/x?user_id=ada"),
      detail: 'citation_id: "x" is not a UUID',
    },
    {
      name: "an id in a body that is none",
      ask: ({ old }) => post("/v1/supersedences", { old_node_id: old.node, new_node_id: "x" })(),
      detail: 'new_node_id: "x" is not a UUID',
    },
    {
      name: "a request key that is no UUID",
      ask: () => [
        "/v1/ingest/fast",
        {
          body: { items: [{ content: "tea" }], user_id: "ada" },
          headers: { "idempotency-key": "once" },
        },
      ],
      detail: 'Idempotency-Key: "once" is not a UUID',
    },
    {
      name: "a cursor of no page",
      ask: ({ tea }) => [`/v1/nodes/${tea.node}/provenance?operation_cursor=x`],
      detail: 'operation_cursor: "x" is not the next_operation_cursor of an earlier page',
    },
    {
      name: "a page beyond its limit",
      ask: get("/v1/nodes?limit=1001"),
      detail: 'limit: "1001" is not an integer from 0 to 1000',
    },
    {
      name: "a walk beyond its limit",
      ask: ({ tea }) => [`/v1/nodes/${tea.node}/neighborhood?max_hops=6`],
      detail: 'max_hops: "6" is not an integer from 1 to 5',
    },
    {
      name: "no items",
      ask: post("/v1/ingest/fast", { items: [], user_id: "ada" }),
      detail: "items: has 0 entries; it must have at least 1",
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
      ask: ({ tea }) =>
        post("/v1/supersedences", { old_node_id: tea.node, new_node_id: tea.node })(),
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
  ],
  invalid_speaker: [
    ...["svc_speaker_v1", "svc_value_bindings_v1", "svc_first_person_owner_v1"].map((key) => ({
      name: `the reserved key ${key}`,
      ask: store({ metadata: { [key]: "x" } }),
      detail: `metadata.${key}: is reserved; use the parameter that sets it`,
    })),
    {
      name: "a blank speaker",
      ask: store({ speaker: " " }),
      detail: "speaker: must not be empty",
    },
    {
      name: "a long speaker",
      ask: store({ speaker: "é".repeat(201) }),
      detail: "speaker: has 201 characters; at most 200 are allowed",
    },
    {
      name: "a speaker of two lines",
      ask: post("/v1/ingest", { content: "tea", user_id: "ada", speaker: "Ada\nBob" }),
      detail: "speaker: must not contain control characters, line breaks or bidirectional controls",
    },
  ],
  invalid_transition: [
    {
      name: "promotion of an archived memory",
      ask: ({ gone }) => put(`${gone.node}/promote`),
      detail: /^promote: memory \S+ cannot go from archived to stable; /,
    },
    {
      name: "replacement of a contested memory",
      ask: ({ right, tea }) =>
        post("/v1/supersedences", { old_node_id: right.node, new_node_id: tea.node })(),
      detail: /^supersede: memory \S+ cannot go from contested to superseded; /,
    },
    {
      name: "another replacement of a replaced memory",
      ask: ({ old, tea }) =>
        post("/v1/supersedences", { old_node_id: old.node, new_node_id: tea.node })(),
      detail: /^supersede: memory \S+ /,
    },
    {
      name: "a contradiction in the name of somebody else",
      ask: ({ right, wrong }) =>
        post("/v1/contradictions", {
          node_a_id: right.node,
          node_b_id: wrong.node,
          actor: "somebody else",
        })(),
      detail: /^contradict: /,
    },
    {
      name: "a resolution of what is no contradiction",
      ask: ({ tea, fresh }) =>
        post("/v1/contradictions/resolve", { winner_id: tea.node, loser_id: fresh.node })(),
      detail: /^resolve: memory \S+ cannot go from tentative to stable; /,
    },
  ],
  bad_citation: [
    {
      name: "a memory that was not in the answer",
      ask: ({ request, gone }) =>
        post("/v1/answer-citations", {
          user_id: "ada",
          request_id: request,
          answer_id: "a",
          cited_node_ids: [gone.node],
        })(),
      detail: /^cited_node_ids: \S+ was not among the results of this retrieval$/,
    },
  ],
  not_found: [
    { name: "a node", ask: get(`/v1/nodes/${NOBODY}`), detail: `Node '${NOBODY}' not found` },
    ...["neighborhood", "chain", "provenance"].map((part) => ({
      name: `the ${part} of a node`,
      ask: get(`/v1/nodes/${NOBODY}/${part}`),
      detail: `Node '${NOBODY}' not found`,
    })),
    {
      name: "a node to be changed",
      ask: () => put(`${NOBODY}/promote`),
      detail: `Node '${NOBODY}' not found`,
    },
    {
      name: "one of two nodes",
      ask: ({ tea }) => post("/v1/contradictions", { node_a_id: tea.node, node_b_id: NOBODY })(),
      detail: `Node '${NOBODY}' not found`,
    },
    { name: "an event", ask: get(`/v1/events/${NOBODY}`), detail: `Event '${NOBODY}' not found` },
    {
      name: "the nodes of an event",
      ask: get(`/v1/events/${NOBODY}/nodes`),
      detail: `Event '${NOBODY}' not found`,
    },
    {
      name: "the status of an event",
      ask: get(`/v1/events/${NOBODY}/processing-status`),
      detail: /not found$/,
    },
    {
      name: "an extraction",
      ask: ({ tea }) => [`/v1/events/${tea.event}/extraction`],
      detail: /^Extraction of event '\S+' not found$/,
    },
    {
      name: "the status of an extraction",
      ask: ({ tea }) => [`/v1/events/${tea.event}/extraction-status`],
      detail: /^Extraction status of event '\S+' not found$/,
    },
    {
      name: "evidence for a reinforcement",
      ask: ({ tea }) => put(`${tea.node}/reinforce`, { evidence_id: NOBODY }),
      detail: `Event '${NOBODY}' not found`,
    },
    {
      name: "a receipt",
      ask: get(`/v1/retrievals/${NOBODY}?user_id=ada`),
      detail: `Retrieval receipt '${NOBODY}' not found`,
    },
    {
      name: "the receipt of another owner",
      ask: ({ request }) => [`/v1/retrievals/${request}?user_id=bob`],
      detail: /^Retrieval receipt '\S+' not found$/,
    },
    {
      name: "a receipt to cite from",
      ask: post("/v1/answer-citations", {
        user_id: "ada",
        request_id: NOBODY,
        answer_id: "a",
      }),
      detail: /not found$/,
    },
    {
      name: "citations",
      ask: get(`/v1/answer-citations/${NOBODY}?user_id=ada`),
      detail: `Answer citations '${NOBODY}' not found`,
    },
  ],
};

describe.each(Object.entries(CASES))("%s", (code, cases) => {
  test.each(cases)("$name", async ({ ask, detail }) => {
    const app = await open();
    const world = await settle(app);
    const before = await app.engine.stats();
    // SAFETY: the keys of the table are codes.
    expectRefused(code as ErrorCode, await app.ask(...ask(world)), detail);
    expect(await app.engine.stats()).toEqual(before);
  });
});
