import type { EngineSettings } from "../settings.ts";

/** What all retrievals of an engine have in common. */
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
  /** The model that would reformulate questions; absent without one. */
  readonly languageModel: { readonly provider: string; readonly model: string } | undefined;
  readonly features: Readonly<Record<string, string>>;
};
