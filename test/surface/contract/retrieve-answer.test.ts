import { describe, expect, test } from "bun:test";
import type { ResultCandidate, RetrievalResponse } from "../../../src/engine/retrieve/api.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import {
  retrieveToolView,
  retrieveView,
  toToolAnswer,
} from "../../../src/surface/contract/retrieval/answer.ts";
import { NODE_ID } from "../fixtures.ts";
import {
  BUNDLE,
  CANDIDATE,
  METADATA,
  OTHER_ID,
  PACKED,
  RANK_FUSED,
  RELATIVE_FUSED,
  RESPONSE,
  TRACE,
  WEIGHTED,
} from "../retrieval-fixtures.ts";
import { toldJson } from "../told.ts";

const toRetrieveAnswer = (response: RetrievalResponse) =>
  toldJson(retrieveView, { ...response, isWhole: true });
const toRetrieveToolAnswer = (...given: Parameters<typeof toToolAnswer>) =>
  toldJson(retrieveToolView, toToolAnswer(...given));

/** The answer whose only result, also its only packed record, is like this. */
function responseOf(changes: Partial<ResultCandidate>): RetrievalResponse {
  const candidate = { ...CANDIDATE, ...changes };
  const sections = new Map([["stable_facts" as const, [{ ...PACKED, candidate }]]]);
  return { ...RESPONSE, results: [candidate], bundle: { ...BUNDLE, sections } };
}

const recordOf = (response: RetrievalResponse) =>
  toRetrieveAnswer(response).bundle.sections["stable_facts"]?.[0];
const keys = (value: object | undefined) => Object.keys(value ?? {}).join(" ");

test("an answer has results, bundle, bindings and metrics, and nothing that is for embedded callers", () => {
  const answer = toRetrieveAnswer(RESPONSE);
  expect(keys(answer)).toBe("results bundle value_bindings metrics");
  expect(schemaOf(retrieveView).parse(answer)).toEqual(answer);
  const tool = toRetrieveToolAnswer(RESPONSE, true);
  for (const text of [JSON.stringify(answer), JSON.stringify(tool)]) {
    for (const hidden of [
      "hints",
      "traces",
      '"excluded"',
      "filter_metadata",
      "blank",
      'header":',
    ]) {
      expect(text).not.toContain(hidden);
    }
  }
});

test("a result has its 17 keys in order", () => {
  const [item] = toRetrieveAnswer(RESPONSE).results;
  expect(keys(item)).toBe(
    "node_id content score semantic_relevance node_type lifecycle_state confidence salience epistemic_type " +
      "source_type scope session_id event_time valid_from valid_to evidence_refs metadata",
  );
  expect(item).toMatchObject({ node_id: NODE_ID, score: 0.8696, session_id: null });
});

test("a bundle has its 13 keys in order, null for what is absent", () => {
  const { bundle } = toRetrieveAnswer(RESPONSE);
  expect(keys(bundle)).toBe(
    "sections included_count excluded_ids tokens_used token_budget budget_remaining min_fidelity rendered_context " +
      "tokenizer coverage_notice context_guidance context_format context_references",
  );
  expect(bundle).toMatchObject({
    excluded_ids: [OTHER_ID],
    coverage_notice: null,
    context_guidance: null,
    context_format: "reader",
    context_references: {},
  });
});

