import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { QueryIntent } from "../../domain/enums.ts";
import type { PackingSettings } from "../../domain/records/packing.ts";
import type { RankingPolicy, RetrievalReceipt } from "../../domain/records/receipt.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  CandidatePath,
  Exclusion,
  FilterMetadata,
  MemoryBundle,
  ResultCandidate,
  RetrievalMetadata,
  SectionName,
} from "../retrieve/api.ts";

/** What is kept of an answer. No part of it holds the text of a memory. */

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
  /** What filters and selection left out. */
  readonly excluded: readonly Exclusion[];
  readonly crossScopeHintCount: number;
  readonly temporalRelation: JsonObject | undefined;
  readonly metadata: Omit<RetrievalMetadata, "receiptPersisted" | "timingMs" | "stages">;
};

/** Why a result is not in the context. */
export const PACKING_REASONS = ["token_budget", "blank_text", "folded"] as const;
export type PackingReason = (typeof PACKING_REASONS)[number];

export type NotPacked = {
  readonly nodeId: Uuid;
  readonly reason: PackingReason;
  /** The record in whose text it stands already; only for `folded`, where it is known. */
  readonly foldedInto: Uuid | undefined;
};

/** A candidate that a filter left out. */
export type FilteredOut = {
  readonly nodeId: Uuid;
  /** For example `node_type_filtered:note`. */
  readonly reason: string;
};

/** A candidate that selection left out. */
export type SelectedOut = {
  readonly nodeId: Uuid;
  readonly reason: string;
  readonly score: number;
  /** Absent under weighted fusion. */
  readonly semanticRelevance: number | undefined;
};

/** What else is known of a retrieval and stored beside its receipt. */
export type RetrievalRecord = {
  readonly intent: QueryIntent;
  /** The time that the question speaks of, where it names one. */
  readonly queryTimeFrom: Instant | undefined;
  readonly queryTimeTo: Instant | undefined;
  readonly candidatesGenerated: Readonly<Record<string, number>>;
  readonly candidatesFiltered: number;
  readonly candidatesIncluded: number;
  readonly backendsUsed: readonly string[];
  readonly embeddingMismatch: boolean;
  readonly backendFailures: Readonly<Record<string, string>>;
  readonly reranker: RetrievalMetadata["reranker"];
  readonly reformulation: RetrievalMetadata["reformulation"];
  readonly tokensUsed: number;
  readonly scoringConfigVersion: string;
  readonly crossScopeHintCount: number;
  /** How each candidate of the receipt was found, in its order. */
  readonly paths: readonly (readonly CandidatePath[])[];
  /** The records of the context in the order in which they stand in it. */
  readonly context: readonly { readonly nodeId: Uuid; readonly section: SectionName }[];
  /** All other candidates of the receipt, in rank order. */
  readonly notPacked: readonly NotPacked[];
  readonly filteredOut: readonly FilteredOut[];
  readonly selectedOut: readonly SelectedOut[];
};

/** A receipt as it was read back and checked. */
export type KeptReceipt = {
  readonly receipt: RetrievalReceipt;
  readonly record: RetrievalRecord;
  /** The receipt as canonical JSON. */
  readonly text: string;
  /** SHA-256 of `text`, 64 lower-case hex digits. */
  readonly checksum: string;
  readonly createdAt: Instant;
};

export const CITATION_METHODS = [
  "model_reported",
  "application_verified",
  "human_verified",
] as const;
export type CitationMethod = (typeof CITATION_METHODS)[number];

/** Which memories an answer was made from, as somebody reports it. */
export type AnswerCitationsInput = {
  /** UUID; makes a retry return the first record. Default: a new one. */
  readonly citationId?: string | null | undefined;
  /** Of the retrieval that the answer was made from. */
  readonly requestId: string;
  /** The caller's name of the answer, 1 to 512 characters, not blank. */
  readonly answerId: string;
  /** At most 1000, without repeats. Default and empty: none was reported. */
  readonly citedNodeIds?: readonly string[] | null | undefined;
  /** 64 lower-case hex digits. */
  readonly answerSha256?: string | null | undefined;
  /** Default `model_reported`. */
  readonly method?: CitationMethod | null | undefined;
};

/** A report as it was recorded. It changes neither memories nor ranking. */
export type AnswerCitations = {
  readonly schemaVersion: 1;
  readonly citationId: Uuid;
  readonly requestId: Uuid;
  readonly answerId: string;
  readonly citedNodeIds: readonly Uuid[];
  readonly answerSha256: string | undefined;
  readonly method: CitationMethod;
  readonly userId: string;
  readonly recordedAt: Instant;
  readonly receiptChecksum: string;
  readonly contextSha256: string;
};

export type AnswerCitationsQuery = {
  readonly userId: string;
  /** Exclusive. */
  readonly afterId?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};
