import type { MemoryNode } from "../../../src/domain/node.ts";
import type { CandidatePath } from "../../../src/domain/records/retrieval-record.ts";
import type { ScoreProvenance } from "../../../src/domain/records/score.ts";
import type { ScoringWeights } from "../../../src/domain/scoring.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import type { Candidate } from "../../../src/engine/retrieve/candidates.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { aNode, anEvent } from "../../contract/samples.ts";
import { nodeKey } from "../../node-keys.ts";

/** What each source says of a candidate. A signal that is given puts the candidate on that channel. */
export type Signals = {
  readonly semantic?: number | undefined;
  readonly lexical?: number | undefined;
  /** Absent: like `lexical`. */
  readonly coverage?: number;
  /** Absent: 0. */
  readonly certainty?: number;
  readonly graph?: number;
};

/** A candidate of the searches; its paths follow from its signals. */
export function aCandidate(
  key: number,
  { semantic, lexical, coverage = lexical, certainty = 0, graph = 0 }: Signals,
  given: Partial<MemoryNode> = {},
): Candidate {
  const paths: CandidatePath[] = [];
  if (graph > 0) paths.push("GRAPH");
  if (semantic !== undefined) paths.push("VECTOR");
  if (lexical !== undefined) paths.push("LEXICAL");
  const node = aNode(anEvent(), given);
  return { key: nodeKey(key), node, paths, semantic, lexical, coverage, certainty, graph };
}

/** The weights of code that sets none: the weighted sum. */
export const WEIGHTS: ScoringWeights = {
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

/** The weights of a fresh installation: rank fusion. */
export const RANK_FUSION: ScoringWeights = {
  ...WEIGHTS,
  fusion: { kind: "rrf", k: 60, recencyBoost: 0.25, tieBreak: "event_time" },
};

/** A record that replays to the score: rank fusion, assigned by a reranker. */
export function aProvenance(nodeId: Uuid, compositeScore: number): ScoreProvenance {
  return {
    formulaVersion: 2,
    baseNodeId: nodeId,
    trace: {
      semanticSimilarity: 0.5,
      lexicalRelevance: 0.5,
      graphProximity: 0,
      recencyFactor: 0,
      salience: 0,
      confidence: 0,
      epistemicWeight: 1,
      pathScore: 2 / 3,
      temporalAffinity: 0,
      nodeTypeBoost: 1,
      compositeScore: 1,
    },
    weights: {
      ...WEIGHTS,
      fusion: { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
    },
    adjustments: [
      {
        kind: "neural_rank_assignment",
        coefficient: compositeScore,
        neuralScore: undefined,
        sourceNodeId: undefined,
      },
    ],
    fusion: {
      kind: "rrf",
      semanticRank: 1,
      lexicalRank: 1,
      epistemicFactor: 1,
      nodeTypeFactor: 1,
      temporalFactor: 1,
      recencyBoostFactor: undefined,
      tieBreak: undefined,
    },
  };
}

/** A scored candidate that both searches found. */
export function aResult(
  key: number,
  compositeScore: number,
  given: Partial<MemoryNode> = {},
  more: Partial<ResultCandidate> = {},
): ResultCandidate {
  const node = aNode(anEvent(), given);
  return {
    key: nodeKey(key),
    node,
    paths: ["VECTOR", "LEXICAL"],
    pathCount: 2,
    semanticScore: 0.5,
    lexicalScore: 0.5,
    graphProximity: 0,
    compositeScore,
    pathScore: 2 / 3,
    semanticRelevance: 0.5,
    trace: undefined,
    provenance: aProvenance(node.id, compositeScore),
    rerankerScore: undefined,
    sessionLink: undefined,
    conflictFlag: false,
    contradictsId: undefined,
    ...more,
  };
}
