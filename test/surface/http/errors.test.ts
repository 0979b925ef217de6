/**
 * Every documented error that HTTP can answer with, provoked over HTTP, on a real engine and a real pack. `PROVOKED` says of
 * each code where that is done, or why it cannot be.
 */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { endAllServers, startServer } from "../../../scripts/bench/server.ts";
import { ERROR_CATALOGUE, type ErrorCode, SvcError } from "../../../src/domain/errors.ts";
import { ERROR_MAP } from "../../../src/surface/contract/error-map.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../../contract/sqlite-pack.ts";
import { type EngineOptions, wordEmbedder } from "../../engine/engines.ts";
import { NOBODY, rememberConditional } from "../../engine/lifecycle/memories.ts";
import { type Answer, type Asked, KEYS, type OpenedApp, useApps } from "./engine-app.ts";
import { appOf, post as sent, useServers } from "./serving.ts";

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
const serve = useServers();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-errors-"));
  folders.push(folder);
  return folder;
}

/** The codes that were provoked so far. */
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
      detail: `Processing status of event '${NOBODY}' not found`,
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
      detail: `there is no receipt of a retrieval ${NOBODY}`,
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

describe("request_conflict", () => {
  const KEY = "11111111-2222-4333-8444-555555555555";
  const conflict = `request_id ${KEY} was used before with other inputs; use a new one`;

  const KINDS = [
    { name: "of a promotion, for another memory", route: "promote", other: "archive" },
    { name: "of an archiving, for another memory", route: "archive", other: "promote" },
    { name: "of a reinforcement, for another memory", route: "reinforce", other: "reinforce" },
  ];
  test.each(KINDS)("a key $name", async ({ route, other }) => {
    const app = await open();
    const { tea, fresh } = await settle(app);
    const first = await app.ask(...put(`${tea.node}/${route}`, undefined, KEY));
    expect(first.status).toBe(200);
    const second = await app.ask(...put(`${fresh.node}/${other}`, undefined, KEY));
    expectRefused("request_conflict", second, conflict);
  });

  test("a key of an evaluation, with another outcome", async () => {
    const app = await open();
    const { conditional } = await settle(app);
    const evaluate = (state: string) => app.ask(...put(`${conditional}/condition`, { state }, KEY));
    expect((await evaluate("true")).status).toBe(200);
    expect((await evaluate("true")).status).toBe(200);
    expectRefused("request_conflict", await evaluate("false"), conflict);
  });

  test("a key of texts, with other texts", async () => {
    const app = await open();
    const ingest = (content: string) =>
      app.ask("/v1/ingest/fast", {
        body: { items: [{ content }], user_id: "ada" },
        headers: { "idempotency-key": KEY },
      });
    const first = await ingest("tea");
    expect(await ingest("tea")).toEqual(first);
    expectRefused("request_conflict", await ingest("coffee"), /^request_id \S+ was used before /);
  });

  test("the id of citations, with another answer", async () => {
    const app = await open();
    const { request } = await settle(app);
    const cite = (answer: string) =>
      app.ask("/v1/answer-citations", {
        body: { user_id: "ada", citation_id: KEY, request_id: request, answer_id: answer },
      });
    const first = await cite("a");
    expect(first.status).toBe(200);
    expect(await cite("a")).toEqual(first);
    expectRefused("request_conflict", await cite("b"), /was used before with other inputs/);
  });
});

