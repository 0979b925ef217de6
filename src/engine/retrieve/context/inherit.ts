import type { CandidatePath } from "../../../domain/records/retrieval-record.ts";
import type { Adjustment } from "../../../domain/records/score.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";
import { adjusted } from "../score/adjust.ts";
import { byScore } from "../score/order.ts";

/** A ranking after one step of expansion. */
export type Step = {
  readonly ranking: readonly ResultCandidate[];
  /** Whether a score rose, or a candidate was added or removed; the ranking is then in the order of `byScore`. */
  readonly changed: boolean;
};

/** A memory that no search found, with a share of the score of its candidate. */
export function addedBy(
  source: ResultCandidate,
  { key, node }: KeyedNode,
  path: CandidatePath,
  step: Adjustment,
): ResultCandidate {
  return {
    key,
    node,
    paths: [path],
    pathCount: 1,
    semanticScore: undefined,
    lexicalScore: undefined,
    graphProximity: 0,
    ...adjusted(source, step),
    pathScore: 1 / 3,
    semanticRelevance: source.semanticRelevance,
    trace: undefined,
    rerankerScore: undefined,
    sessionLink: undefined,
    conflictFlag: false,
    contradictsId: undefined,
  };
}

/** A candidate with a share of another's score if that exceeds its own; likewise for relevance. */
export function raisedBy(
  source: ResultCandidate,
  candidate: ResultCandidate,
  step: Adjustment,
): ResultCandidate {
  const semanticRelevance = Math.max(candidate.semanticRelevance, source.semanticRelevance);
  const inherited = adjusted(source, step);
  return inherited.compositeScore > candidate.compositeScore
    ? { ...candidate, ...inherited, trace: undefined, rerankerScore: undefined, semanticRelevance }
    : { ...candidate, semanticRelevance };
}

/** A candidate reached by one more path. */
export function withPath(
  candidate: ResultCandidate,
  path: CandidatePath,
  counts: boolean,
): ResultCandidate {
  if (candidate.paths.includes(path)) return candidate;
  return {
    ...candidate,
    paths: [...candidate.paths, path],
    pathCount: candidate.pathCount + (counts ? 1 : 0),
  };
}

/** A ranking of these candidates, sorted by score if it may differ from the order in which they came. */
export function toStep(candidates: Iterable<ResultCandidate>, changed: boolean): Step {
  const ranking = [...candidates];
  return { ranking: changed ? ranking.sort(byScore) : ranking, changed };
}
