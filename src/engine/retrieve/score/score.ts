import { type ErrorData, invalid, SvcError } from "../../../domain/errors.ts";
import { decayed } from "../../../domain/fading.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Adjustment, RankingMultipliers } from "../../../domain/records/score.ts";
import {
  applyAdjustment,
  formulaVersion,
  fusedScore,
  relevanceLimit,
  TIE_BREAK_WIDTH,
  weightedScore,
} from "../../../domain/score-replay.ts";
import {
  type ChannelFusion,
  FACTORS,
  type FactorName,
  type FusionRecord,
  type PoolFactors,
  requireScoringWeights,
  type ScoringWeights,
} from "../../../domain/scoring.ts";
import type { Instant } from "../../../lib/instant.ts";
import { daysFrom } from "../analyze.ts";
import type { ResultCandidate } from "../api.ts";
import type { Candidate } from "../candidates.ts";
import {
  type Base,
  competitionRanks,
  type Entry,
  type Formula,
  newestFirstPlaces,
  newestOf,
  type Pool,
  recency,
  rescaleToUnit,
  type ScoreContext,
  shareOfLargest,
  toPool,
  UPDATE_GAIN,
} from "./pool.ts";

/**
 * Stage 5: scores candidates and records how; best first.
 * @throws SvcError invalid_argument for weights out of range; internal for a signal that is not finite
 */
export function score(candidates: readonly Candidate[], context: ScoreContext): ResultCandidate[] {
  requireScoringWeights(context.weights);
  requireEpistemicWeights(context.epistemicWeights);
  candidates.forEach(requireSignals);
  const pool = toPool(candidates, context);
  const { fusion } = context.weights;
  const formula = fusion.kind === "weighted" ? weightedFormula(pool) : fusedFormula(pool, fusion);
  const updateOf = currentUpdates(pool);
  return pool.entries
    .map((entry, index) => {
      const base = formula(entry, index);
      const update = updateOf(entry, base);
      const { formulaVersion, trace, weights, fusion } = base;
      const baseNodeId = entry.candidate.node.id;
      const scored: Scored = {
        compositeScore: trace.compositeScore,
        provenance: { formulaVersion, trace, weights, fusion, baseNodeId, adjustments: [] },
      };
      return toResult(entry, update === undefined ? scored : adjusted(scored, update));
    })
    .sort(byScoreThenPath);
}

function toResult({ candidate, semantic, signals }: Entry, scored: Scored): ResultCandidate {
  return {
    key: candidate.key,
    node: candidate.node,
    paths: candidate.paths,
    pathCount: candidate.paths.length,
    semanticScore: semantic,
    lexicalScore: candidate.lexical,
    graphProximity: candidate.graph,
    compositeScore: scored.compositeScore,
    provenance: scored.provenance,
    pathScore: signals.pathScore,
    semanticRelevance: signals.semanticSimilarity,
    trace: scored.provenance.trace,
    rerankerScore: undefined,
    sessionLink: undefined,
    conflictFlag: false,
    contradictsId: undefined,
  };
}

function requireSignals({ node, semantic, lexical, graph }: Candidate): void {
  if (Number.isFinite((semantic ?? 0) + (lexical ?? 0) + graph)) return;
  for (const [signal, value] of Object.entries({ semantic, lexical, graph })) {
    if (value === undefined || Number.isFinite(value)) continue;
    const data: ErrorData = { node_id: node.id, signal };
    throw new SvcError("internal", `the ${signal} signal of ${node.id} is ${value}`, data);
  }
}

function requireEpistemicWeights(weights: ScoreContext["epistemicWeights"]): void {
  for (const [type, weight] of Object.entries(weights)) {
    if (weight >= 0 && Number.isFinite(weight)) continue;
    throw invalid(`epistemicWeights.${type}`, `${weight} is not a number of at least 0`);
  }
}

/** The weighted sum of all signals. */
function weightedFormula(pool: Pool): Formula {
  const { context, entries, isCurrentState, isUpdate } = pool;
  const weights = questionWeights(pool);
  const newest = isCurrentState ? newestOf(entries.map(({ moment }) => moment)) : undefined;
  const rule = { anchor: newest ?? context.referenceTime, lambda: weights.recencyLambda };
  return (entry) => {
    const { node } = entry.candidate;
    const signals = {
      ...entry.signals,
      recencyFactor: isCurrentState
        ? recency(entry.moment, rule, isUpdate(entry) ? UPDATE_GAIN : 1)
        : recency(changeTime(node, entry, weights), rule, 1),
      ...decayed(node, context.referenceTime),
    };
    return {
      formulaVersion: formulaVersion("weighted"),
      trace: { ...signals, compositeScore: weightedScore(signals, weights) },
      weights,
      fusion: undefined,
    };
  };
}

