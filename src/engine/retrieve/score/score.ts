import { type ErrorData, invalid, SvcError } from "../../../domain/errors.ts";
import { requireScoringWeights } from "../../../domain/scoring.ts";
import type { ResultCandidate } from "../api.ts";
import type { Candidate } from "../merge.ts";
import { adjusted, type Scored } from "./adjust.ts";
import { currentUpdates } from "./current-update.ts";
import { fusedFormula } from "./fused.ts";
import { byScoreThenPath } from "./order.ts";
import { type Entry, type ScoreContext, toPool } from "./pool.ts";
import { weightedFormula } from "./weighted.ts";

/**
 * Stage 5: a score for every candidate by the configured fusion, with the record from which it can be recomputed. Best first; the
 * order does not depend on that of the input. Pure.
 * @throws SvcError invalid_argument for weights out of range; internal for a signal that is not a finite number
 */
export function score(candidates: readonly Candidate[], context: ScoreContext): ResultCandidate[] {
  requireScoringWeights(context.weights);
  requireEpistemicWeights(context.epistemicWeights);
  candidates.forEach(requireSignals);
  const pool = toPool(candidates, context);
  const { fusion } = context.weights;
  const formula = fusion.kind === "weighted" ? weightedFormula(pool) : fusedFormula(pool, fusion);
  const updateOf = currentUpdates(pool);
  return pool.entries
    .map((entry, index) => {
      const base = formula(entry, index);
      const update = updateOf(entry, base);
      const scored: Scored = {
        compositeScore: base.trace.compositeScore,
        provenance: { ...base, baseNodeId: entry.candidate.node.id, adjustments: [] },
      };
      return toResult(entry, update === undefined ? scored : adjusted(scored, update));
    })
    .sort(byScoreThenPath);
}

function toResult({ candidate, semantic, signals }: Entry, scored: Scored): ResultCandidate {
  return {
    key: candidate.key,
    node: candidate.node,
    paths: candidate.paths,
    pathCount: candidate.paths.length,
    semanticScore: semantic,
    lexicalScore: candidate.lexical,
    graphProximity: candidate.graph,
    ...scored,
    pathScore: signals.pathScore,
    semanticRelevance: signals.semanticSimilarity,
    trace: scored.provenance.trace,
    rerankerScore: undefined,
    sessionLink: undefined,
    conflictFlag: false,
    contradictsId: undefined,
  };
}

/** Signals come from this program, so a missing value is its own fault. */
function requireSignals({ node, semantic, lexical, graph }: Candidate): void {
  for (const [signal, value] of Object.entries({ semantic, lexical, graph })) {
    if (value === undefined || Number.isFinite(value)) continue;
    const data: ErrorData = { node_id: node.id, signal };
    throw new SvcError("internal", `the ${signal} signal of ${node.id} is ${value}`, data);
  }
}

function requireEpistemicWeights(weights: ScoreContext["epistemicWeights"]): void {
  for (const [type, weight] of Object.entries(weights)) {
    if (weight >= 0 && Number.isFinite(weight)) continue;
    throw invalid(`epistemicWeights.${type}`, `${weight} is not a number of at least 0`);
  }
}
