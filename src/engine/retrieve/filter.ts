import type { RetrievalMode } from "../../domain/enums.ts";
import { epistemicExclusion } from "../../domain/epistemics.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Exclusion } from "./api.ts";

export type FilterRules = {
  readonly mode: RetrievalMode;
  /** Unverified memories below this confidence are left out, 0 to 1. */
  readonly unverifiedThreshold: number;
  /** Whether the retention of a memory is over at the time of the call; `default` mode then excludes it. */
  readonly isExpired: (node: MemoryNode) => boolean;
};

/**
 * Stage 4: unless the mode is `explicit`, excludes hypothetical, conditional, doubtful and expired memories, with the reason for
 * each. Pure.
 */
export function filterEpistemic<T extends { readonly node: MemoryNode }>(
  candidates: readonly T[],
  rules: FilterRules,
): { readonly kept: T[]; readonly excluded: Exclusion[] } {
  const kept: T[] = [];
  const excluded: Exclusion[] = [];
  for (const candidate of candidates) {
    const reason = exclusionReason(candidate.node, rules);
    if (reason === undefined) kept.push(candidate);
    else excluded.push({ nodeId: candidate.node.id, reason, compositeScore: undefined });
  }
  return { kept, excluded };
}

/** Why a memory is excluded; undefined if it is not. `explicit` mode excludes nothing. */
export function exclusionReason(node: MemoryNode, rules: FilterRules): string | undefined {
  if (rules.mode === "explicit") return undefined;
  if (rules.isExpired(node)) return "retention_filtered:expired";
  const { unverifiedThreshold } = rules;
  return epistemicExclusion(node, { unverifiedThreshold, excludesThreshold: false });
}