function questionWeights({ context, entries, question, isCurrentState, isUpdate }: Pool) {
  const favoursRecent = question.episodic ? "recent" : undefined;
  return shiftWeights(context.weights, {
    ignoresWords: question.answerClass && !entries.some(isUpdate),
    favours: isCurrentState ? "newest" : favoursRecent,
    multipliers: context.multipliers,
  });
}

function changeTime(node: MemoryNode, { stated }: Entry, { fusion }: ScoringWeights): Instant {
  const byEvent = fusion.kind === "weighted" && fusion.recencyTime === "event_time";
  return byEvent ? stated : node.updatedAt;
}

type WeightShifts = {
  /** Words do not distinguish the candidates. */
  readonly ignoresWords: boolean;
  readonly favours: "newest" | "recent" | undefined;
  readonly multipliers: RankingMultipliers | undefined;
};

/** The least weight of recency, and decay per day. */
type Least = { readonly recency: number; readonly lambda: number | undefined };

const NEWEST: Least = { recency: 0.25, lambda: 0.05 };
const RECENT: Least = { recency: 0.2, lambda: undefined };

function shiftWeights(weights: ScoringWeights, shifts: WeightShifts): ScoringWeights {
  let shifted = weights;
  if (shifts.ignoresWords) {
    shifted = { ...shifted, semantic: shifted.semantic + shifted.lexical, lexical: 0 };
  }
  if (shifts.favours === "newest") shifted = withRecency(shifted, NEWEST);
  if (shifts.favours === "recent") shifted = withRecency(shifted, RECENT);
  return shifts.multipliers === undefined ? shifted : multiplied(shifted, shifts.multipliers);
}

/** Takes the weight from cosine and words, in proportion. */
function withRecency(weights: ScoringWeights, least: Least): ScoringWeights {
  const held = weights.semantic + weights.lexical;
  if (weights.recency >= least.recency || held <= 0) return weights;
  const taken = Math.min(least.recency - weights.recency, held);
  return {
    ...weights,
    semantic: weights.semantic - taken * (weights.semantic / held),
    lexical: weights.lexical - taken * (weights.lexical / held),
    recency: weights.recency + taken,
    recencyLambda: Math.max(weights.recencyLambda, least.lambda ?? weights.recencyLambda),
  };
}

/** The six weights times their factors, summing to 1. */
function multiplied(weights: ScoringWeights, factors: RankingMultipliers): ScoringWeights {
  const product = eachMultiplied((name) => weights[name] * factors[name]);
  const sum = Object.values(product).reduce((total, weight) => total + weight, 0);
  return sum <= 0 ? weights : { ...weights, ...eachMultiplied((name) => product[name] / sum) };
}

/** A value for each weight with a multiplier. */
export function eachMultiplied(of: (name: keyof RankingMultipliers) => number): RankingMultipliers {
  return {
    semantic: of("semantic"),
    lexical: of("lexical"),
    graph: of("graph"),
    recency: of("recency"),
    salience: of("salience"),
    confidence: of("confidence"),
  };
}

/** The least decay per day. */
const BOOST_LAMBDA = 0.05;
/** For candidates by a speaker named in the question; measured in docs/retrieval.md. */
const SPEAKER_BOOST = 0.15;

/** Semantic and lexical channel fused, times factors relative to the pool. */
function fusedFormula(pool: Pool, fusion: ChannelFusion): Formula {
  const { entries, context } = pool;
  const recencies = boostRecencies(pool, fusion);
  const channels = channelsOf(entries, fusion);
  const factors = poolFactors(pool, fusion, recencies);
  const places = newestFirstPlaces(
    entries.map((entry) => (isOnChannel(entry) ? entry.stated : undefined)),
  );
  return ({ signals }, index) => {
    const untied: FusionRecord = { ...channels(index), ...factors(index), tieBreak: undefined };
    const fused = fusedScore(untied, fusion);
    // Just enough that the newest of equal scores comes first.
    const place = fused > 0 ? (places[index] ?? 0) : 0;
    const tieBreak = fusion.tieBreak === undefined ? undefined : place * TIE_BREAK_WIDTH;
    return {
      formulaVersion: formulaVersion(fusion.kind),
      trace: {
        ...signals,
        recencyFactor: recencies?.[index] ?? 0,
        salience: 0,
        confidence: 0,
        compositeScore: fused - (tieBreak ?? 0),
      },
      weights: context.weights,
      fusion: { ...untied, tieBreak },
    };
  };
}

