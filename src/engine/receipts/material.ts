import type { EngineSettings } from "../settings.ts";

/** What is the same for all retrievals of an engine. */
export type ReceiptSurroundings = {
  readonly settings: Pick<
    EngineSettings,
    | "epistemicWeights"
    | "unverifiedConfidenceThreshold"
    | "temporalLanguages"
    | "queryIntentOrder"
    | "reranker"
    | "reformulation"
  >;
  /** Who would reformulate questions; absent without such a model. */
  readonly languageModel: { readonly provider: string; readonly model: string } | undefined;
  readonly features: Readonly<Record<string, string>>;
};
