import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NODE_TYPES } from "../../../src/domain/enums.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { RetrievalResponse, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { fakeEngine } from "../fake-engine.ts";
import { RESPONSE } from "../retrieval-fixtures.ts";
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
  test("asks for the named types alone", async () => {
    await call({ node_types: "task" });
    expect(asked[0]?.excludeNodeTypes).toEqual(NODE_TYPES.filter((type) => type !== "task"));
    await call({ node_types: ["task", "fact"], exclude_node_types: ["fact"] });
    expect(asked[0]?.excludeNodeTypes).toContain("fact");
    await call({ node_types: [] });
    expect(asked[0]?.excludeNodeTypes).toEqual(NODE_TYPES);
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
});
