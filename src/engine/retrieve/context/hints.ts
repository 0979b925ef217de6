import { type CandidateFilter, passesFilter } from "../../../domain/candidate-filter.ts";
import { SCOPES } from "../../../domain/enums.ts";
import { reasonCode } from "../../../domain/errors.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { ResultCandidate } from "../api.ts";
import { exclusionReason, type FilterRules } from "../filter.ts";
import type { RetrievalRequest } from "../request.ts";
import { reachesFloor } from "../select.ts";

/**
 * Searches by vector and by words and returns its own pool of hits, scored, best first.
 * @param filter that of the request, with the scopes that it did not ask for
 * @param k candidates of each search
 * @param keep what may be scored: a factor is relative to its pool, so the rest must not be part of it
 */
export type HintSearch = (
  filter: CandidateFilter,
  k: number,
  keep: (node: MemoryNode) => boolean,
) => Promise<readonly ResultCandidate[]>;

export type HintRules = {
  /** Hints wanted; 0: none. */
  readonly topN: number;
  readonly filter: FilterRules;
  /** Whether the floor of the results was not applied. */
  readonly floorSkipped: boolean;
};

/** The scopes of a filter's owner that it does not ask for; none when it asks for all. */
function otherScopes({ scopes }: CandidateFilter): CandidateFilter["scopes"] {
  return scopes && SCOPES.filter((scope) => !scopes.includes(scope));
}

/**
 * The best memories of the scopes that a request did not ask for, best first; none if it names no scope or wants no hints. They
 * are listed beside the results and are never part of them. A failed search gives none, with a warning.
 * @throws the reason of `request.signal` once it is aborted
 */
export async function crossScopeHints(
  warn: (message: string) => void,
  request: RetrievalRequest,
  rules: HintRules,
  find: HintSearch,
): Promise<readonly ResultCandidate[]> {
  const scopes = otherScopes(request.filter) ?? [];
  if (!request.includeCrossScope || rules.topN === 0 || scopes.length === 0) return [];
  const filter = { ...request.filter, scopes };
  const keep = (node: MemoryNode): boolean =>
    passesFilter(node, filter) && exclusionReason(node, rules.filter) === undefined;
  try {
    const found = await find(filter, 2 * rules.topN, keep);
    return aboveFloor(
      found.filter(({ node }) => keep(node)).slice(0, rules.topN),
      request,
      rules.floorSkipped,
    );
  } catch (error) {
    request.signal?.throwIfAborted();
    warn(`retrieve: hints from other scopes were skipped (${reasonCode(error)})`);
    return [];
  }
}

function aboveFloor(
  hints: readonly ResultCandidate[],
  { minScore, weights }: RetrievalRequest,
  floorSkipped: boolean,
): readonly ResultCandidate[] {
  if (floorSkipped && hints.every(({ semanticRelevance }) => semanticRelevance === 0)) return hints;
  return hints.filter((hint) => reachesFloor(hint, minScore, weights.fusion.kind));
}
