import { expect, test } from "bun:test";
import { httpRequest, inputReader } from "../../../src/surface/contract/core/request.ts";
import {
  retrieveBody,
  retrieveRequest,
  toRetrieveInput,
} from "../../../src/surface/contract/retrieval/operations.ts";

const { read: readParts } = httpRequest(retrieveRequest, "/v1/retrieve", retrieveBody);

function read(body: object) {
  const wire = readParts({
    params: {},
    query: {},
    queryLists: {},
    idempotencyKey: undefined,
    body: { query: "q", ...body },
  });
  const input = inputReader(retrieveRequest, "http")(wire, { boundUserId: "ada" });
  return toRetrieveInput(input, { signal: undefined });
}

test("filters may be nested or flat", () => {
  const filters = { scope: ["project"], source_types: [], time_from: "2026-01-01T00:00:00Z" };
  expect(read({ filters })).toEqual(read(filters));
  expect(read({ filters })).toMatchObject({ scope: ["project"], sourceTypes: [] });
});

test("a filter given twice must be the same", () => {
  expect(read({ scope: "agent", filters: { scope: "agent" } }).scope).toBe("agent");
  expect(() => read({ scope: "agent", filters: { scope: "project" } })).toThrow(
    "filters.scope: differs from scope beside it",
  );
});

test("mode is another name of retrieval_mode", () => {
  expect(read({}).retrievalMode).toBeUndefined();
  expect(read({ mode: "explicit" }).retrievalMode).toBe("explicit");
  expect(read({ mode: "explicit", retrieval_mode: "explicit" }).retrievalMode).toBe("explicit");
  expect(() => read({ mode: "explicit", retrieval_mode: "default" })).toThrow(
    'mode: "explicit" differs from retrieval_mode "default"',
  );
});

test.each([
  [{}, 10],
  [{ limit: null }, 10],
  [{ limit: 3, token_budget: 100 }, 3],
  [{ token_budget: 100 }, undefined],
  [{ limit: 0 }, undefined],
])("%j asks for at most %p results", (body, limit) => {
  expect(read(body).limit).toBe(limit);
});

test("unknown keys are refused inside the filters too", () => {
  expect(() => read({ filters: { colour: 1 } })).toThrow("filters.colour: is not a known key; ");
});

test("every member of the body reaches the engine", () => {
  const body = {
    reference_time: "2026-03-18T12:00:00Z",
    token_budget: 0,
    limit: 3,
    max_per_source: 1,
    max_per_evidence: 2,
    min_score: 0.5,
    ranking_multipliers: { semantic: 0.25, graph: 4 },
    min_fidelity: "prose",
    retrieval_mode: "explicit",
    filters: {
      scope: "agent",
      time_from: "2026-01-01T00:00:00Z",
      time_to: "2026-01-02T00:00:00Z",
      knowledge_at: "2026-01-03T00:00:00Z",
      event_time_from: "2026-01-04T00:00:00Z",
      event_time_to: "2026-01-05T00:00:00Z",
      include_cross_scope: false,
      exclude_node_types: ["task"],
      source_types: [],
    },
  };
  expect(read(body)).toEqual({
    query: "q",
    userId: "ada",
    scope: "agent",
    timeFrom: "2026-01-01T00:00:00Z",
    timeTo: "2026-01-02T00:00:00Z",
    referenceTime: "2026-03-18T12:00:00Z",
    knowledgeAt: "2026-01-03T00:00:00Z",
    eventTimeFrom: "2026-01-04T00:00:00Z",
    eventTimeTo: "2026-01-05T00:00:00Z",
    tokenBudget: 0,
    minScore: 0.5,
    limit: 3,
    maxPerSource: 1,
    maxPerEvidence: 2,
    rankingMultipliers: { semantic: 0.25, graph: 4 },
    includeCrossScope: false,
    excludeNodeTypes: ["task"],
    sourceTypes: [],
    minFidelity: "prose",
    retrievalMode: "explicit",
    signal: undefined,
  });
});

test.each([
  {
    name: "a multiplier too small",
    body: { ranking_multipliers: { graph: 0.2 } },
    says: "ranking_multipliers.graph: 0.2 must be at least 0.25",
  },
  {
    name: "a multiplier too large",
    body: { ranking_multipliers: { graph: 4.5 } },
    says: "ranking_multipliers.graph: 4.5 must be at most 4",
  },
  {
    name: "an unknown multiplier",
    body: { ranking_multipliers: { paths: 1 } },
    says: "ranking_multipliers.paths: is not a known key",
  },
  {
    name: "a multiplier that is true",
    body: { ranking_multipliers: { graph: true } },
    says: "ranking_multipliers.graph: true is not a number",
  },
  {
    name: "a hint flag in words",
    body: { filters: { include_cross_scope: "no" } },
    says: 'filters.include_cross_scope: "no" is not true or false',
  },
])("$name is refused by name", ({ body, says }) => {
  expect(() => read(body)).toThrow(says);
});
