import type { Adjustment } from "../../../domain/records/score.ts";
import { applyAdjustment } from "../../../domain/score-replay.ts";
import type { ResultCandidate } from "../api.ts";

export type Scored = Pick<ResultCandidate, "compositeScore" | "provenance">;

/** The step as it is recorded. */
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

/** A score after one more step, which is added to its record. Pure. */
export function adjusted(scored: Scored, step: Adjustment): Scored {
  return {
    compositeScore: applyAdjustment(scored.compositeScore, step),
    provenance: {
      ...scored.provenance,
      adjustments: [...scored.provenance.adjustments, step],
    },
  };
}
