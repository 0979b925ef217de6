import {
  constant,
  count,
  FormError,
  instant,
  list,
  member,
  named,
  object,
  text,
  through,
} from "../../lib/form.ts";
import type { Instant } from "../../lib/instant.ts";
import { noted, type ValueOf } from "../../lib/view.ts";

const LIMITATIONS = [
  "semantic_matching",
  "candidate_limit",
  "backend_failure",
  "score_floor",
  "result_limit",
  "token_budget",
] as const;
export type CoverageLimitation = (typeof LIMITATIONS)[number];

export const coverageForm = named(
  "AggregationCoverage",
  "Why the records may not be all of those that a count or a list needs.",
  {
    status: member(["semantic_candidates", "candidate_limited", "context_limited"]),
    exhaustive: constant(false),
    /** After expansion and filters, before selection. */
    candidateCount: count,
    selectedCount: count,
    contextCount: count,
    /** In a fixed order. */
    limitations: list(member(LIMITATIONS)),
    /** Searches that found as many as they were allowed to. */
    candidateLimitPaths: list(text),
  },
);

/** What the records of an answer cover, where it asks for a count or a complete list. */
export type Coverage = ValueOf<typeof coverageForm>;

const HISTORICAL_LIMITATIONS = [
  "current_lifecycle_state",
  "current_derived_indexes",
  "mutations_not_replayed",
] as const;

/** Members of what an answer for an earlier moment is not. */
export const historical = {
  knowledgeAt: instant,
  semantics: constant("ingestion_cutoff"),
  exactSnapshot: constant(false),
  limitations: through(
    list(member(HISTORICAL_LIMITATIONS)),
    (limitations: typeof HISTORICAL_LIMITATIONS) => limitations,
    (limitations, path) => {
      if (limitations.join() === HISTORICAL_LIMITATIONS.join()) return HISTORICAL_LIMITATIONS;
      throw new FormError(`${path}: is not ${HISTORICAL_LIMITATIONS.join(", ")}`);
    },
  ),
};

export const historicalForm = noted(object(historical), {
  id: "HistoricalCoverage",
  description: "What an answer for an earlier moment is not.",
});

/** What an answer for an earlier moment is not: states and indexes are those of now, changes are not played back. */
export type HistoricalCoverage = ValueOf<typeof historicalForm>;

/** What an answer for an earlier moment of knowledge does not cover. Pure. */
export function historicalCoverage(knowledgeAt: Instant): HistoricalCoverage {
  const limitations = HISTORICAL_LIMITATIONS;
  return { knowledgeAt, semantics: "ingestion_cutoff", exactSnapshot: false, limitations };
}
