import { describe, expect, test } from "bun:test";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ORIGINAL_TTL_DAYS } from "../../src/domain/fading.ts";
import { DEFAULT_SCORING } from "../../src/domain/scoring.ts";

const NOWHERE = "/nonexistent";

function settings(environment: Readonly<Record<string, string>> = {}) {
  return toEngineSettings(loadConfig({ environment, folder: NOWHERE }).config);
}

test("hands the defaults of the product to the engine", () => {
  const engine = settings();
  expect(engine.scoringVersion).toBe("69048ac346ad");
  expect(engine.ttlDefaults).toEqual({});
  expect(engine.scoring).toEqual({
    ...DEFAULT_SCORING,
    fusion: {
      kind: "adaptive",
      semanticShare: 0.65,
      fullCoverage: 0.5,
      recencyBoost: 0.25,
      tieBreak: "event_time",
    },
  });
  expect(engine.packing).toEqual({
    tokenBudget: 4096,
    overheadTokens: 100,
    minFidelity: "reference",
    contextFormat: "reader",
    contextCitations: false,
    contextGuidanceMode: "temporal",
    multipathOrdering: "balanced",
    foldRepeatedText: true,
    vectorK: 300,
    lexicalK: 300,
    graphMaxCandidates: 50,
    graphMaxHops: 3,
    aggregationKMultiplier: 3,
    aggregationKMax: 2000,
    crossScopeTopN: 5,
    sessionContextWindow: 3,
    sessionContextTopK: 20,
    sessionContextScoreDecay: 0.85,
    sessionContextRankFusionScoreDecay: 0.6,
    sessionContextPacking: undefined,
    episodeContextTopK: 0,
    episodeContextLocalK: 8,
    episodeContextScoreDecay: 0.95,
    evidenceProjectionTopK: 0,
    evidenceProjectionMaxSources: 1,
    evidenceProjectionScoreDecay: 1,
    evidenceAugmentationTopK: 0,
    evidenceAugmentationMaxSources: 1,
    evidenceAugmentationScoreDecay: 0.99,
    evidenceAugmentationAnchorPolicy: "all",
  });
  expect(engine).toMatchObject({
    queryIntentOrder: "entity_first",
    temporalLanguages: ["en"],
    receiptRetentionDays: 90,
    receiptDetail: "lean",
    unverifiedConfidenceThreshold: 0.3,
  });
  expect(engine.reranker).toBeUndefined();
  expect(engine.reformulation).toBeUndefined();
});

test("the specification's retention comes with its profile, and a map takes its place", () => {
  const original = settings({ SVC_ORGANIZER__FADING: "original" });
  expect(original.ttlDefaults).toEqual(ORIGINAL_TTL_DAYS);
  const own = { SVC_ORGANIZER__FADING: "original", SVC_ORGANIZER__DEFAULT_TTL_DAYS: '{"task":3}' };
  expect(settings(own).ttlDefaults).toEqual({ task: 3 });
});

test("keeps memories of a type without a number for ever", () => {
  const { ttlDefaults } = settings({ SVC_ORGANIZER__DEFAULT_TTL_DAYS: '{"note":null,"task":5}' });
  expect(ttlDefaults).toEqual({ task: 5 });
});