describe("with keys of owners", () => {
  test("unauthenticated: no key, a wrong one, and one of another scheme", async () => {
    const { ask } = await open(KEYS);
    for (const headers of [
      {},
      { authorization: "Bearer key-c" },
      { authorization: "Basic key-a" },
      { authorization: "key-a" },
    ]) {
      const answer = await ask("/v1/stats", { headers });
      expectRefused("unauthenticated", answer, "Invalid or missing API key");
    }
  });

  test("unauthenticated: the answer names the scheme", async () => {
    const { engine } = await open();
    const answer = await appOf({ engine, auth: KEYS }).request("/v1/stats");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test.each([
    { name: "a body", path: "/v1/store", body: { content: "tea", user_id: "bob" } },
    { name: "an empty owner in a body", path: "/v1/retrieve", body: { query: "t", user_id: "" } },
    { name: "a query", path: "/v1/nodes?user_id=bob", body: undefined },
    { name: "an empty owner in a query", path: "/v1/stats?user_id=", body: undefined },
  ])("forbidden: another owner in $name", async ({ path, body }) => {
    const { ask } = await open(KEYS);
    const answer = await ask(path, { key: "key-a", body });
    expectRefused(
      "forbidden",
      answer,
      /^user_id: "(?:bob)?" is not the owner of this connection; /,
    );
  });

  test("not_found: what belongs to another owner", async () => {
    const app = await open(KEYS);
    const { json } = await app.ask("/v1/store", { key: "key-a", body: { content: "tea" } });
    const node = String(json["node_id"]);
    const event = String(json["event_id"]);
    const foreign = (path: string) => app.ask(path, { key: "key-b" });
    expectRefused("not_found", await foreign(`/v1/nodes/${node}`), `Node '${node}' not found`);
    expectRefused("not_found", await foreign(`/v1/events/${event}`), `Event '${event}' not found`);
  });

  test("invalid_argument: an actor beside a key", async () => {
    const app = await open(KEYS);
    const { id } = await rememberConditional(app.engine);
    const answer = await app.ask(`/v1/nodes/${id}/condition`, {
      method: "PUT",
      key: "key-a",
      body: { state: "true", actor: "bob" },
    });
    expectRefused("invalid_argument", answer, "actor: is this connection's owner; leave it out");
  });
});

describe("too_large", () => {
  const detail =
    "The request body is larger than 10485760 bytes (10 MiB); split it into several requests";
  const long = JSON.stringify({ content: "x".repeat(10 * 1024 * 1024), user_id: "ada" });

  test("a body whose length is told", async () => {
    const { ask } = await open();
    const headers = { "content-length": String(long.length) };
    const answer = await ask("/v1/store", { body: long, headers });
    expectRefused("too_large", answer, detail);
  });

  test("a body that comes in pieces", async () => {
    const server = await serve({ engine: (await open()).engine });
    const pieces = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new TextEncoder().encode(long.slice(0, 1024 * 1024)));
      },
    });
    const answer = await fetch(`${server.url}/v1/store`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: pieces,
    });
    // SAFETY: what it holds is what is asserted.
    const json = (await answer.json()) as Answer["json"];
    expectRefused("too_large", { status: answer.status, json }, detail);
  });
});

describe("internal and storage_failed", () => {
  const FIXED = "Internal server error";

  /** An engine on a pack of which a part is broken, and what is logged about it. */
  async function broken(alter: NonNullable<EngineOptions["alter"]>) {
    const lines: string[] = [];
    const { engine } = await open({}, { alter });
    const app = appOf({ engine, log: (level, message) => lines.push(`${level} ${message}`) });
    const answer = await app.request("/v1/store", sent({ content: "my secret", user_id: "ada" }));
    // SAFETY: what it holds is what is asserted.
    return {
      answer: { status: answer.status, json: (await answer.json()) as Answer["json"] },
      lines,
    };
  }

  test("internal: a fault of the program is a fixed text, its cause in the log only", async () => {
    const { answer, lines } = await broken(() => ({
      admit: () => Promise.reject(new TypeError("wires crossed at /home/ada")),
    }));
    expectRefused("internal", answer, FIXED);
    expect(lines.filter((line) => line.startsWith("error"))).toEqual([
      expect.stringContaining("wires crossed at /home/ada"),
    ]);
    expect(lines.join()).not.toContain("my secret");
  });

  test("storage_failed: a pack without one of its tables, likewise", async () => {
    const opened = await open();
    await opened.ask("/v1/store", { body: { content: "tea", user_id: "ada" } });
    const path = opened.pack.layout.kind === "file" ? opened.pack.layout.path : "";
    const meddler = new Database(path);
    meddler.run("DROP TABLE nodes");
    meddler.close();
    const answer = await opened.ask("/v1/nodes?user_id=ada");
    expectRefused("storage_failed", answer, FIXED);
  });
});