test("an answer without an explanation has neither records nor stages", () => {
  const { bundle, metrics } = toldJson(retrieveView, RESPONSE);
  expect(keys(bundle)).toBe(
    "included_count tokens_used token_budget budget_remaining min_fidelity rendered_context " +
      "tokenizer coverage_notice context_guidance context_format context_references",
  );
  expect(metrics).not.toHaveProperty("stages");
});
describe("a packed record", () => {
  test("has its keys in order, null or nothing for what is absent", () => {
    const record = recordOf(RESPONSE);
    expect(keys(record)).toBe(
      "node paths path_count semantic_score lexical_score graph_proximity composite_score semantic_relevance " +
        "reranker_score score_trace score_provenance representation token_cost rendered_text conflict_flag contradicts_id",
    );
    expect(record).toMatchObject({
      path_count: 1,
      semantic_score: 0.123456,
      lexical_score: null,
      reranker_score: null,
      score_trace: null,
      conflict_flag: false,
      contradicts_id: null,
    });
  });

  test("shows link, reranker, conflict and trace where there are any", () => {
    const response = responseOf({
      lexicalScore: 0.5,
      trace: TRACE,
      rerankerScore: 0.9,
      sessionLink: { triggerId: OTHER_ID, offset: -2 },
      conflictFlag: true,
      contradictsId: OTHER_ID,
    });
    expect(recordOf(response)).toMatchObject({
      lexical_score: 0.5,
      reranker_score: 0.9,
      session_context_link: { trigger_id: OTHER_ID, offset: -2 },
      conflict_flag: true,
      contradicts_id: OTHER_ID,
      score_trace: { semantic_similarity: 0.8, composite_score: 0.8695652173925 },
    });
    const answer = toRetrieveAnswer(response);
    expect(schemaOf(retrieveView).parse(answer)).toEqual(answer);
  });
});

test("relevance is left out under weighted fusion, not null", () => {
  const weighted = responseOf({ provenance: WEIGHTED });
  expect(toRetrieveAnswer(weighted).results[0]).not.toHaveProperty("semantic_relevance");
  expect(recordOf(weighted)).not.toHaveProperty("semantic_relevance");
  for (const provenance of [RANK_FUSED, RELATIVE_FUSED]) {
    const [item] = toRetrieveAnswer(responseOf({ provenance })).results;
    expect(item?.semantic_relevance).toBe(0.1235);
  }
});

describe("metrics", () => {
  const metricsOf = (changes: Partial<RetrievalResponse["metadata"]>) =>
    toRetrieveAnswer({ ...RESPONSE, metadata: { ...METADATA, ...changes } }).metrics;

  test("have every key, null for what is absent", () => {
    expect(metricsOf({})).toEqual({
      request_id: METADATA.requestId,
      receipt_persisted: true,
      reference_time: METADATA.referenceTime,
      intent: "semantic",
      candidates_generated: { GRAPH: 0, VECTOR: 1, LEXICAL: 0, PINNED: 0 },
      candidates_filtered: 2,
      min_score: null,
      result_limit: null,
      max_per_source: null,
      max_per_evidence: null,
      candidates_included: 1,
      scoring_config_version: "011a2a9ce8e7",
      ranking_multipliers: null,
      ranking_profile_id: null,
      ranking_profile_status: "none",
      ranking_profile_reason: null,
      timing_ms: 3.14,
      stages: [{ stage: "analyze", timing_ms: 0.25, input: 1, output: 1 }],
      backends_used: ["GRAPH", "VECTOR", "LEXICAL", "PINNED"],
      embedding_mismatch: false,
      backend_failures: {},
      min_score_skipped: false,
      reranker: null,
      reformulation: null,
      aggregation_coverage: null,
      historical_coverage: null,
      temporal_relation: null,
    });
  });

  test("tell what was asked for and what the opt-in stages did", () => {
    const multipliers = {
      semantic: 2,
      lexical: 1,
      graph: 1,
      recency: 1,
      salience: 1,
      confidence: 1,
    };
    expect(
      metricsOf({
        minScore: 0.2,
        minScoreSkipped: true,
        resultLimit: 0,
        maxPerSource: 1,
        maxPerEvidence: 2,
        rankingMultipliers: multipliers,
        receiptPersisted: false,
        reranker: "timeout",
        reformulation: "applied",
      }),
    ).toMatchObject({
      min_score: 0.2,
      min_score_skipped: true,
      result_limit: 0,
      max_per_source: 1,
      max_per_evidence: 2,
      ranking_multipliers: multipliers,
      ranking_profile_status: "request_override",
      ranking_profile_reason: "explicit_multipliers",
      receipt_persisted: false,
      reranker: "timeout",
      reformulation: "applied",
    });
  });

  test("tell what the answer does not cover", () => {
    const at = asInstant("2026-01-01T00:00:00.000000Z");
    const metrics = metricsOf({
      aggregationCoverage: {
        status: "candidate_limited",
        exhaustive: false,
        candidateCount: 9,
        selectedCount: 5,
        contextCount: 4,
        limitations: ["semantic_matching", "candidate_limit"],
        candidateLimitPaths: ["VECTOR"],
      },
      historicalCoverage: {
        knowledgeAt: at,
        semantics: "ingestion_cutoff",
        exactSnapshot: false,
        limitations: [
          "current_lifecycle_state",
          "current_derived_indexes",
          "mutations_not_replayed",
        ],
      },
    });
    expect(metrics.aggregation_coverage).toEqual({
      status: "candidate_limited",
      exhaustive: false,
      candidate_count: 9,
      selected_count: 5,
      context_count: 4,
      limitations: ["semantic_matching", "candidate_limit"],
      candidate_limit_paths: ["VECTOR"],
    });
    expect(metrics.historical_coverage).toEqual({
      knowledge_at: at,
      semantics: "ingestion_cutoff",
      exact_snapshot: false,
      limitations: ["current_lifecycle_state", "current_derived_indexes", "mutations_not_replayed"],
    });
  });
});

