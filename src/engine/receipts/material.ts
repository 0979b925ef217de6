import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { RankingPolicy } from "../records.ts";
import type {
  Exclusion,
  FilterMetadata,
  MemoryBundle,
  ResultCandidate,
  RetrievalMetadata,
} from "../results.ts";
import type { EngineSettings, PackingSettings } from "../settings.ts";

/**
 * What a retrieval hands over once its answer stands: references to what it made anyway, nothing copied. Nobody changes
 * any of it afterwards.
 */
export type ReceiptMaterial = {
  readonly userId: string;
  readonly query: string;
  /** What the caller asked for, beside the metadata. */
  readonly filter: CandidateFilter;
  readonly retrievalMode: FilterMetadata["retrievalMode"];
  readonly includeCrossScope: boolean;
  /** The time that the question names, as far as scoring used it. */
  readonly queryTimeFrom: Instant | undefined;
  readonly queryTimeTo: Instant | undefined;
  /** As configured or as given with the request; before any shift that the question asked for. */
  readonly scoring: ScoringWeights;
  /** The configured settings with the token budget and the fidelity of the request. */
  readonly packing: PackingSettings;
  /** How the order of `results` came about. */
  readonly rankingPolicy: RankingPolicy;
  /** In rank order, as packing got them. */
  readonly results: readonly ResultCandidate[];
  readonly bundle: MemoryBundle;
  /** What was left out as repeated text, and the record that has the text. */
  readonly folded: ReadonlyMap<Uuid, Uuid>;
  /** What filters and selection left out. */
  readonly excluded: readonly Exclusion[];
  readonly crossScopeHintCount: number;
  readonly temporalRelation: JsonObject | undefined;
  readonly metadata: Omit<RetrievalMetadata, "receiptPersisted" | "timingMs" | "stages">;
};

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
