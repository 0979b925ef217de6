import type { ScoringWeights } from "./scoring.ts";

/** The scoring of a caller who leaves everything out. In contrast, a configuration defaults to rank fusion. */
export const DEFAULT_SCORING: ScoringWeights = {
  semantic: 0.3,
  lexical: 0.15,
  graph: 0.2,
  recency: 0.1,
  salience: 0.1,
  confidence: 0.15,
  epistemic: 0.05,
  paths: 0,
  recencyLambda: 0.02,
  temporalBoost: 0.15,
  relevanceFloor: 0.35,
  currentUpdateMultiplier: 1.3,
  nodeTypeBoost: { fact: 1.15, preference: 1.15, decision: 1.15, instruction: 1.15, summary: 1.1 },
  fusion: { kind: "weighted", recencyTime: undefined },
};

/** The k of rank fusion if none is given. */
export const DEFAULT_RRF_K = 60;

/** Share of the cosine in relative and adaptive fusion if none is given; BM25 has the rest. */
export const DEFAULT_SEMANTIC_SHARE = 0.65;

/** The coverage from which BM25 counts in full in adaptive fusion if none is given. */
export const DEFAULT_FULL_COVERAGE = 0.5;