describe("the fusion", () => {
  test.each([
    {
      name: "weighted drops what rank fusion reads",
      environment: { SVC_SCORING__FUSION: "weighted" },
      fusion: { kind: "weighted", recencyTime: undefined },
      version: "a90c32b87dda",
    },
    {
      name: "weighted by event time",
      environment: { SVC_SCORING__FUSION: "weighted", SVC_SCORING__RECENCY_TIME: "event_time" },
      fusion: { kind: "weighted", recencyTime: "event_time" },
      version: "7f6305d0b035",
    },
    {
      name: "rank fusion alone",
      environment: {
        SVC_SCORING__FUSION: "rrf",
        SVC_SCORING__RRF_K: "none",
        SVC_SCORING__RRF_RECENCY_BOOST: "none",
        SVC_SCORING__RRF_TIE_BREAK: "none",
      },
      fusion: { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
      version: "f77bcdeb50a5",
    },
  ] as const)("$name", ({ environment, fusion, version }) => {
    const { scoring, scoringVersion } = settings(environment);
    expect(scoring.fusion).toEqual(fusion);
    expect(scoringVersion).toBe(version);
  });

  test("relative reads its share, the recency boost and the tie-break", () => {
    const relative = {
      SVC_SCORING__FUSION: "relative",
      SVC_SCORING__RELATIVE_SEMANTIC_SHARE: "0.5",
    };
    expect(settings(relative).scoring.fusion).toEqual({
      kind: "relative",
      semanticShare: 0.5,
      recencyBoost: 0.25,
      tieBreak: "event_time",
    });
    const other = { ...relative, SVC_SCORING__RRF_K: "7" };
    expect(settings(other).scoringVersion).toBe(settings(relative).scoringVersion);
  });

  test("adaptive reads its shares, the recency boost and the tie-break", () => {
    const adaptive = {
      SVC_SCORING__FUSION: "adaptive",
      SVC_SCORING__ADAPTIVE_SEMANTIC_SHARE: "0.5",
      SVC_SCORING__ADAPTIVE_FULL_COVERAGE: "0.25",
    };
    expect(settings(adaptive).scoring.fusion).toEqual({
      kind: "adaptive",
      semanticShare: 0.5,
      fullCoverage: 0.25,
      recencyBoost: 0.25,
      tieBreak: "event_time",
    });
  });

  test("is adaptive if the settings name none", () => {
    expect(settings({}).scoring.fusion.kind).toBe("adaptive");
    expect(settings({ SVC_SCORING__FUSION: "null" }).scoring.fusion.kind).toBe("adaptive");
    expect(settings({ SVC_SCORING__FUSION: "relative" }).scoring.fusion.kind).toBe("relative");
  });

  test("names other scoring settings by another version", () => {
    expect(settings({ SVC_SCORING__RRF_K: "61" }).scoringVersion).not.toBe("011a2a9ce8e7");
  });
});

test("the opt-in stages have settings only while they are on", () => {
  const engine = settings({
    SVC_ENABLE_RERANKER: "1",
    SVC_RERANKER_POLICY: "score_envelope",
    SVC_RERANKER_PRIOR_WEIGHT: "0.25",
    SVC_RERANKER_TIMEOUT_MS: "500",
    SVC_ENABLE_QUERY_REFORMULATION: "1",
    SVC_QUERY_REFORMULATION_COUNT: "3",
    SVC_EXTRACTION__API_KEY: "k",
    SVC_EXTRACTION__TIMEOUT: "1.5",
  });
  expect(engine.reranker).toEqual({
    model: "cross-encoder/ms-marco-MiniLM-L-6-v2",
    topK: 100,
    policy: "score_envelope",
    priorWeight: 0.25,
    timeoutMs: 500,
  });
  expect(engine.reformulation).toEqual({ count: 3, mergePolicy: "new_only", timeoutMs: 1500 });
});

test("receipts are kept for as long as is set", () => {
  const days = (text: string) =>
    settings({ SVC_RECEIPTS__RETENTION_DAYS: text }).receiptRetentionDays;
  expect([days("0"), days("30"), days("none")]).toEqual([0, 30, undefined]);
});

test.each([
  ["rrf", {}, [50, 50]],
  ["weighted", {}, [50, 50]],
  ["relative", {}, [300, 300]],
  ["adaptive", {}, [300, 300]],
  ["relative", { SVC_PACKING__VECTOR_K: "70", SVC_PACKING__LEXICAL_K: "0" }, [70, 0]],
] as const)("%s fusion with %j has searches of depth %j", (fusion, named, depth) => {
  const { vectorK, lexicalK } = settings({ SVC_SCORING__FUSION: fusion, ...named }).packing;
  expect([vectorK, lexicalK]).toEqual([...depth]);
});

test("a store does nothing beside storing unless it is told to", () => {
  expect(settings().storeSteps).toEqual({
    reinforceSimilarity: undefined,
    supersedes: false,
    pairsTurns: false,
  });
  const environment = {
    SVC_ENABLE_STORE_SUPERSEDENCE: "1",
    SVC_ENABLE_QA_PAIRING: "1",
    SVC_REINFORCE_SIMILARITY_THRESHOLD: "0.9",
  };
  expect(settings(environment).storeSteps).toEqual({
    reinforceSimilarity: 0.9,
    supersedes: true,
    pairsTurns: true,
  });
});

test("upkeep has settings only while it is on", () => {
  expect(settings().upkeep).toEqual({ cooldownSeconds: 3600, budgetMs: 200, batchSize: 50 });
  expect(settings({ SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "0" }).upkeep).toBeUndefined();
});
