import { describe, expect, test } from "bun:test";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { CONFIG_SCHEMA } from "../../../src/config/schema.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { DEFAULT_SCORING, type ScoringWeights } from "../../../src/domain/scoring.ts";
import type { RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { parseRequest, type RetrievalRequest } from "../../../src/engine/retrieve/request.ts";
import { asInstant } from "../../../src/lib/instant.ts";

const SETTINGS = toEngineSettings(CONFIG_SCHEMA.parse({}));
const WEIGHTED = toEngineSettings(CONFIG_SCHEMA.parse({ scoring: { fusion: "weighted" } }));
const NOW = asInstant("2026-03-18T12:00:00.000000Z");
const NEUTRAL = { semantic: 1, lexical: 1, graph: 1, recency: 1, salience: 1, confidence: 1 };

/** What a caller without types may pass. */
type Loose = Readonly<Record<string, unknown>>;

function parse(input: Loose = {}, settings = SETTINGS): RetrievalRequest {
  // SAFETY: the parser checks everything at run time; that is what is tested.
  const given = { query: "q", userId: "ada", ...input } as unknown as RetrieveInput;
  return parseRequest(given, settings, NOW);
}

function refusal(input: Loose, settings = SETTINGS): SvcError {
  try {
    parse(input, settings);
  } catch (error) {
    if (error instanceof SvcError && error.code === "invalid_argument") return error;
    throw error;
  }
  throw new Error("the request was accepted");
}

test("fills in what is left out", () => {
  expect(parse()).toEqual({
    query: "q",
    filter: {
      userId: "ada",
      scopes: undefined,
      excludeNodeTypes: undefined,
      sourceTypes: undefined,
      knowledgeAt: undefined,
      eventTimeFrom: undefined,
      eventTimeTo: undefined,
      timeFrom: undefined,
      timeTo: undefined,
    },
    mode: "default",
    askedAt: NOW,
    referenceTime: NOW,
    tokenBudget: 4096,
    minFidelity: "reference",
    minScore: undefined,
    limit: undefined,
    maxPerSource: undefined,
    maxPerEvidence: undefined,
    weights: SETTINGS.scoring,
    scoringVersion: SETTINGS.scoringVersion,
    multipliers: undefined,
    includeCrossScope: true,
    keepReceipt: true,
    explain: false,
    client: undefined,
    signal: undefined,
  });
});

test("takes null for absent", () => {
  const names = [
    ...["scope", "timeFrom", "timeTo", "referenceTime", "knowledgeAt", "eventTimeFrom"],
    ...["eventTimeTo", "tokenBudget", "minScore", "limit", "maxPerSource", "maxPerEvidence"],
    ...["rankingMultipliers", "weights", "includeCrossScope", "excludeNodeTypes", "sourceTypes"],
    "minFidelity",
  ];
  expect(parse(Object.fromEntries(names.map((name) => [name, null])))).toEqual(parse());
});

test("takes what is given", () => {
  const request = parse({
    scope: ["project", "agent", "project"],
    referenceTime: "2026-01-01T01:00:00+01:00",
    tokenBudget: 0,
    minScore: 0.5,
    limit: 0,
    maxPerSource: 1,
    maxPerEvidence: 2,
    excludeNodeTypes: new Set(["task"]),
    sourceTypes: [],
    minFidelity: "prose",
    includeCrossScope: false,
    retrievalMode: "explicit",
  });
  expect(request).toMatchObject({
    filter: { scopes: ["project", "agent"], excludeNodeTypes: ["task"], sourceTypes: [] },
    referenceTime: "2026-01-01T00:00:00.000000Z",
    tokenBudget: 0,
    minScore: 0.5,
    limit: 0,
    maxPerSource: 1,
    maxPerEvidence: 2,
    minFidelity: "prose",
    includeCrossScope: false,
    mode: "explicit",
  });
  expect(parse({ scope: "agent", query: "" })).toMatchObject({
    query: "",
    filter: { scopes: ["agent"] },
  });
});

test("keeps lists as they were at the call", () => {
  const scope = ["project"];
  const { filter } = parse({ scope });
  scope.push("agent");
  expect(filter.scopes).toEqual(["project"]);
});

test("a window may be a single moment", () => {
  const at = "2026-01-01T00:00:00Z";
  const { filter } = parse({ timeFrom: at, timeTo: at, eventTimeFrom: at, eventTimeTo: at });
  expect([filter.timeFrom, filter.eventTimeTo]).toEqual([filter.timeTo, filter.eventTimeFrom]);
});

describe("each rule names its field", () => {
  const CASES: readonly { field: string; input: Loose }[] = [
    { field: "user_id", input: { userId: " " } },
    { field: "user_id", input: { userId: undefined } },
    { field: "query", input: { query: undefined } },
    { field: "query", input: { query: 7 } },
    ...[-1, 1.5, true, Number.NaN, "4"].map((value) => ({
      field: "limit",
      input: { limit: value },
    })),
    ...[-1, 1.5, true, "4"].map((value) => ({
      field: "token_budget",
      input: { tokenBudget: value },
    })),
    ...[-0.1, Number.NaN, Number.POSITIVE_INFINITY, true].map((value) => ({
      field: "min_score",
      input: { minScore: value },
    })),
    ...[0, -1, 1.5, true].flatMap((value) => [
      { field: "max_per_source", input: { maxPerSource: value } },
      { field: "max_per_evidence", input: { maxPerEvidence: value } },
    ]),
    { field: "exclude_node_types", input: { excludeNodeTypes: "task" } },
    { field: "exclude_node_types", input: { excludeNodeTypes: ["memo"] } },
    { field: "source_types", input: { sourceTypes: "user_stated" } },
    { field: "source_types", input: { sourceTypes: ["rumour"] } },
    { field: "scope", input: { scope: [] } },
    { field: "scope", input: { scope: "home" } },
    { field: "scope", input: { scope: ["home"] } },
    { field: "scope", input: { scope: 7 } },
    ...["timeFrom", "timeTo", "knowledgeAt", "eventTimeFrom", "eventTimeTo", "referenceTime"].map(
      (name) => ({
        field: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        input: { [name]: "2026-01-01T00:00:00" },
      }),
    ),
    ...(["time", "event_time"] as const).map((window) => {
      const [from, to] =
        window === "time" ? ["timeFrom", "timeTo"] : ["eventTimeFrom", "eventTimeTo"];
      const input = { [from]: "2026-01-01T00:00:00.000001Z", [to]: "2026-01-01T01:00:00+01:00" };
      return { field: `${window}_to`, input };
    }),
    { field: "min_fidelity", input: { minFidelity: "short" } },
    { field: "retrieval_mode", input: { retrievalMode: "all" } },
    { field: "include_cross_scope", input: { includeCrossScope: 1 } },
    { field: "include_cross_scope", input: { includeCrossScope: "true" } },
  ];

  test.each([...CASES])("$field: $input", ({ field, input }) => {
    const error = refusal(input);
    expect(error.data["field"]).toBe(field);
    expect(error.message).toStartWith(`${field}: `);
  });
});

test("selection is checked first, then types, scope, multipliers and their use, then the rest", () => {
  const bad: readonly [string, Loose][] = [
    ["min_score", { minScore: -1 }],
    ["limit", { limit: -1 }],
    ["max_per_source", { maxPerSource: 0 }],
    ["max_per_evidence", { maxPerEvidence: 0 }],
    ["token_budget", { tokenBudget: -1 }],
    ["exclude_node_types", { excludeNodeTypes: "task" }],
    ["source_types", { sourceTypes: "x" }],
    ["scope", { scope: [] }],
    ["ranking_multipliers.graph", { rankingMultipliers: { graph: 9 } }],
    ["ranking_multipliers", { rankingMultipliers: { graph: 2 } }],
    ["query", { query: 7 }],
  ];
  bad.forEach(([field], first) => {
    // Objects later in the list must not hide what is checked earlier.
    const input = Object.assign(
      {},
      ...bad
        .slice(first)
        .map(([, part]) => part)
        .reverse(),
    );
    expect(refusal(input).data["field"]).toBe(field);
  });
});

describe("ranking multipliers", () => {
  test("are completed with 1", () => {
    const { multipliers } = parse({ rankingMultipliers: { semantic: 0.25, graph: 4 } }, WEIGHTED);
    expect(multipliers).toEqual({ ...NEUTRAL, semantic: 0.25, graph: 4 });
  });

  test("pass anywhere when they are all 1", () => {
    expect(parse({ rankingMultipliers: NEUTRAL }).multipliers).toBeUndefined();
    expect(parse({ rankingMultipliers: {} }).multipliers).toBeUndefined();
    expect(parse({ rankingMultipliers: NEUTRAL }, WEIGHTED).multipliers).toEqual(NEUTRAL);
  });

  test.each([
    { value: { semantic: 0.24 }, field: "ranking_multipliers.semantic" },
    { value: { lexical: 4.01 }, field: "ranking_multipliers.lexical" },
    { value: { recency: Number.NaN }, field: "ranking_multipliers.recency" },
    { value: { salience: true }, field: "ranking_multipliers.salience" },
    { value: { epistemic: 1 }, field: "ranking_multipliers.epistemic" },
    { value: [1, 1], field: "ranking_multipliers" },
    { value: 2, field: "ranking_multipliers" },
  ])("refuse $value under every fusion", ({ value, field }) => {
    for (const settings of [SETTINGS, WEIGHTED]) {
      expect(refusal({ rankingMultipliers: value }, settings).data["field"]).toBe(field);
    }
  });

  test("need weighted fusion, whether configured or brought along", () => {
    const rankingMultipliers = { semantic: 2 };
    expect(refusal({ rankingMultipliers }).message).toStartWith(
      "ranking_multipliers: have no meaning with fusion adaptive",
    );
    expect(parse({ rankingMultipliers, weights: {} }).multipliers?.semantic).toBe(2);
    const relative = { fusion: { kind: "relative" } };
    expect(refusal({ rankingMultipliers, weights: relative }, WEIGHTED).message).toContain(
      "fusion relative",
    );
  });
});

describe("weights", () => {
  test("left out are those of a caller who leaves everything out", () => {
    const { weights, scoringVersion } = parse({ weights: {} });
    expect(weights).toEqual(DEFAULT_SCORING);
    expect(scoringVersion).toBe("a90c32b87dda");
  });

  test("are taken as given, with a version of their own", () => {
    const own: ScoringWeights = {
      ...DEFAULT_SCORING,
      semantic: 0.2,
      graph: 0.3,
      relevanceFloor: 0,
      nodeTypeBoost: { task: 2 },
      fusion: { kind: "rrf", k: 10, recencyBoost: undefined, tieBreak: "event_time" },
    };
    const { weights, scoringVersion } = parse({ weights: own });
    expect(weights).toEqual(own);
    expect(scoringVersion).not.toBe(SETTINGS.scoringVersion);
    expect(parse({ weights: SETTINGS.scoring }).scoringVersion).toBe(SETTINGS.scoringVersion);
  });

  test("of a fusion have its defaults", () => {
    const fusion = (given: Loose) => parse({ weights: { fusion: given } }).weights.fusion;
    expect(fusion({ kind: "rrf" })).toEqual({
      kind: "rrf",
      k: 60,
      recencyBoost: undefined,
      tieBreak: undefined,
    });
    expect(fusion({ kind: "relative", tieBreak: "event_time" })).toEqual({
      kind: "relative",
      semanticShare: 0.65,
      recencyBoost: undefined,
      tieBreak: "event_time",
    });
    expect(fusion({ kind: "adaptive", k: 5 })).toEqual({
      kind: "adaptive",
      semanticShare: 0.65,
      fullCoverage: 0.5,
      recencyBoost: undefined,
      tieBreak: undefined,
    });
    // What the chosen fusion does not read is dropped.
    expect(fusion({ kind: "weighted", k: 5, recencyTime: "event_time" })).toEqual({
      kind: "weighted",
      recencyTime: "event_time",
    });
  });

  test.each<{ weights: unknown; field: string }>([
    { weights: [], field: "weights" },
    { weights: "rrf", field: "weights" },
    { weights: { w_semantic: 1 }, field: "weights.w_semantic" },
    { weights: { semantic: Number.NaN }, field: "weights.semantic" },
    { weights: { paths: Number.POSITIVE_INFINITY }, field: "weights.paths" },
    { weights: { recencyLambda: Number.NaN }, field: "weights.recencyLambda" },
    { weights: { recencyLambda: -0.01 }, field: "weights.recencyLambda" },
    { weights: { semantic: 1e308, lexical: -1e308, graph: 1 }, field: "weights.semantic" },
    { weights: { temporalBoost: 1e308 }, field: "weights.temporalBoost" },
    { weights: { nodeTypeBoost: { fact: 1e308 } }, field: "weights.nodeTypeBoost.fact" },
    { weights: { temporalBoost: "0.1" }, field: "weights.temporalBoost" },
    { weights: { relevanceFloor: Number.NEGATIVE_INFINITY }, field: "weights.relevanceFloor" },
    { weights: { currentUpdateMultiplier: 0.5 }, field: "weights.currentUpdateMultiplier" },
    { weights: { currentUpdateMultiplier: 2.5 }, field: "weights.currentUpdateMultiplier" },
    { weights: { semantic: 0.31 }, field: "weights" },
    { weights: { nodeTypeBoost: { memo: 1 } }, field: "weights.nodeTypeBoost.memo" },
    { weights: { nodeTypeBoost: { fact: -1 } }, field: "weights.nodeTypeBoost.fact" },
    { weights: { nodeTypeBoost: { fact: Number.NaN } }, field: "weights.nodeTypeBoost.fact" },
    { weights: { fusion: "rrf" }, field: "weights.fusion" },
    { weights: { fusion: {} }, field: "weights.fusion.kind" },
    { weights: { fusion: { kind: "sum" } }, field: "weights.fusion.kind" },
    { weights: { fusion: { kind: "rrf", rrf_k: 1 } }, field: "weights.fusion.rrf_k" },
    { weights: { fusion: { kind: "rrf", k: 0 } }, field: "weights.fusion.k" },
    {
      weights: { fusion: { kind: "rrf", recencyBoost: 0 } },
      field: "weights.fusion.recencyBoost",
    },
    {
      weights: { fusion: { kind: "rrf", recencyBoost: 5 } },
      field: "weights.fusion.recencyBoost",
    },
    { weights: { fusion: { kind: "rrf", tieBreak: "id" } }, field: "weights.fusion.tieBreak" },
    {
      weights: { fusion: { kind: "adaptive", fullCoverage: 0 } },
      field: "weights.fusion.fullCoverage",
    },
    {
      weights: { fusion: { kind: "relative", semanticShare: 2 } },
      field: "weights.fusion.semanticShare",
    },
    {
      weights: { fusion: { kind: "weighted", recencyTime: "id" } },
      field: "weights.fusion.recencyTime",
    },
  ])("refuse $weights naming $field", ({ weights, field }) => {
    expect(refusal({ weights }).data["field"]).toBe(field);
  });
});
