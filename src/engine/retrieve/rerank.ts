import { SvcError } from "../../domain/errors.ts";
import type { Reranker } from "../../ports/reranker.ts";
import type { RerankerSettings } from "../settings.ts";
import type { ResultCandidate } from "./api.ts";
import { hasOwnClaim } from "./pack/tiers.ts";
import { adjusted, adjustment } from "./score/adjust.ts";
import { byScore } from "./score/order.ts";
import { withinLimit } from "./within-limit.ts";

/** The outcome of an optional stage that asks a model. */
export type ModelOutcome = "applied" | "timeout" | "failed";

export type Reranking = {
  readonly ranking: readonly ResultCandidate[];
  readonly outcome: ModelOutcome;
  /** Whether the first candidates have their own order, by score and id alone. */
  readonly rerankedPrefix: boolean;
};

export type RerankDeps = {
  readonly reranker: Reranker;
  readonly settings: RerankerSettings;
  readonly warn: (message: string) => void;
};

/** The settings that the merge needs. */
export type RerankRules = Pick<RerankerSettings, "policy" | "priorWeight">;

/**
 * Lets a model read the best candidates together with the question and ranks them again; the others keep their scores and places.
 * A model that fails, returns anything but numbers from 0 to 1, or exceeds the time limit changes nothing; `outcome` says which
 * it was.
 * @throws the signal's reason when the caller aborts
 */
export async function rerank(
  { reranker, settings, warn }: RerankDeps,
  query: string,
  ranking: readonly ResultCandidate[],
  signal?: AbortSignal,
): Promise<Reranking> {
  const prefix = ranking.slice(0, settings.topK);
  if (prefix.length === 0) return { ranking, outcome: "applied", rerankedPrefix: false };
  const texts = prefix.map(({ node }) => node.content);
  const answer = await withinLimit(settings.timeoutMs, signal, async (limited) =>
    parseScores(await reranker.score(query, texts, limited), texts.length),
  );
  if (answer.outcome !== "applied") {
    warn(`the reranker changed nothing (${answer.outcome}: ${answer.reason})`);
    return { ranking, outcome: answer.outcome, rerankedPrefix: false };
  }
  return {
    ranking: mergeNeuralScores(ranking, answer.value, settings),
    outcome: "applied",
    rerankedPrefix: true,
  };
}

function parseScores(scores: readonly number[], count: number): readonly number[] {
  const isScore = (score: number): boolean => score >= 0 && score <= 1;
  if (scores.length === count && scores.every(isScore)) return scores;
  throw new SvcError("model_failed", "the reranker gave no number from 0 to 1 for each text");
}

/**
 * Joins a model's scores with a ranking: `scores` are those of its first candidates, 0 to 1, in its order. Pure.
 *
 * `legacy` gives them the mean of both scores. The envelopes reassign the previous scores of these candidates, best first, so
 * that the model decides the order and no score leaves the range that selection knows. `anchored_score_envelope` keeps the best
 * candidate that several searches found in front.
 */
export function mergeNeuralScores(
  ranking: readonly ResultCandidate[],
  scores: readonly number[],
  { policy, priorWeight }: RerankRules,
): readonly ResultCandidate[] {
  const prefix = ranking.slice(0, scores.length);
  const blended = prefix
    .map((candidate, at) => blend(candidate, scores[at] ?? 0, priorWeight))
    .sort(byScore);
  const tail = ranking.slice(scores.length);
  if (policy === "legacy") return [...blended, ...tail];
  const ordered = policy === "score_envelope" ? blended : anchorFirst(blended, ranking);
  const envelope = prefix.map(({ compositeScore }) => compositeScore).sort((a, b) => b - a);
  // Sorted again: among equal scores the id decides, as it will when the order is recomputed from the record.
  const assigned = ordered.map((candidate, at) => assign(candidate, envelope[at])).sort(byScore);
  return [...assigned, ...tail];
}

function blend(candidate: ResultCandidate, neuralScore: number, weight: number): ResultCandidate {
  const step = adjustment("neural_blend", weight, { neuralScore });
  return { ...candidate, ...adjusted(candidate, step), rerankerScore: neuralScore };
}

function assign(candidate: ResultCandidate, score = 0): ResultCandidate {
  return { ...candidate, ...adjusted(candidate, adjustment("neural_rank_assignment", score)) };
}

/** Moves the previously best ordinary candidate with two paths to the front, if it is among those that were reranked. */
function anchorFirst(
  prefix: readonly ResultCandidate[],
  former: readonly ResultCandidate[],
): readonly ResultCandidate[] {
  const anchor = former.find((candidate) => candidate.pathCount >= 2 && !hasOwnClaim(candidate));
  const isAnchor = ({ key }: ResultCandidate): boolean => key === anchor?.key;
  return [...prefix.filter(isAnchor), ...prefix.filter((candidate) => !isAnchor(candidate))];
}