describe("the answer of the tool", () => {
  test("is short, with four decimals", () => {
    const answer = toRetrieveToolAnswer(RESPONSE, false);
    expect(keys(answer)).toBe("results count metrics");
    expect(answer.results).toEqual([
      {
        node_id: NODE_ID,
        content: "Ada prefers green tea.",
        score: 0.8696,
        node_type: "note",
        stored: CANDIDATE.node.createdAt,
        event_time: null,
        source_type: CANDIDATE.node.sourceType,
      },
    ]);
    expect(answer.metrics).toEqual({
      request_id: RESPONSE.metadata.requestId,
      aggregation_coverage: null,
      historical_coverage: null,
    });
    expect(schemaOf(retrieveToolView).parse(answer)).toEqual(answer);
  });

  test("says of a hit what is not usual: state, doubt, another scope, that it is weak", () => {
    const node = {
      ...CANDIDATE.node,
      ...({ lifecycleState: "contested", confidence: 0.4, scope: "project" } as const),
    };
    const results = [{ ...CANDIDATE, node, strength: "weak" as const }];
    expect(toRetrieveToolAnswer({ ...RESPONSE, results }, false).results[0]).toMatchObject({
      ...{ lifecycle_state: "contested", confidence: 0.4, scope: "project", strength: "weak" },
    });
  });

  test("says so where none of the hits is strong", () => {
    const results = [{ ...CANDIDATE, strength: "weak" as const }];
    const answer = toRetrieveToolAnswer({ ...RESPONSE, results }, false);
    expect(answer.note).toStartWith("Nothing is known about this for certain.");
    expect(answer.results[0]).toMatchObject({ strength: "weak" });
    expect(answer.results[0]).not.toHaveProperty("score");
  });

  test("has the context on request, its references only where there are any", () => {
    const plain = toRetrieveToolAnswer(RESPONSE, true);
    expect(keys(plain)).toBe("results count metrics context value_bindings");
    expect(plain.context).toBe(BUNDLE.renderedContext);
    const bundle = { ...BUNDLE, contextReferences: new Map([["m1", NODE_ID]]) };
    const cited = toRetrieveToolAnswer({ ...RESPONSE, bundle }, true);
    expect(cited.context_references).toEqual({ m1: NODE_ID });
    expect(schemaOf(retrieveToolView).parse(cited)).toEqual(cited);
  });
});
