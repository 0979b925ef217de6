import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type {
  AnswerCitationsInput,
  AnswerCitationsQuery,
} from "../../../src/engine/receipts/api.ts";
import { createHttpApp } from "../../../src/surface/http/app.ts";
import type { AuthSettings } from "../../../src/surface/listener/auth.ts";
import { fakeEngine } from "../fake-engine.ts";
import { NODE_ID } from "../fixtures.ts";
import {
  CITATION_ID,
  citations,
  KEPT_RECEIPT,
  OTHER_ID,
  REQUEST_ID,
  RESPONSE,
} from "../retrieval-fixtures.ts";

type Asked = {
  readonly receipts: unknown[];
  readonly recorded: { readonly input: AnswerCitationsInput; readonly userId: string }[];
  readonly read: unknown[];
  readonly lists: AnswerCitationsQuery[];
};

/** A server whose engine knows one receipt and one report, both of ada, and keeps what it was asked. */
function serverOf(auth: AuthSettings = {}) {
  const asked: Asked = { receipts: [], recorded: [], read: [], lists: [] };
  const engine = fakeEngine({
    retrieve: () => Promise.resolve(RESPONSE),
    getRetrievalReceipt: (id, userId) => {
      asked.receipts.push([id, userId]);
      return Promise.resolve(id === REQUEST_ID && userId === "ada" ? KEPT_RECEIPT : undefined);
    },
    recordAnswerCitations: (input, userId) => {
      asked.recorded.push({ input, userId });
      return Promise.resolve(citations());
    },
    getAnswerCitations: (id, userId) => {
      asked.read.push([id, userId]);
      return Promise.resolve(id === CITATION_ID && userId === "ada" ? citations() : undefined);
    },
    listAnswerCitations: (query) => {
      asked.lists.push(query);
      return Promise.resolve([citations(), citations(OTHER_ID)]);
    },
  });
  return { app: appOf(engine, auth), asked };
}

function appOf(engine: ReturnType<typeof fakeEngine>, auth: AuthSettings = {}) {
  return createHttpApp({
    engine: () => engine,
    version: "9.9.9",
    auth,
    cors: { origins: [], allowCredentials: false },
    log: () => {},
  });
}

const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const KEYS = { userKeys: { ada: "key-a", bob: "key-b" } };
const ADA = { authorization: "Bearer key-a" };
const BOB = { authorization: "Bearer key-b" };

describe("POST /v1/retrieve", () => {
  test("answers with results, bundle, bindings and metrics", async () => {
    const { app } = serverOf();
    const answer = await app.request("/v1/retrieve", post({ query: "tea?", user_id: "ada" }));
    expect(answer.status).toBe(200);
    // SAFETY: the shape is what is asserted next.
    const body = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(["results", "bundle", "value_bindings", "metrics"]);
    expect(body).toMatchObject({
      results: [{ node_id: NODE_ID, score: 0.8695652173925, semantic_relevance: 0.123456 }],
      bundle: { rendered_context: RESPONSE.bundle.renderedContext, context_references: {} },
      metrics: { request_id: REQUEST_ID, receipt_persisted: true },
    });
  });

  test.each([
    { name: "an unknown key", body: { colour: 1 }, detail: "colour: is not a known key" },
    { name: "an unknown filter", body: { filters: { x: 1 } }, detail: "filters.x: is not a known" },
    {
      name: "a multiplier out of range",
      body: { ranking_multipliers: { graph: 9 } },
      detail: "ranking_multipliers.graph: 9 must be at most 4",
    },
    { name: "a cap of 0", body: { max_per_source: 0 }, detail: "max_per_source: 0 must be" },
  ])("refuses $name with 422", async ({ body, detail }) => {
    const { app } = serverOf();
    const answer = await app.request("/v1/retrieve", post({ query: "q", user_id: "ada", ...body }));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      detail: expect.stringContaining(detail),
    });
  });

  test("answers 422 when the engine refuses multipliers", async () => {
    const refuse = new SvcError("invalid_argument", "ranking_multipliers: have no meaning");
    const app = appOf(fakeEngine({ retrieve: () => Promise.reject(refuse) }));
    const body = { query: "q", user_id: "ada", ranking_multipliers: { graph: 2 } };
    const answer = await app.request("/v1/retrieve", post(body));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      detail: "ranking_multipliers: have no meaning",
    });
  });
});

