import type { Adjustment } from "./scoring.ts";

/** The score after one adjustment. Pure; the steps of a receipt are replayed with it. */
export function applyAdjustment(score: number, { kind, coefficient, neuralScore }: Adjustment): number {
  switch (kind) {
    case "neural_blend":
      return (1 - coefficient) * (neuralScore ?? 0) + coefficient * score;
    case "neural_rank_assignment":
      return coefficient;
    case "current_update":
    case "evidence_projection":
    case "evidence_augmentation":
    case "session_decay":
    case "episode_decay":
      return score * coefficient;
  }
}
