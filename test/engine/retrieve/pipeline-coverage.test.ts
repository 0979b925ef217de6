import { describe, expect, test } from "bun:test";
import { historicalCoverage } from "../../../src/domain/records/receipt.ts";
import {
  aggregationCoverage,
  type CoverageFacts,
  pathsAtLimit,
} from "../../../src/engine/retrieve/candidates.ts";
import { at } from "../../contract/samples.ts";
import { fullReceipt, useEngines } from "../engines.ts";
import { idOf, minute } from "./pack-samples.ts";
import { ask, contentsOf, packing, remember, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const HOW_MANY = "How many museums did I visit?";

function museums(count: number) {
  return Array.from({ length: count }, (_, second) => ({
    content: `I visited the museum number ${second} on a rainy day.`,
    second,
  }));
}

describe("a question for a count", () => {
  test("looks further, and says how far", async () => {
    const opened = await open();
    await remember(opened, ...museums(60));
    const engine = withSettings(
      opened,
      packing({ vectorK: 5, lexicalK: 4, aggregationKMultiplier: 3, aggregationKMax: 14 }),
    );

    const plain = await ask(engine, "museums that I visited");
    const count = await ask(engine, HOW_MANY, { limit: 20, tokenBudget: 400 });

    expect(plain.metadata.candidatesGenerated).toEqual({
      GRAPH: 0,
      VECTOR: 5,
      LEXICAL: 4,
      PINNED: 0,
    });
    expect(plain.metadata.aggregationCoverage).toBeUndefined();
    expect(plain.bundle.coverageNotice).toBeUndefined();
    expect(count.metadata.candidatesGenerated).toMatchObject({ VECTOR: 14, LEXICAL: 12 });
    expect(count.metadata.candidatesGenerated["LEXICAL_AGG"]).toBeWithin(20, 60);
    expect(count.metadata.backendsUsed).toContain("LEXICAL_AGG");
    expect(count.metadata.aggregationCoverage).toEqual({
      status: "context_limited",
      exhaustive: false,
      candidateCount: count.results.length + count.excluded.length,
      selectedCount: 20,
      contextCount: count.bundle.includedCount,
      limitations: ["semantic_matching", "candidate_limit", "result_limit", "token_budget"],
      candidateLimitPaths: ["VECTOR", "LEXICAL", "LEXICAL_AGG"],
    });
    const kept = await fullReceipt(engine, count);
    expect(kept.receipt.execution.parameters.aggregationCoverage).toEqual(
      count.metadata.aggregationCoverage,
    );
  });

  test("finds by each of its words what the whole question does not reach", async () => {
    const opened = await open();
    await remember(opened, ...museums(9), { content: "Louvre, a museum." }, { content: "A pub." });
    const narrow = packing({ vectorK: 0, lexicalK: 1, aggregationKMultiplier: 1 });
    const engine = withSettings(opened, narrow);

    const { results, metadata } = await ask(engine, HOW_MANY);

    expect(contentsOf(results)).toContain("Louvre, a museum.");
    expect(results).toHaveLength(10);
    expect(metadata.candidatesGenerated).toEqual({
      GRAPH: 0,
      VECTOR: 0,
      LEXICAL: 1,
      PINNED: 0,
      LEXICAL_AGG: 9,
    });
    expect(results.every(({ paths }) => paths.join() === "LEXICAL")).toBe(true);
  });
});

describe("a question about time", () => {
  const DAYS_AGO = "How many days ago did I visit the museum?";

  test("after a span is no count, and tells how to reckon", async () => {
    const opened = await open();
    await remember(opened, ...museums(3));

    const { bundle, metadata } = await ask(opened.engine, DAYS_AGO, {
      referenceTime: "2026-03-18T13:00:00+01:00",
    });

    expect(metadata.aggregationCoverage).toBeUndefined();
    expect(bundle.coverageNotice).toBeUndefined();
    const [time, task, header] = bundle.renderedContext.split("\n");
    expect(time).toBe("QUESTION TIME: 2026-03-18T12:00:00+00:00");
    expect(task).toStartWith("TEMPORAL TASK: ");
    expect(header).toStartWith("Memory records");
    expect(bundle.contextGuidance).toBe(`${time}\n${task}`);
  });

  test("of an earlier knowledge is told what that is not", async () => {
    const opened = await open();
    await remember(opened, ...museums(4));

    const { results, bundle, metadata } = await ask(opened.engine, HOW_MANY, {
      knowledgeAt: at(1),
    });

    expect(results).toHaveLength(2);
    expect(metadata.historicalCoverage).toEqual({
      knowledgeAt: at(1),
      semantics: "state_then",
      exactSnapshot: false,
      limitations: ["forgotten_missing", "extracted_state_assumed"],
    });
    expect(bundle.coverageNotice?.split("\n").map((line) => line.split(":")[0])).toEqual([
      "Aggregation coverage",
      "Historical coverage",
    ]);
    const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
    expect(kept?.receipt.execution.parameters).toMatchObject({
      knowledgeAt: at(1),
      historicalCoverage: metadata.historicalCoverage,
    });
  });
});

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
  const CASES = (
    [
      ["nothing was left out", {}, "semantic_candidates", []],
      [
        "a search was at its limit",
        { candidateLimitPaths: ["VECTOR"] },
        "candidate_limited",
        ["candidate_limit"],
      ],
      [
        "a search failed",
        { backendFailures: { GRAPH: "backend_error" } },
        "candidate_limited",
        ["backend_failure"],
      ],
      [
        "the floor dropped a result",
        dropped("below_threshold"),
        "candidate_limited",
        ["score_floor"],
      ],
      [
        "the limit dropped a result",
        dropped("result_limit"),
        "candidate_limited",
        ["result_limit"],
      ],
      [
        "the limit had no room for both sides of a dispute",
        dropped("one_sided"),
        "candidate_limited",
        ["result_limit"],
      ],
      [
        "a cap on sources dropped a result",
        { excluded: [{ reason: "source_limit" }, { reason: "evidence_limit" }] },
        "semantic_candidates",
        [],
      ],
      ["a record did not fit", leftOut(false), "context_limited", ["token_budget"]],
      ["a record was blank", leftOut(true), "semantic_candidates", []],
      [
        "all of it happened",
        {
          candidateLimitPaths: ["LEXICAL_AGG"],
          backendFailures: { VECTOR: "backend_error" },
          excluded: [{ reason: "result_limit" }, { reason: "below_threshold" }],
          ...leftOut(false),
        },
        "context_limited",
        ["candidate_limit", "backend_failure", "score_floor", "result_limit", "token_budget"],
      ],
    ] satisfies readonly (readonly [
      name: string,
      facts: Partial<CoverageFacts>,
      status: string,
      limitations: readonly string[],
    ])[]
  ).map(([name, facts, status, limitations]) => ({ name, facts, status, limitations }));

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
  expect(historicalCoverage(minute("03-01T00:00"), "ingestion_cutoff")).toEqual({
    knowledgeAt: minute("03-01T00:00"),
    semantics: "ingestion_cutoff",
    exactSnapshot: false,
    limitations: ["current_lifecycle_state", "current_derived_indexes", "mutations_not_replayed"],
  });
});
