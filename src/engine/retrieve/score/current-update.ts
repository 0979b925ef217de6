import { relevanceLimit } from "../../../domain/score-replay.ts";
import type { Adjustment } from "../../../domain/scoring.ts";
import { adjustment } from "./adjust.ts";
import { newestOf } from "./factors.ts";
import type { Base, Entry, Pool } from "./pool.ts";

/**
 * What raises the newest candidate where the newest state is asked for and its text speaks of a change. A newer candidate
 * that speaks of none leaves all scores as they are. Pure.
 * @returns the step of one candidate; undefined where its score stays
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

/** Below the relevance floor a fused score stays as it is, and a weighted score rises to its relevance at most. */
function boundedCoefficient({ trace, weights }: Base, multiplier: number): number {
  const limit = relevanceLimit(trace, weights);
  if (limit === undefined) return multiplier;
  if (weights.fusion.kind !== "weighted") return 1;
  return Math.min(multiplier, limit / trace.compositeScore);
}
