import type { Evidence } from "../../../src/engine/verify/api.ts";
import type { ClaimDeps } from "../../../src/engine/verify/claims.ts";
import type { Entailment, EntailmentModel } from "../../../src/ports/text-pairs.ts";

/** What a model says when it sees a text support or contradict a claim, or neither. */
export const YES: Entailment = { entailment: 0.9, contradiction: 0.04, neutral: 0.06 };
export const NO: Entailment = { entailment: 0.05, contradiction: 0.9, neutral: 0.05 };
export const NEITHER: Entailment = { entailment: 0.1, contradiction: 0.1, neutral: 0.8 };

/** An entailment model of fixed answers, and what it was asked. */
export type ScriptedModel = EntailmentModel & {
  /** The premises of each call. */
  readonly calls: (readonly string[])[];
};

/** Answers each premise with what the function gives for it. */
export function scriptedModel(judge: (premise: string) => Entailment): ScriptedModel {
  const calls: (readonly string[])[] = [];
  return {
    model: "scripted",
    revision: "r1",
    calls,
    judge: async (pairs) => {
      calls.push(pairs.map(({ premise }) => premise));
      return pairs.map(({ premise }) => judge(premise));
    },
    close: async () => {},
  };
}

export const CLAIM_SETTINGS: ClaimDeps["settings"] = {
  revision: "main",
  entailmentThreshold: 0.8,
  contradictionThreshold: 0.8,
  batchSize: 32,
  maxEvidence: 64,
  maxGroupSize: 2,
  groupCandidateLimit: 8,
  entailmentPolicy: "speech_act_guarded",
  refutationPolicy: "explicit_corroboration",
};

/** Evidence of these texts, named e1, e2, and so on. */
export function evidenceOf(
  texts: readonly string[],
  more: Partial<Evidence> = {},
): readonly Evidence[] {
  return texts.map((text, at) => ({
    reference: `e${at + 1}`,
    memoryId: `memory-${at + 1}`,
    text,
    ...more,
  }));
}
