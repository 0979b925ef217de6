import type { Coverage, CoverageLimitation } from "../../domain/records/coverage.ts";
import type { Exclusion, MemoryBundle } from "./api.ts";

/** What happened between the candidates and the context. */
export type CoverageFacts = {
  /** After expansion and filters, before selection. */
  readonly candidateCount: number;
  readonly selectedCount: number;
  /** What selection dropped, with reasons; other reasons are ignored. */
  readonly excluded: readonly Pick<Exclusion, "reason">[];
  readonly backendFailures: Readonly<Record<string, string>>;
  /** See `pathsAtLimit`. */
  readonly candidateLimitPaths: readonly string[];
  readonly bundle: Pick<MemoryBundle, "includedCount" | "excludedIds" | "blankIds" | "folded">;
};

/** How complete the answer to a question for a count or a complete list can be. Pure. */
export function aggregationCoverage(facts: CoverageFacts): Coverage {
  const { bundle, candidateLimitPaths } = facts;
  const dropped = (reason: string) => facts.excluded.some((one) => one.reason === reason);
  const conditions: readonly (readonly [CoverageLimitation, boolean])[] = [
    ["semantic_matching", true],
    ["candidate_limit", candidateLimitPaths.length > 0],
    ["backend_failure", Object.keys(facts.backendFailures).length > 0],
    ["score_floor", dropped("below_threshold")],
    ["result_limit", dropped("result_limit") || dropped("one_sided")],
    ["token_budget", bundle.excludedIds.length > bundle.blankIds.length + bundle.folded.size],
  ];
  const limitations = conditions.filter(([, holds]) => holds).map(([name]) => name);
  return {
    status: statusOf(limitations),
    exhaustive: false,
    candidateCount: facts.candidateCount,
    selectedCount: facts.selectedCount,
    contextCount: bundle.includedCount,
    limitations,
    candidateLimitPaths,
  };
}

function statusOf(limitations: readonly CoverageLimitation[]): Coverage["status"] {
  if (limitations.includes("token_budget")) return "context_limited";
  return limitations.length > 1 ? "candidate_limited" : "semantic_candidates";
}

/** The searches that reached their limit of candidates, in the order of the limits; disabled ones are left out. Pure. */
export function pathsAtLimit(
  found: Readonly<Record<string, number>>,
  limits: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(limits)
    .filter(([path, limit]) => limit > 0 && (found[path] ?? 0) >= limit)
    .map(([path]) => path);
}