describe("GET /v1/retrievals/{request_id}", () => {
  const path = `/v1/retrievals/${REQUEST_ID}`;

  test("answers with the receipt and its checksum, under any spelling of the id", async () => {
    const { app } = serverOf();
    const upper = `/v1/retrievals/${REQUEST_ID.replaceAll("-", "").toUpperCase()}`;
    for (const address of [path, upper]) {
      const answer = await app.request(`${address}?user_id=ada`);
      expect(answer.status).toBe(200);
      const text = KEPT_RECEIPT.text.replace(/\}$/, `,"checksum":"${KEPT_RECEIPT.checksum}"}`);
      expect(await answer.text()).toBe(text);
    }
  });

  test("is 404 for a missing one, a foreign one and a foreign key", async () => {
    const { app, asked } = serverOf(KEYS);
    const missing = await app.request(`/v1/retrievals/${OTHER_ID}`, { headers: ADA });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toEqual({
      code: "not_found",
      detail: `Retrieval receipt '${OTHER_ID}' not found`,
    });
    expect((await app.request(path, { headers: BOB })).status).toBe(404);
    expect((await app.request(path, { headers: ADA })).status).toBe(200);
    expect(asked.receipts).toEqual([
      [OTHER_ID, "ada"],
      [REQUEST_ID, "bob"],
      [REQUEST_ID, "ada"],
    ]);
    const operator = serverOf();
    expect((await operator.app.request(`${path}?user_id=bob`)).status).toBe(404);
  });

  test("is 422 for an id that is none and without an owner, 403 for another owner's name", async () => {
    const { app } = serverOf();
    const bad = await app.request("/v1/retrievals/7?user_id=ada");
    expect(bad.status).toBe(422);
    expect(await bad.json()).toEqual({
      code: "invalid_argument",
      detail: 'request_id: "7" is not a UUID',
    });
    expect((await app.request(path)).status).toBe(422);
    const bound = serverOf(KEYS);
    const foreign = await bound.app.request(`${path}?user_id=bob`, { headers: ADA });
    expect(foreign.status).toBe(403);
    expect((await bound.app.request(path)).status).toBe(401);
  });
});

describe("POST /v1/answer-citations", () => {
  const path = "/v1/answer-citations";
  const BODY = { request_id: REQUEST_ID, answer_id: "answer-1", user_id: "ada" };

  test("records what it is given and answers with the record", async () => {
    const { app, asked } = serverOf();
    const given = {
      ...BODY,
      citation_id: CITATION_ID,
      cited_node_ids: [NODE_ID],
      answer_sha256: "c".repeat(64),
      method: "human_verified",
    };
    const answer = await app.request(path, post(given));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      schema_version: 1,
      citation_id: CITATION_ID,
      request_id: REQUEST_ID,
      answer_id: "answer-1",
      cited_node_ids: [NODE_ID],
      answer_sha256: null,
      method: "model_reported",
      user_id: "ada",
      recorded_at: "2026-03-18T12:00:00.000000Z",
      receipt_checksum: KEPT_RECEIPT.checksum,
      context_sha256: "a".repeat(64),
    });
    expect(asked.recorded).toEqual([
      {
        input: {
          citationId: CITATION_ID,
          requestId: REQUEST_ID,
          answerId: "answer-1",
          citedNodeIds: [NODE_ID],
          answerSha256: "c".repeat(64),
          method: "human_verified",
        },
        userId: "ada",
      },
    ]);
  });

  test("takes the owner of the key", async () => {
    const { app, asked } = serverOf(KEYS);
    const { user_id: _owner, ...body } = BODY;
    expect((await app.request(path, post(body, BOB))).status).toBe(200);
    expect(asked.recorded[0]?.userId).toBe("bob");
    expect((await app.request(path, post(BODY, BOB))).status).toBe(403);
  });

  test.each([
    { code: "not_found", status: 404 },
    { code: "request_conflict", status: 409 },
    { code: "bad_citation", status: 400 },
    { code: "invalid_argument", status: 422 },
  ] as const)("is $status when the engine says $code", async ({ code, status }) => {
    const refuse = () => Promise.reject(new SvcError(code, "because"));
    const answer = await appOf(fakeEngine({ recordAnswerCitations: refuse })).request(
      path,
      post(BODY),
    );
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ code, detail: "because" });
  });

  test.each([
    { name: "an unknown key", body: { note: "x" }, detail: "note: is not a known key" },
    { name: "no request", body: { request_id: undefined }, detail: "request_id: is required" },
    { name: "a request of no id", body: { request_id: "7" }, detail: "request_id: " },
    { name: "no answer", body: { answer_id: undefined }, detail: "answer_id: is required" },
    { name: "a blank answer", body: { answer_id: " " }, detail: "answer_id: is blank" },
    {
      name: "a long answer id",
      body: { answer_id: "x".repeat(513) },
      detail: "answer_id: has 513 characters; at most 512 are allowed",
    },
    {
      name: "too many memories",
      body: { cited_node_ids: Array.from({ length: 1001 }, () => NODE_ID) },
      detail: "cited_node_ids: has 1001 entries; it must have at most 1000",
    },
    {
      name: "a memory of no id",
      body: { cited_node_ids: [NODE_ID, "7"] },
      detail: "cited_node_ids[1]: ",
    },
    { name: "null for memories", body: { cited_node_ids: null }, detail: "cited_node_ids: null" },
    {
      name: "a hash in capitals",
      body: { answer_sha256: "A".repeat(64) },
      detail: "answer_sha256: is not a SHA-256",
    },
    { name: "an unknown method", body: { method: "guess" }, detail: 'method: "guess" is not one' },
    { name: "no owner", body: { user_id: undefined }, detail: "user_id: is required" },
  ])("refuses $name with 422", async ({ body, detail }) => {
    const { app, asked } = serverOf();
    const answer = await app.request(path, post({ ...BODY, ...body }));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      detail: expect.stringContaining(detail),
    });
    expect(asked.recorded).toEqual([]);
  });
});