describe("materialization_failed", () => {
  test.each([
    { path: "/v1/store", body: { content: "tea", user_id: "ada" } },
    { path: "/v1/ingest", body: { content: "tea", user_id: "ada" } },
  ])("$path: the text is safe, and found once it has been processed", async ({ path, body }) => {
    let isBroken = true;
    const { ask, engine } = await open(
      {},
      {
        alter: (store) => ({
          materialize: (items) =>
            isBroken
              ? Promise.reject(new SvcError("storage_busy", "another process is writing"))
              : store.materialize(items),
        }),
      },
    );
    const { status, json } = await ask(path, { body });
    seen.add("materialization_failed");
    const eventId = String(json["event_id"]);
    expect({ status, json }).toEqual({
      status: 503,
      json: {
        detail: `event ${eventId} is stored; its memory is not fully indexed yet (storage_busy) and will be retried`,
        event_id: eventId,
        reason_code: "storage_busy",
        accepted: true,
      },
    });
    expect((await ask(`/v1/events/${eventId}`)).json).toMatchObject({ content: "tea" });
    const before = await ask(`/v1/events/${eventId}/processing-status`);
    expect(before.json).toMatchObject({ status: "pending", last_error: "storage_busy" });

    isBroken = false;
    await ask("/v1/materializations/process", { body: { user_id: "ada", budget_ms: 10_000 } });
    const after = await ask(`/v1/events/${eventId}/processing-status`);
    expect(after.json).toMatchObject({ status: "complete", last_error: null });
    expect((await engine.getEventNodes(eventId))?.map(({ content }) => content)).toEqual(["tea"]);
  });
});

test("engine_closed: after the engine was closed", async () => {
  const { ask, engine } = await open();
  await engine.close();
  const answer = await ask("/v1/stats");
  expectRefused("engine_closed", answer, "the engine was closed; open it again");
});

test("pack_locked: a locked pack, until it is unlocked", async () => {
  const folder = newFolder();
  const { ask, engine } = await open({}, { pack: encrypted(directoryPack(folder)) });
  await ask("/v1/store", { body: { content: "tea", user_id: "ada" } });
  await engine.lock();
  for (const [path, body] of [
    ["/v1/stats", undefined],
    ["/v1/store", { content: "tea", user_id: "ada" }],
    ["/v1/retrieve", { query: "tea", user_id: "ada" }],
  ] as const) {
    const answer = await ask(path, { body });
    expectRefused("pack_locked", answer, "<pack>: is locked; unlock it with its key");
  }
  await engine.unlock(RAW_KEY);
  expect((await ask("/v1/stats")).json).toMatchObject({ node_count: 1 });
});

describe("a failing model is no failed request", () => {
  const failing = () =>
    wordEmbedder({
      embedDocument: () => Promise.reject(new SvcError("embedding_failed", "no model")),
      embedQuery: () => Promise.reject(new SvcError("embedding_failed", "no model")),
    });

  test("embedding_failed: a store leaves its job pending, a question is answered without", async () => {
    const { ask } = await open({}, { embedder: failing() });
    const stored = await ask("/v1/store", { body: { content: "green tea", user_id: "ada" } });
    expect([stored.status, stored.json["processing_status"]]).toEqual([
      200,
      expect.objectContaining({ status: "pending", last_error: "embedding_failed" }),
    ]);
    const { status, json } = await ask("/v1/retrieve", {
      body: { query: "green tea", user_id: "ada" },
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      results: [{ content: "green tea" }],
      metrics: { backend_failures: { VECTOR: "backend_error" }, embedding_mismatch: false },
    });
  });

  test("embedding_mismatch: likewise", async () => {
    const pack = filePack(newFolder());
    const first = await open({}, { pack });
    await first.ask("/v1/store", { body: { content: "green tea", user_id: "ada" } });
    await first.engine.close();
    const other = wordEmbedder({ identity: { model: "other", version: "1", dimension: 64 } });
    const { ask } = await open({}, { pack, embedder: other });
    const stored = await ask("/v1/store", { body: { content: "black tea", user_id: "ada" } });
    expect([stored.status, stored.json["processing_status"]]).toEqual([
      200,
      expect.objectContaining({ status: "pending", last_error: "embedding_mismatch" }),
    ]);
    const { status, json } = await ask("/v1/retrieve", {
      body: { query: "green tea", user_id: "ada" },
    });
    expect([status, json["metrics"]]).toEqual([
      200,
      expect.objectContaining({
        embedding_mismatch: true,
        backend_failures: { VECTOR: "embedding_mismatch" },
      }),
    ]);
  });
});

