import { describe, expect, test } from "bun:test";
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
    { name: "an unknown filter", body: { filters: { x: 1 } }, detail: "filters.x: is not a known" },
    {
      name: "a multiplier out of range",
      body: { ranking_multipliers: { graph: 9 } },
      detail: "ranking_multipliers.graph: 9 must be at most 4",
    },
  ])("refuses $name with 422", async ({ body, detail }) => {
    const { app } = serverOf();
    const answer = await app.request("/v1/retrieve", post({ query: "q", user_id: "ada", ...body }));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: "invalid_argument",
      detail: expect.stringContaining(detail),
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
});
