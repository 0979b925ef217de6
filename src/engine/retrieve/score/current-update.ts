import type { Adjustment } from "../../../domain/records/score.ts";
import { relevanceLimit } from "../../../domain/score-replay.ts";
import { adjustment } from "./adjust.ts";
import { newestOf } from "./factors.ts";
import type { Base, Entry, Pool } from "./pool.ts";

/**
 * Raises the newest candidate if the question asks for the newest state and its text speaks of a change. If the newest candidate
 * speaks of none, all scores stay as they are. Pure.
 * @returns the step of one candidate; undefined if its score stays
 */
export function currentUpdates(pool: Pool): (entry: Entry, base: Base) => Adjustment | undefined {
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

/** Below the relevance floor a fused score stays as it is, and a weighted score rises at most to its relevance. */
function boundedCoefficient({ trace, weights }: Base, multiplier: number): number {
  const limit = relevanceLimit(trace, weights);
  if (limit === undefined) return multiplier;
  if (weights.fusion.kind !== "weighted") return 1;
  return Math.min(multiplier, limit / trace.compositeScore);
}