function isOnChannel({ semantic, lexical }: Entry): boolean {
  return semantic !== undefined || lexical !== undefined;
}

type RecordOf<K> = Extract<FusionRecord, { readonly kind: K }>;
type Channels =
  | Pick<RecordOf<"rrf">, "kind" | "semanticRank" | "lexicalRank">
  | Pick<RecordOf<"relative">, "kind" | "semantic" | "lexical">
  | Pick<RecordOf<"adaptive">, "kind" | "semantic" | "lexical" | "coverage" | "certainty">;

function channelsOf(
  entries: readonly Entry[],
  { kind }: ChannelFusion,
): (index: number) => Channels {
  const semantic = entries.map((entry) => entry.semantic);
  const lexical = entries.map((entry) => entry.lexical);
  if (kind === "rrf") {
    const semanticRanks = competitionRanks(semantic);
    const lexicalRanks = competitionRanks(lexical);
    return (index) => ({
      kind,
      semanticRank: semanticRanks[index],
      lexicalRank: lexicalRanks[index],
    });
  }
  const rescaled = rescaleToUnit(semantic);
  const share = shareOfLargest(lexical.map((value) => value ?? 0));
  const shares = (index: number) => {
    const words = lexical[index];
    return { semantic: rescaled[index], lexical: words === undefined ? undefined : share(words) };
  };
  if (kind === "relative") return (index) => ({ kind, ...shares(index) });
  const most = (name: "coverage" | "certainty") =>
    entries.reduce((max, { candidate }) => Math.max(max, candidate[name] ?? 0), 0);
  const [coverage, certainty] = [most("coverage"), most("certainty")];
  return (index) => ({ kind, ...shares(index), coverage, certainty });
}

/** Undefined: recency does not count. */
function boostRecencies(
  { entries, context, isCurrentState, isUpdate }: Pool,
  { recencyBoost }: ChannelFusion,
): readonly number[] | undefined {
  if (!isCurrentState || recencyBoost === undefined) return undefined;
  const anchor = newestOf(entries.map(({ stated }) => stated));
  if (anchor === undefined) return undefined;
  const rule = { anchor, lambda: Math.max(context.weights.recencyLambda, BOOST_LAMBDA) };
  return entries.map((entry) => recency(entry.stated, rule, isUpdate(entry) ? UPDATE_GAIN : 1));
}

type Shares = (value: (entry: Entry, index: number) => number) => readonly number[];
type FactorInput = Pool & {
  readonly fusion: ChannelFusion;
  readonly recencies: readonly number[] | undefined;
  /** Shares of the largest value of candidates on a channel. */
  readonly shares: Shares;
};

/** Each factor's formula, for all candidates; undefined: it does not apply to the question. */
const FORMULAS: Readonly<Record<FactorName, (of: FactorInput) => readonly number[] | undefined>> = {
  epistemicFactor: ({ shares }) => shares(({ signals }) => signals.epistemicWeight),
  nodeTypeFactor: ({ shares }) => shares(({ signals }) => signals.nodeTypeBoost),
  temporalFactor: ({ shares, context: { weights } }) =>
    shares(({ signals }) => 1 + weights.temporalBoost * signals.temporalAffinity),
  recencyBoostFactor: ({ shares, fusion: { recencyBoost }, recencies }) =>
    recencyBoost === undefined
      ? undefined
      : shares((_, index) => 1 + recencyBoost * (recencies?.[index] ?? 0)),
  speakerFactor: ({ shares, isSpokenByNamed }) =>
    isSpokenByNamed && shares((entry) => (isSpokenByNamed(entry) ? 1 + SPEAKER_BOOST : 1)),
  timeFactor: ({ entries, context }) => timeFactors(entries, context),
};

