/** A model's judgement of two texts: `relevance` is one number from 0 to 1, `entailment` three that sum to 1. */
export type PairKind = "relevance" | "entailment";

/** The thread's setup, sent once, before anything else. */
export type Start = {
  readonly kind: "start";
  readonly cacheDir: string;
  /** Absolute path of the folder that holds the model's files. */
  readonly folder: string;
  readonly pairKind: PairKind;
  readonly threads: number;
  readonly maxTokens: number;
};

export type Judge = {
  readonly kind: "judge";
  readonly id: number;
  readonly first: string;
  readonly second: string;
};

/** What the worker answers, once for each `judge`. `reason` never holds a text. */
export type FromWorker =
  | {
      readonly kind: "judged";
      readonly id: number;
      /** `[relevance]`, or `[entailment, contradiction, neutral]`. */
      readonly values: readonly number[];
      /** The version of the weights. */
      readonly revision: string;
    }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
