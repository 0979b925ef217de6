import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { RetrievalResponse, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { fakeEngine } from "../fake-engine.ts";
import { NODE_ID } from "../fixtures.ts";
import { BUNDLE, CANDIDATE, RESPONSE, WEIGHTED } from "../retrieval-fixtures.ts";
import { openSession, type Session } from "./session.ts";

let session: Session;
let asked: RetrieveInput[] = [];
let response: RetrievalResponse = RESPONSE;

beforeAll(async () => {
  const engine = fakeEngine({
    retrieve: (input) => {
      asked.push(input);
      if (input.maxPerSource === 0) {
        return Promise.reject(new SvcError("invalid_argument", "max_per_source: 0 is too small"));
      }
      return Promise.resolve(response);
    },
  });
  session = await openSession(() => Promise.resolve(engine), { boundUserId: "ada" });
  // From here on the client checks every result against the tool's output schema.
  await session.client.listTools();
});

afterAll(() => session.leave());

async function call(args: Record<string, unknown>, answer = RESPONSE) {
  asked = [];
  response = answer;
  const result = await session.client.callTool({
    name: "memory_retrieve",
    arguments: { query: "tea?", ...args },
  });
  // SAFETY: the shape of a tool result; the client has checked it.
  return result as {
    isError?: boolean;
    content: { text: string }[];
    structuredContent?: Record<string, unknown>;
  };
}

describe("memory_retrieve", () => {
  test("answers with short items of four decimals and no context unless asked", async () => {
    const { structuredContent } = await call({});
    expect(Object.keys(structuredContent ?? {})).toEqual(["results", "count", "metrics"]);
    expect(structuredContent).toMatchObject({
      results: [{ node_id: NODE_ID, score: 0.8696, semantic_relevance: 0.1235 }],
      count: 1,
    });
  });

  test("adds the context and, where it shows references, what they stand for", async () => {
    const plain = await call({ include_context: true });
    expect(plain.structuredContent).toMatchObject({ context: BUNDLE.renderedContext });
    expect(plain.structuredContent).not.toHaveProperty("context_references");
    const bundle = { ...BUNDLE, contextReferences: new Map([["m1", NODE_ID]]) };
    const cited = await call({ include_context: true }, { ...RESPONSE, bundle });
    expect(cited.structuredContent).toMatchObject({ context_references: { m1: NODE_ID } });
  });

  test("leaves relevance out under weighted fusion", async () => {
    const results = [{ ...CANDIDATE, provenance: WEIGHTED }];
    const { structuredContent } = await call({}, { ...RESPONSE, results });
    expect(JSON.stringify(structuredContent?.["results"])).not.toContain("semantic_relevance");
  });

  test("passes its filters and caps on", async () => {
    await call({
      max_per_source: 1,
      max_per_evidence: 2,
      ranking_multipliers: { semantic: 2 },
      include_cross_scope: false,
      knowledge_at: "",
    });
    expect(asked).toMatchObject([
      {
        userId: "ada",
        maxPerSource: 1,
        maxPerEvidence: 2,
        rankingMultipliers: { semantic: 2 },
        includeCrossScope: false,
      },
    ]);
    expect(asked[0]).not.toHaveProperty("knowledgeAt");
  });

  test("gives a refusal of the engine as a normal result", async () => {
    const { isError, structuredContent } = await call({ max_per_source: 0 });
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toEqual({ error: "max_per_source: 0 is too small" });
  });

  test.each([
    { args: { max_per_source: true }, text: "max_per_source: true is not a number" },
    { args: { max_per_evidence: "two" }, text: 'max_per_evidence: "two" is not' },
    {
      args: { ranking_multipliers: { paths: 1 } },
      text: "ranking_multipliers.paths: is not a known",
    },
    {
      args: { ranking_multipliers: { graph: "two" } },
      text: 'ranking_multipliers.graph: "two" is not',
    },
    { args: { include_cross_scope: 1 }, text: "include_cross_scope: 1 is not true or false" },
  ])("refuses $args as a break of the schema", async ({ args, text }) => {
    const { isError, content } = await call(args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(text);
    expect(asked).toEqual([]);
  });
});