function poolFactors(
  pool: Pool,
  fusion: ChannelFusion,
  recencies: readonly number[] | undefined,
): (index: number) => Omit<PoolFactors, "tieBreak"> {
  const counted = pool.entries.map(isOnChannel);
  const isAll = !counted.includes(false);
  const shares: Shares = (value) => {
    const values = pool.entries.map(value);
    const share = shareOfLargest(isAll ? values : values.filter((_, index) => counted[index]));
    return values.map(share);
  };
  const input = { ...pool, fusion, recencies, shares };
  const factors = FACTORS.flatMap(({ name }) => {
    const values = FORMULAS[name](input);
    return values === undefined ? [] : [{ name, values }];
  });
  return (index) => {
    const record: Partial<Record<FactorName, number>> = {};
    for (const { name, values } of factors) record[name] = values[index] ?? 0;
    // SAFETY: the formulas of those that are always there give values.
    return record as Omit<PoolFactors, "tieBreak">;
  };
}

/** The maximum score of memories outside the requested time, and the factor per day of distance. */
const OTHER_TIME = 0.4;
const OTHER_TIME_DAILY = 0.98;

/** How near each candidate is to the requested time, if the question asks for nothing else; undefined otherwise, or if none is of it. */
function timeFactors(
  entries: Pool["entries"],
  { analysis: { askedTime } }: Pool["context"],
): readonly number[] | undefined {
  if (askedTime === undefined) return undefined;
  const away = entries.map(({ stated }) => daysFrom(askedTime, stated));
  if (!away.includes(0)) return undefined;
  return away.map((days) => (days === 0 ? 1 : OTHER_TIME * OTHER_TIME_DAILY ** days));
}

/** Raises the newest candidate if the question asks for the current state and its text mentions a change. Undefined: no step. */
function currentUpdates(pool: Pool): (entry: Entry, base: Base) => Adjustment | undefined {
  const { context, entries, isCurrentState, isUpdate } = pool;
  const { currentUpdateMultiplier: multiplier } = context.weights;
  if (!isCurrentState || multiplier <= 1) return () => undefined;
  const newest = newestOf(entries.map(({ moment }) => moment));
  return (entry, base) => {
    if (entry.moment !== newest || base.trace.compositeScore <= 0 || !isUpdate(entry)) {
      return undefined;
    }
    const coefficient = boundedCoefficient(base, multiplier);
    return coefficient > 1 ? adjustment("current_update", coefficient) : undefined;
  };
}

/** Below the relevance floor a fused score stays; a weighted one rises at most to its relevance. */
function boundedCoefficient({ trace, weights }: Base, multiplier: number): number {
  const limit = relevanceLimit(trace, weights);
  if (limit === undefined) return multiplier;
  if (weights.fusion.kind !== "weighted") return 1;
  return Math.min(multiplier, limit / trace.compositeScore);
}

type Identified = { readonly node: Pick<ResultCandidate["node"], "id"> };
type Placed = Identified & Pick<ResultCandidate, "compositeScore">;

/** The final tie-break of every order. */
export function compareIds(a: Identified, b: Identified): number {
  return a.node.id < b.node.id ? -1 : a.node.id > b.node.id ? 1 : 0;
}

/** The order after scores were inherited. */
export function byScore(a: Placed, b: Placed): number {
  return b.compositeScore - a.compositeScore || compareIds(a, b);
}

/** The order of a fresh ranking. */
export function byScoreThenPath(
  a: Placed & Pick<ResultCandidate, "pathScore">,
  b: Placed & Pick<ResultCandidate, "pathScore">,
): number {
  return b.compositeScore - a.compositeScore || b.pathScore - a.pathScore || compareIds(a, b);
}

type Scored = Pick<ResultCandidate, "compositeScore" | "provenance">;

export function adjustment(
  kind: Adjustment["kind"],
  coefficient: number,
  more: Partial<Pick<Adjustment, "neuralScore" | "sourceNodeId">> = {},
): Adjustment {
  return {
    kind,
    coefficient,
    neuralScore: more.neuralScore,
    sourceNodeId: more.sourceNodeId,
  };
}

export function adjusted(scored: Scored, step: Adjustment): Scored {
  return {
    compositeScore: applyAdjustment(scored.compositeScore, step),
    provenance: { ...scored.provenance, adjustments: [...scored.provenance.adjustments, step] },
  };
}
