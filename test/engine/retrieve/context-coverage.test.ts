import { describe, expect, test } from "bun:test";
import { historicalCoverage } from "../../../src/domain/records/receipt.ts";
import {
  aggregationCoverage,
  type CoverageFacts,
  pathsAtLimit,
} from "../../../src/engine/retrieve/candidates.ts";
import { idOf, minute } from "./pack-samples.ts";

const COMPLETE: CoverageFacts = {
  candidateCount: 12,
  selectedCount: 9,
  excluded: [],
  backendFailures: {},
  candidateLimitPaths: [],
  bundle: { includedCount: 9, excludedIds: [], blankIds: [], folded: new Map() },
};
const dropped = (reason: string) => ({ excluded: [{ reason }] });
const leftOut = (blank: boolean) => ({
  bundle: {
    includedCount: 8,
    excludedIds: [idOf(1)],
    blankIds: blank ? [idOf(1)] : [],
    folded: new Map(),
  },
});

describe("coverage of a count or a list", () => {
  const CASES: readonly {
    readonly name: string;
    readonly facts: Partial<CoverageFacts>;
    readonly status: string;
    readonly limitations: readonly string[];
  }[] = [
    { name: "nothing was left out", facts: {}, status: "semantic_candidates", limitations: [] },
    {
      name: "a search was at its limit",
      facts: { candidateLimitPaths: ["VECTOR"] },
      status: "candidate_limited",
      limitations: ["candidate_limit"],
    },
    {
      name: "a search failed",
      facts: { backendFailures: { GRAPH: "backend_error" } },
      status: "candidate_limited",
      limitations: ["backend_failure"],
    },
    {
      name: "the floor dropped a result",
      facts: dropped("below_threshold"),
      status: "candidate_limited",
      limitations: ["score_floor"],
    },
    {
      name: "the limit dropped a result",
      facts: dropped("result_limit"),
      status: "candidate_limited",
      limitations: ["result_limit"],
    },
    {
      name: "the limit had no room for both sides of a dispute",
      facts: dropped("one_sided"),
      status: "candidate_limited",
      limitations: ["result_limit"],
    },
    {
      name: "a cap on sources dropped a result",
      facts: { excluded: [{ reason: "source_limit" }, { reason: "evidence_limit" }] },
      status: "semantic_candidates",
      limitations: [],
    },
    {
      name: "a record did not fit",
      facts: leftOut(false),
      status: "context_limited",
      limitations: ["token_budget"],
    },
    {
      name: "a record was blank",
      facts: leftOut(true),
      status: "semantic_candidates",
      limitations: [],
    },
    {
      name: "all of it happened",
      facts: {
        candidateLimitPaths: ["LEXICAL_AGG"],
        backendFailures: { VECTOR: "backend_error" },
        excluded: [{ reason: "result_limit" }, { reason: "below_threshold" }],
        ...leftOut(false),
      },
      status: "context_limited",
      limitations: [
        "candidate_limit",
        "backend_failure",
        "score_floor",
        "result_limit",
        "token_budget",
      ],
    },
  ];

  test.each(CASES)("is $status when $name", ({ facts, status, limitations }) => {
    const coverage = aggregationCoverage({ ...COMPLETE, ...facts });

    expect(coverage).toMatchObject({ status: status as never, exhaustive: false });
    expect(coverage.limitations as readonly string[]).toEqual([
      "semantic_matching",
      ...limitations,
    ]);
  });

  test("counts candidates, results and records", () => {
    expect(aggregationCoverage({ ...COMPLETE, candidateLimitPaths: ["GRAPH"] })).toMatchObject({
      candidateCount: 12,
      selectedCount: 9,
      contextCount: 9,
      candidateLimitPaths: ["GRAPH"],
    });
  });
});

test("a search is at its limit when it found as many as it may", () => {
  const limits = { GRAPH: 150, VECTOR: 150, LEXICAL: 150, PINNED: 500, LEXICAL_AGG: 50 };

  expect(pathsAtLimit({ GRAPH: 149, VECTOR: 150, LEXICAL: 151, PINNED: 500 }, limits)).toEqual([
    "VECTOR",
    "LEXICAL",
    "PINNED",
  ]);
  expect(pathsAtLimit({ LEXICAL_AGG: 50, REFORMULATION: 9 }, limits)).toEqual(["LEXICAL_AGG"]);
});

test("an answer for an earlier moment says what it is not", () => {
  expect(historicalCoverage(minute("03-01T00:00"))).toEqual({
    knowledgeAt: minute("03-01T00:00"),
    semantics: "ingestion_cutoff",
    exactSnapshot: false,
    limitations: ["current_lifecycle_state", "current_derived_indexes", "mutations_not_replayed"],
  });
});
