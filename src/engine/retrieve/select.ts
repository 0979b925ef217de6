import type { Exclusion, ResultCandidate } from "../results.ts";

export type SelectionRules = {
  /** Inclusive floor of the semantic relevance; undefined and 0 drop nothing. */
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  /** The vector search failed, so that no relevance can be known. */
  readonly vectorFailed: boolean;
};

export type Selection = {
  readonly results: readonly ResultCandidate[];
  readonly excluded: readonly Exclusion[];
  /** The floor was not applied, because nothing has a relevance to compare. */
  readonly minScoreSkipped: boolean;
};

/** Walks the ranking and keeps what reaches the floor, up to the limit; the first reason wins. Pure. */
export function select(ranking: readonly ResultCandidate[], rules: SelectionRules): Selection {
  const floor = rules.minScore ?? 0;
  const minScoreSkipped =
    floor > 0 &&
    rules.vectorFailed &&
    ranking.every(({ semanticRelevance }) => semanticRelevance === 0);
  const results: ResultCandidate[] = [];
  const excluded: Exclusion[] = [];
  for (const candidate of ranking) {
    const reason =
      !minScoreSkipped && candidate.semanticRelevance < floor
        ? "below_threshold"
        : results.length >= (rules.limit ?? Number.POSITIVE_INFINITY)
          ? "result_limit"
          : undefined;
    if (reason === undefined) results.push(candidate);
    else {
      excluded.push({
        nodeId: candidate.node.id,
        reason,
        compositeScore: candidate.compositeScore,
      });
    }
  }
  return { results, excluded, minScoreSkipped };
}
