/** The thread's setup, sent once, before anything else. */
export type Start = {
  readonly kind: "start";
  readonly cacheDir: string;
  /** Absolute path of the folder that holds the model's files. */
  readonly folder: string;
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
      /** 0 to 1. */
      readonly relevance: number;
    }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
