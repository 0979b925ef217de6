import { decayed } from "../../../domain/decay.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { formulaVersion, weightedScore } from "../../../domain/score-replay.ts";
import type { ScoringWeights } from "../../../domain/scoring.ts";
import type { Instant } from "../../../lib/instant.ts";
import { newestOf, recency, UPDATE_GAIN } from "./factors.ts";
import type { Entry, Formula, Pool } from "./pool.ts";
import { shiftWeights } from "./shift-weights.ts";

/** The weighted sum of all signals, with the weights shifted as the question requires. Pure. */
export function weightedFormula(pool: Pool): Formula {
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
