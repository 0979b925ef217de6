import type { Uuid } from "../../../lib/uuid.ts";
import type { NodeKey } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";

/** The candidates whose claims are contested. */
export function contested(ranking: readonly ResultCandidate[]): readonly ResultCandidate[] {
  return ranking.filter(({ node }) => node.lifecycleState === "contested");
}

/**
 * The other side of each contested candidate, by id: the one that it contradicts, else one that contradicts it. A candidate whose
 * other side is not among these has none here.
 */
export function otherSides(
  candidates: readonly Pick<ResultCandidate, "node" | "contradictsId">[],
): ReadonlyMap<Uuid, Uuid> {
  const disputed = candidates.filter(({ contradictsId }) => contradictsId !== undefined);
  if (disputed.length === 0) return new Map();
  const present = new Set(candidates.map(({ node }) => node.id));
  const pairs = disputed.flatMap(({ node, contradictsId }) =>
    contradictsId !== undefined && present.has(contradictsId)
      ? [[node.id, contradictsId] as const]
      : [],
  );
  const contradicted = pairs.map(([id, other]) => [other, id] as const).reverse();
  return new Map([...contradicted, ...pairs]);
}

/** A candidate and those without which it would show one side of a dispute only, itself first. */
export function withOtherSides(id: Uuid, sides: ReadonlyMap<Uuid, Uuid>): readonly Uuid[] {
  const group = new Set<Uuid>();
  for (let next: Uuid | undefined = id; next !== undefined && !group.has(next); ) {
    group.add(next);
    next = sides.get(next);
  }
  return [...group];
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
