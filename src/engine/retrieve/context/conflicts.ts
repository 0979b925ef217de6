import type { Uuid } from "../../../lib/uuid.ts";
import type { NodeKey } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";

/** The candidates whose claims are contested. */
export function contested(ranking: readonly ResultCandidate[]): readonly ResultCandidate[] {
  return ranking.filter(({ node }) => node.lifecycleState === "contested");
}

/**
 * Flags the contested candidates that a recorded contradiction concerns, and names the other side. The other side is not added.
 * Pure.
 * @param others the other side by candidate key
 */
export function flagConflicts(
  ranking: readonly ResultCandidate[],
  others: ReadonlyMap<NodeKey, Uuid>,
): readonly ResultCandidate[] {
  if (others.size === 0) return ranking;
  return ranking.map((candidate) => {
    const contradictsId = others.get(candidate.key);
    return contradictsId === undefined
      ? candidate
      : { ...candidate, conflictFlag: true, contradictsId };
  });
}
