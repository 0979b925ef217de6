import { SvcError } from "../../domain/errors.ts";
import type { Entailment, EntailmentModel } from "../../ports/text-pairs.ts";

/** Maximum deviation of the sum of the three probabilities from 1. */
const SUM_TOLERANCE = 1e-5;

/** Asks the model about premises, and records whether it was asked at all. */
export type Judge = {
  /** In the order of the premises. @throws SvcError model_failed if the model fails or its numbers are impossible */
  judge(premises: readonly string[]): Promise<readonly Entailment[]>;
  readonly wasAsked: () => boolean;
};

export function createJudge(model: EntailmentModel, claim: string, batchSize: number): Judge {
  let wasAsked = false;
  return {
    judge: async (premises) => {
      const judged: Entailment[] = [];
      for (let at = 0; at < premises.length; at += batchSize) {
        const batch = premises.slice(at, at + batchSize);
        wasAsked = true;
        const answers = await model.judge(batch.map((premise) => ({ premise, claim })));
        if (answers.length !== batch.length || !answers.every(isDistribution)) throw unusable();
        judged.push(...answers);
      }
      return judged;
    },
    wasAsked: () => wasAsked,
  };
}

function isDistribution({ entailment, contradiction, neutral }: Entailment): boolean {
  const shares = [entailment, contradiction, neutral];
  const sum = entailment + contradiction + neutral;
  return shares.every((share) => share >= 0 && share <= 1) && Math.abs(sum - 1) <= SUM_TOLERANCE;
}

function unusable(): SvcError {
  return new SvcError(
    "model_failed",
    "the entailment model gave no three probabilities that sum to 1 for each piece of evidence",
  );
}