describe("GET /v1/answer-citations", () => {
  const path = "/v1/answer-citations";

  test("is a bare list of one owner, 100 at a time unless told otherwise", async () => {
    const { app, asked } = serverOf();
    const answer = await app.request(`${path}?user_id=ada`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject([
      { citation_id: CITATION_ID },
      { citation_id: OTHER_ID },
    ]);
    await app.request(`${path}?user_id=ada&limit=7&after_id=${CITATION_ID.toUpperCase()}`);
    expect(asked.lists).toEqual([
      { userId: "ada", afterId: undefined, limit: 100 },
      { userId: "ada", afterId: CITATION_ID, limit: 7 },
    ]);
  });

  test.each([
    ["limit=0", "limit: "],
    ["limit=1001", "limit: "],
    ["limit=true", "limit: "],
    ["limit=1.5", "limit: "],
    ["after_id=7", "after_id: "],
  ])("refuses %s with 422", async (query, detail) => {
    const { app, asked } = serverOf();
    const answer = await app.request(`${path}?user_id=ada&${query}`);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      detail: expect.stringContaining(detail),
    });
    expect(asked.lists).toEqual([]);
  });

  test("needs an owner", async () => {
    const { app } = serverOf();
    expect((await app.request(path)).status).toBe(422);
    const bound = serverOf(KEYS);
    await bound.app.request(path, { headers: BOB });
    expect(bound.asked.lists).toEqual([{ userId: "bob", afterId: undefined, limit: 100 }]);
  });
});

describe("GET /v1/answer-citations/{citation_id}", () => {
  const path = `/v1/answer-citations/${CITATION_ID}`;

  test("answers with the record of its owner, 404 for any other", async () => {
    const { app, asked } = serverOf(KEYS);
    const found = await app.request(path, { headers: ADA });
    expect(found.status).toBe(200);
    expect(await found.json()).toMatchObject({ citation_id: CITATION_ID, user_id: "ada" });
    const foreign = await app.request(path, { headers: BOB });
    expect(foreign.status).toBe(404);
    expect(await foreign.json()).toEqual({
      code: "not_found",
      detail: `Answer citations '${CITATION_ID}' not found`,
    });
    expect(asked.read).toEqual([
      [CITATION_ID, "ada"],
      [CITATION_ID, "bob"],
    ]);
  });

  test("is 422 for an id that is none", async () => {
    const { app } = serverOf();
    expect((await app.request("/v1/answer-citations/7?user_id=ada")).status).toBe(422);
  });
});

test.each([
  { code: "model_failed", status: 502 },
  { code: "model_timeout", status: 504 },
] as const)("$code is $status and says why", async ({ code, status }) => {
  const refuse = () => Promise.reject(new SvcError(code, "the model did not answer"));
  const app = appOf(fakeEngine({ retrieve: refuse }));
  const answer = await app.request("/v1/retrieve", post({ query: "q", user_id: "ada" }));
  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({
    code,
    detail: "the model did not answer",
  });
});
