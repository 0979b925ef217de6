import type { RetrievalMode } from "../../domain/enums.ts";
import { conditionState } from "../../domain/epistemics.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Exclusion } from "../results.ts";

export type FilterRules = {
  readonly mode: RetrievalMode;
  /** Unverified memories below this confidence are left out, 0 to 1. */
  readonly unverifiedThreshold: number;
};

/** Stage 4: leaves out what is not known to be so, with the reason for each. `explicit` mode keeps everything. Pure. */
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

/** Why a memory is left out; undefined when it is not. */
export function exclusionReason(node: MemoryNode, rules: FilterRules): string | undefined {
  if (rules.mode === "explicit") return undefined;
  switch (node.epistemicType) {
    case "conditional": {
      const state = conditionState(node);
      return state === "true" ? undefined : `condition_filtered:${state}`;
    }
    case "hypothetical":
    case "deprecated":
      return `epistemic_filtered:${node.epistemicType}`;
    case "unverified":
      return node.confidence < rules.unverifiedThreshold
        ? `unverified_below_threshold:${node.confidence.toFixed(2)}<=${rules.unverifiedThreshold.toFixed(2)}`
        : undefined;
    default:
      return undefined;
  }
}
