import { type CandidateFilter, passesFilter } from "../../../domain/candidate-filter.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { exclusionReason, type FilterRules } from "../filter.ts";

/** Whether a memory that no search found may be shown. `reason` is absent if nothing is reported. */
export type Visibility =
  | { readonly visible: true }
  | { readonly visible: false; readonly reason: string | undefined };

/** Checks a memory against every filter of a request: owner, scope and times, then types, then its epistemic state. Pure. */
export function visibility(
  node: MemoryNode,
  filter: CandidateFilter,
  rules: FilterRules,
): Visibility {
  const untyped = { ...filter, excludeNodeTypes: undefined, sourceTypes: undefined };
  if (!passesFilter(node, untyped)) return { visible: false, reason: undefined };
  const reason = typeReason(node, filter) ?? exclusionReason(node, rules);
  return reason === undefined ? { visible: true } : { visible: false, reason };
}

function typeReason(node: MemoryNode, filter: CandidateFilter): string | undefined {
  if (filter.excludeNodeTypes?.includes(node.nodeType)) {
    return `node_type_filtered:${node.nodeType}`;
  }
  const isAllowed = filter.sourceTypes?.includes(node.sourceType) ?? true;
  return isAllowed ? undefined : `source_type_filtered:${node.sourceType}`;
}
