import { epistemicWeight } from "../../domain/epistemics.ts";
import { statedTime } from "../../domain/node.ts";
import type { ResultCandidate, ScoreTrace } from "../results.ts";
import type { EngineSettings } from "../settings.ts";
import type { Candidate } from "./merge.ts";

/** Backends that a memory can be found by; the path score is the share that found it. */
const BACKEND_COUNT = 3;
/** Width of one tie-break step; far below any difference that ranks can make. */
const TIE_STEP = 1e-11;

export type ScoreRules = Pick<EngineSettings, "scoring" | "epistemicWeights">;

/**
 * Stage 5: reciprocal rank fusion of the two searches, after Cormack, Clarke and Büttcher (SIGIR 2009), rescaled so that
 * the first of both scores 1, times how well the memory is known and what type it is, both relative to the best of the
 * pool. Equal scores are ordered newest first where so configured. Best first. Pure.
 */
export function score(candidates: readonly Candidate[], rules: ScoreRules): ResultCandidate[] {
  const found = candidates.filter(({ paths }) => paths.length > 0);
  const semanticRanks = competitionRanks(found, ({ semantic }) => semantic);
  const lexicalRanks = competitionRanks(found, ({ lexical }) => lexical);
  const epistemic = relative(found, ({ node }) => epistemicWeight(node, rules.epistemicWeights));
  const typed = relative(found, ({ node }) => rules.scoring.nodeTypeBoost[node.nodeType] ?? 1);
  const places = newestFirst(found);
  const k = rules.scoring.rrfK;
  const part = (rank: number | undefined) => (rank === undefined ? 0 : 1 / (k + rank));
  return found
    .map((candidate) => {
      const ranks = part(semanticRanks.get(candidate.key)) + part(lexicalRanks.get(candidate.key));
      const fused = (ranks * (k + 1)) / 2;
      const rounded = round10(fused * epistemic(candidate) * typed(candidate));
      const tie = rules.scoring.rrfTieBreak === "event_time" && rounded > 0;
      const place = places.get(candidate.key) ?? 0;
      const composite = tie ? rounded - place * TIE_STEP : rounded;
      return toResult(candidate, composite, rules);
    })
    .sort(byScoreThenPath);
}

/** Composite descending, then paths descending, then id. */
function byScoreThenPath(a: ResultCandidate, b: ResultCandidate): number {
  return b.compositeScore - a.compositeScore || b.pathScore - a.pathScore || compareIds(a, b);
}

/** By id, ascending: the last resort of every order. */
export function compareIds(a: ResultCandidate, b: ResultCandidate): number {
  return a.node.id < b.node.id ? -1 : a.node.id > b.node.id ? 1 : 0;
}

/** Ranks by signal, best first; equal signals share the better rank: 1, 2, 2, 4. Without a signal there is no rank. */
export function competitionRanks<T extends { readonly key: number }>(
  items: readonly T[],
  signal: (item: T) => number | undefined,
): ReadonlyMap<number, number> {
  const sorted = items
    .filter((item) => signal(item) !== undefined)
    .sort((a, b) => (signal(b) ?? 0) - (signal(a) ?? 0));
  const ranks = new Map<number, number>();
  let rank = 0;
  let previous: number | undefined;
  sorted.forEach((item, index) => {
    const value = signal(item);
    if (value !== previous) rank = index + 1;
    previous = value;
    ranks.set(item.key, rank);
  });
  return ranks;
}

/** A factor as the share of the pool's largest value, 0 to 1. */
function relative(
  pool: readonly Candidate[],
  value: (candidate: Candidate) => number,
): (candidate: Candidate) => number {
  const largest = pool.reduce((max, candidate) => Math.max(max, value(candidate)), 0);
  return (candidate) => (largest === 0 ? 0 : Math.min(1, value(candidate) / largest));
}

/** Each candidate's place by stated time as a share of the pool: newest 0, below 1. */
function newestFirst(pool: readonly Candidate[]): ReadonlyMap<number, number> {
  const sorted = [...pool].sort((a, b) => (statedTime(a.node) < statedTime(b.node) ? 1 : -1));
  const places = new Map<number, number>();
  let place = 0;
  let previous: string | undefined;
  sorted.forEach((candidate, index) => {
    const time = statedTime(candidate.node);
    if (time !== previous) place = index;
    previous = time;
    places.set(candidate.key, place / pool.length);
  });
  return places;
}

function toResult(candidate: Candidate, composite: number, rules: ScoreRules): ResultCandidate {
  const pathScore = Math.min(1, candidate.paths.length / BACKEND_COUNT);
  const trace: ScoreTrace = {
    semanticSimilarity: candidate.semantic ?? 0,
    lexicalRelevance: candidate.lexical ?? 0,
    graphProximity: 0,
    recencyFactor: 0,
    salience: 0,
    confidence: 0,
    epistemicWeight: epistemicWeight(candidate.node, rules.epistemicWeights),
    pathScore,
    temporalAffinity: 0,
    nodeTypeBoost: rules.scoring.nodeTypeBoost[candidate.node.nodeType] ?? 1,
    compositeScore: composite,
  };
  return {
    key: candidate.key,
    node: candidate.node,
    compositeScore: composite,
    pathScore,
    paths: candidate.paths,
    semanticRelevance: candidate.semantic ?? 0,
    trace,
  };
}

function round10(value: number): number {
  return Math.round(value * 1e10) / 1e10;
}
