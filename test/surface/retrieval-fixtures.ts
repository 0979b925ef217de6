import type { ScoreProvenance, ScoreTrace } from "../../src/domain/records/score.ts";
import { DEFAULT_SCORING } from "../../src/domain/scoring.ts";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
  RetrievalMetadata,
  RetrievalResponse,
} from "../../src/engine/retrieve/api.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { nodeKey } from "../node-keys.ts";
import { BARE_NODE, NODE_ID } from "./fixtures.ts";

export const REQUEST_ID = asUuid("01900000-0000-7000-8000-000000000003");
export const CITATION_ID = asUuid("01900000-0000-7000-8000-000000000004");
export const OTHER_ID = asUuid("01900000-0000-7000-8000-000000000005");
const NOW = asInstant("2026-03-18T12:00:00.000000Z");

export const TRACE: ScoreTrace = {
  semanticSimilarity: 0.8,
  lexicalRelevance: 1,
  graphProximity: 0.7,
  recencyFactor: 0,
  salience: 0,
  confidence: 0,
  epistemicWeight: 0.9,
  pathScore: 1 / 3,
  temporalAffinity: 0,
  nodeTypeBoost: 1,
  compositeScore: 0.8695652173925,
};

/** Rank fusion with everything that it may record. */
export const RANK_FUSED: ScoreProvenance = {
  formulaVersion: 2,
  baseNodeId: NODE_ID,
  trace: TRACE,
  weights: {
    ...DEFAULT_SCORING,
    fusion: { kind: "rrf", k: 60, recencyBoost: 0.25, tieBreak: "event_time" },
  },
  adjustments: [
    { kind: "session_decay", coefficient: 0.6, neuralScore: undefined, sourceNodeId: OTHER_ID },
  ],
  fusion: {
    kind: "rrf",
    semanticRank: 1,
    lexicalRank: undefined,
    epistemicFactor: 1,
    nodeTypeFactor: 0.5,
    temporalFactor: 1,
    recencyBoostFactor: 0.8,
    tieBreak: 5e-12,
  },
};

export const RELATIVE_FUSED: ScoreProvenance = {
  ...RANK_FUSED,
  formulaVersion: 3,
  weights: {
    ...DEFAULT_SCORING,
    fusion: { kind: "relative", semanticShare: 0.6, recencyBoost: undefined, tieBreak: undefined },
  },
  adjustments: [],
  fusion: {
    kind: "relative",
    semantic: 1,
    lexical: undefined,
    epistemicFactor: 1,
    nodeTypeFactor: 1,
    temporalFactor: 1,
    recencyBoostFactor: undefined,
    tieBreak: undefined,
  },
};

export const WEIGHTED: ScoreProvenance = {
  formulaVersion: 1,
  baseNodeId: NODE_ID,
  trace: TRACE,
  weights: { ...DEFAULT_SCORING, fusion: { kind: "weighted", recencyTime: "event_time" } },
  adjustments: [
    { kind: "neural_blend", coefficient: 0.3, neuralScore: 0.5, sourceNodeId: undefined },
  ],
  fusion: undefined,
};

/** A result of which every optional member is absent. */
export const CANDIDATE: ResultCandidate = {
  key: nodeKey(7),
  node: BARE_NODE,
  paths: ["VECTOR", "SESSION_CONTEXT"],
  pathCount: 1,
  semanticScore: 0.123456,
  lexicalScore: undefined,
  graphProximity: 0,
  compositeScore: 0.8695652173925,
  pathScore: 1 / 3,
  semanticRelevance: 0.123456,
  trace: undefined,
  provenance: RANK_FUSED,
  rerankerScore: undefined,
  sessionLink: undefined,
  conflictFlag: false,
  contradictsId: undefined,
};

export const PACKED: PackedRecord = {
  candidate: CANDIDATE,
  representation: "full",
  tokenCost: 9,
  renderedText: '- "Ada prefers green tea."',
  text: "Ada prefers green tea.",
  reference: undefined,
};

export const BUNDLE: MemoryBundle = {
  sections: new Map([["stable_facts", [PACKED]]]),
  includedCount: 1,
  excludedIds: [OTHER_ID],
  blankIds: [],
  oneSidedIds: [],
  weakIds: [],
  folded: new Map(),
  tokensUsed: 60,
  tokenBudget: 4096,
  budgetRemaining: 3936,
  minFidelity: "reference",
  renderedContext: 'header\n[stable_facts]\n- "Ada prefers green tea."',
  tokenizer: "cl100k_base",
  contextFormat: "reader",
  header: "header",
  coverageNotice: undefined,
  contextGuidance: undefined,
  contextReferences: new Map(),
};

export const METADATA: RetrievalMetadata = {
  requestId: REQUEST_ID,
  referenceTime: NOW,
  intent: "semantic",
  candidatesGenerated: { GRAPH: 0, VECTOR: 1, LEXICAL: 0, PINNED: 0 },
  candidatesFiltered: 2,
  candidatesIncluded: 1,
  scoringConfigVersion: "011a2a9ce8e7",
  timingMs: 3.1357,
  stages: [{ stage: "analyze", timingMs: 0.25, input: 1, output: 1 }],
  backendsUsed: ["GRAPH", "VECTOR", "LEXICAL", "PINNED"],
  embeddingMismatch: false,
  backendFailures: {},
  minScore: undefined,
  minScoreSkipped: false,
  resultLimit: undefined,
  maxPerSource: undefined,
  maxPerEvidence: undefined,
  rankingMultipliers: undefined,
  receiptPersisted: true,
  aggregationCoverage: undefined,
  historicalCoverage: undefined,
  reranker: undefined,
  reformulation: undefined,
};

/** An answer with one result and everything that no surface may show. */
export const RESPONSE: RetrievalResponse = {
  results: [CANDIDATE],
  bundle: BUNDLE,
  valueBindings: [],
  metadata: METADATA,
  filterMetadata: {
    scopeFilter: ["personal"],
    timeFrom: undefined,
    timeTo: undefined,
    crossScopeEnabled: true,
    excludeNodeTypes: undefined,
    sourceTypes: undefined,
    retrievalMode: "default",
  },
  excluded: [{ nodeId: OTHER_ID, reason: "result_limit", compositeScore: 0.1 }],
  crossScopeHints: [{ ...CANDIDATE, node: { ...BARE_NODE, id: OTHER_ID } }],
  scoreTraces: [TRACE],
};