describe("a server in a process of its own", () => {
  const SOURCE = [process.execPath, resolve("src/main.ts")];
  afterAll(endAllServers);

  /** A server on a new pack that has some memories. */
  async function start(environment: Readonly<Record<string, string>> = {}) {
    const pack = join(newFolder(), "memory.pack");
    const server = await startServer({ pack, command: SOURCE, environment });
    const ask = async (path: string, body?: object): Promise<Answer> => {
      const answer = await fetch(server.url + path, body && sent(body));
      // SAFETY: every answer of this server is a JSON object.
      return { status: answer.status, json: (await answer.json()) as Answer["json"] };
    };
    for (let at = 0; at < 40; at += 1) {
      await ask("/v1/store", {
        content: `tea ${at} ${"in the harbour ".repeat(60)}`,
        user_id: "ada",
      });
    }
    return { pack, server, ask };
  }

  /** Overwrites a file from a place on. */
  function spoil(path: string, from: number): void {
    const length = statSync(path).size - from;
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(length, 0x5a), 0, length, from);
    closeSync(file);
  }

  test("storage_busy: another process holds the lock for writing", async () => {
    const { pack, server, ask } = await start({ SVC_BUSY_TIMEOUT_MS: "300" });
    const script = `
      import { Database } from "bun:sqlite";
      const database = new Database(${JSON.stringify(pack)});
      database.run("BEGIN IMMEDIATE");
      console.log("held");
      await Bun.stdin.text();
    `;
    const holder = Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe" });
    await holder.stdout.getReader().read();
    const detail =
      "<pack>: another process is writing and did not finish in time; nothing of this operation was stored. Try again.";
    const batch = { items: [{ content: "x" }], user_id: "ada" };
    expectRefused("storage_busy", await ask("/v1/store", { content: "x", user_id: "ada" }), detail);
    expectRefused("storage_busy", await ask("/v1/ingest/fast", batch), detail);
    // Who only reads does not wait.
    expect((await ask("/v1/stats?user_id=ada")).json).toMatchObject({ node_count: 40 });
    holder.stdin.end();
    await holder.exited;
    expect((await ask("/v1/store", { content: "x", user_id: "ada" })).status).toBe(200);
    await server.end("SIGTERM");
  });

  test("pack_damaged: pages of an encrypted pack were overwritten while it was served", async () => {
    const { pack, server, ask } = await start({
      SVC_ENCRYPTION_ENABLED: "true",
      SVC_ENCRYPTION_KEY: RAW_KEY,
    });
    spoil(pack, 8192);
    spoil(`${pack}-wal`, 4096);
    const detail =
      "<pack>: was damaged or changed from outside: a part of it is not what was written. Restore it from a copy; svc doctor <pack> says more.";
    expectRefused("pack_damaged", await ask("/v1/nodes?user_id=ada"), detail);
    expectRefused(
      "pack_damaged",
      await ask("/v1/retrieve", { query: "t", user_id: "ada" }),
      detail,
    );
    expect((await ask("/v1/health")).status).toBe(200);
    await server.end("SIGKILL");
  });

  test("not_a_pack: a pack was overwritten with something else while it was served", async () => {
    const { pack, server, ask } = await start();
    spoil(pack, 0);
    spoil(`${pack}-wal`, 0);
    const detail =
      "<pack>: is no pack (its content is not that of a pack). Nothing was changed; give another path, or create a pack with: svc init";
    expectRefused("not_a_pack", await ask("/v1/nodes?user_id=ada"), detail);
    expectRefused("not_a_pack", await ask("/v1/retrieve", { query: "t", user_id: "ada" }), detail);
    await server.end("SIGKILL");
  });
});

describe("the table", () => {
  const isHere = (where: Where): boolean => "here" in where;

  test("has every code of the catalogue and no other", () => {
    expect(Object.keys(PROVOKED).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
  });

  test("what it says is provoked here was", () => {
    const claimed = Object.entries(PROVOKED).flatMap(([code, where]) =>
      isHere(where) ? code : [],
    );
    expect([...seen].sort()).toEqual(claimed.sort() as ErrorCode[]);
  });

  const elsewhere = [
    ...WITHOUT_CODE,
    ...Object.values(PROVOKED).flatMap((where) => ("file" in where ? where : [])),
  ];
  test.each(elsewhere)("$file has the test: $test", ({ file, test: name }) => {
    expect(readFileSync(resolve(file), "utf8")).toContain(name);
  });
});
