import type { QueryIntent } from "../../../domain/enums.ts";
import { epistemicWeight } from "../../../domain/epistemics.ts";
import { type MemoryNode, statedTime, wordingOf } from "../../../domain/node.ts";
import type { RankingMultipliers, ScoreProvenance } from "../../../domain/records/score.ts";
import type { Signals } from "../../../domain/score-replay.ts";
import type { ScoringWeights } from "../../../domain/scoring.ts";
import { namesSpeaker, storedSpeaker } from "../../../domain/speaker.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EngineSettings } from "../../settings.ts";
import type { Candidate } from "../merge.ts";
import { type TimeWindow, temporalAffinity } from "./factors.ts";
import { hasUpdateWording, type QuestionTime, questionTime } from "./wording.ts";

/** The parts of a question that scoring needs. */
export type ScoredQuestion = TimeWindow & {
  readonly query: string;
  readonly intent: QueryIntent;
  readonly isAggregation: boolean;
};

export type ScoreContext = {
  /** As configured or as replaced by the request, before any shift. */
  readonly weights: ScoringWeights;
  readonly epistemicWeights: EngineSettings["epistemicWeights"];
  readonly analysis: ScoredQuestion;
  /** The present, for recency and decay. */
  readonly referenceTime: Instant;
  /** Read by the weighted fusion only. */
  readonly multipliers: RankingMultipliers | undefined;
};

/** A candidate and the signals of its own record. */
export type Entry = {
  readonly candidate: Candidate;
  /** Cosine and BM25, each 0 to 1; undefined: not on that channel. */
  readonly semantic: number | undefined;
  readonly lexical: number | undefined;
  readonly signals: Omit<Signals, "recencyFactor" | "salience" | "confidence">;
  /** When it happened, else when it was stored. */
  readonly stated: Instant;
  /** When it happened, else when it last changed. */
  readonly moment: Instant;
};

/** The candidates of one question and what they have in common. */
export type Pool = {
  readonly context: ScoreContext;
  readonly entries: readonly Entry[];
  readonly question: QuestionTime;
  /** Whether a candidate's speaker is named in the question; undefined if it names no speaker of the pool. */
  readonly isSpokenByNamed: ((entry: Entry) => boolean) | undefined;
  /** Whether the question asks for the newest state of affairs. */
  readonly isCurrentState: boolean;
  /** Whether the text of a candidate speaks of a change. Each text is read at most once, and only when needed. */
  readonly isUpdate: (entry: Entry) => boolean;
};

/** The result of a formula for one candidate, before any adjustment. */
export type Base = Pick<ScoreProvenance, "formulaVersion" | "trace" | "weights" | "fusion">;

/** Computes the base of each candidate of one pool; `index` is its place in the pool. */
export type Formula = (entry: Entry, index: number) => Base;

/** Number of paths with which a candidate's path score is full. */
const FULL_PATHS = 3;

/** Prepares the candidates of one question for any formula. Pure. */
export function toPool(candidates: readonly Candidate[], context: ScoreContext): Pool {
  const { analysis } = context;
  const entries = candidates.map((candidate) => toEntry(candidate, context));
  const question = questionTime(analysis.query, analysis.isAggregation);
  const known = new Map<Entry, boolean>();
  const isUpdate = (entry: Entry): boolean => {
    const is = known.get(entry) ?? hasUpdateWording(wordingOf(entry.candidate.node));
    known.set(entry, is);
    return is;
  };
  const isCurrentState =
    !question.neverCurrent &&
    (question.explicitCurrent || question.implicitCurrent) &&
    (analysis.intent !== "temporal" || question.explicitCurrent) &&
    (!question.implicitCurrent || entries.some(isUpdate));
  const isSpokenByNamed = namedSpeakers(entries, analysis.query);
  return { context, entries, question, isSpokenByNamed, isCurrentState, isUpdate };
}

/** Finds the candidates that were said by somebody named in the question. */
function namedSpeakers(
  entries: readonly Entry[],
  query: string,
): ((entry: Entry) => boolean) | undefined {
  const speakers = entries.map((entry) => storedSpeaker(entry.candidate.node.metadata));
  const named = new Set(
    [...new Set(speakers)].filter((name) => name !== undefined && namesSpeaker(query, name)),
  );
  if (named.size === 0) return undefined;
  const spoken = new Set(entries.filter((_, index) => named.has(speakers[index])));
  return (entry) => spoken.has(entry);
}

function toEntry(
  candidate: Candidate,
  { weights, epistemicWeights, analysis }: ScoreContext,
): Entry {
  const { node, lexical, graph, paths } = candidate;
  const semantic = candidate.semantic === undefined ? undefined : Math.max(0, candidate.semantic);
  const stated = statedTime(node);
  const isTimed = analysis.intent === "temporal" && weights.temporalBoost > 0;
  return {
    candidate,
    semantic,
    lexical,
    signals: {
      semanticSimilarity: semantic ?? 0,
      lexicalRelevance: lexical ?? 0,
      graphProximity: graph,
      epistemicWeight: epistemicWeight(node, epistemicWeights),
      pathScore: Math.min(paths.length / FULL_PATHS, 1),
      temporalAffinity: isTimed ? temporalAffinity(wordingOf(node), stated, analysis) : 0,
      nodeTypeBoost: weights.nodeTypeBoost[node.nodeType] ?? 1,
    },
    stated,
    moment: momentOf(node, weights),
  };
}

/** The time that determines the newest candidate. */
function momentOf(node: MemoryNode, { fusion }: ScoringWeights): Instant {
  const byEvent = fusion.kind === "weighted" && fusion.recencyTime === "event_time";
  return byEvent ? statedTime(node) : (node.eventTime ?? node.updatedAt);
}
