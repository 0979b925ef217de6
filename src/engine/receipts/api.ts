import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { CitationMethod } from "../../domain/records/citations.ts";
import type { PackingSettings } from "../../domain/records/packing.ts";
import type { RankingPolicy, RetrievalReceipt } from "../../domain/records/receipt.ts";
import type { RetrievalRecord } from "../../domain/records/retrieval-record.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type {
  Exclusion,
  FilterMetadata,
  MemoryBundle,
  ResultCandidate,
  RetrievalMetadata,
} from "../retrieve/api.ts";

/** What is kept about an answer. No part of it contains the text of a memory. */

/**
 * What a retrieval passes on once its answer is ready: references to existing objects, nothing copied. Nobody modifies them
 * afterwards.
 */
export type ReceiptMaterial = {
  readonly userId: string;
  readonly query: string;
  /** What the caller asked for, besides the metadata. */
  readonly filter: CandidateFilter;
  readonly retrievalMode: FilterMetadata["retrievalMode"];
  readonly includeCrossScope: boolean;
  /** The time that the question names, as far as scoring used it. */
  readonly queryTimeFrom: Instant | undefined;
  readonly queryTimeTo: Instant | undefined;
  /** As configured or as given with the request; before any shift due to the question. */
  readonly scoring: ScoringWeights;
  /** The configured settings with the token budget and the fidelity of the request. */
  readonly packing: PackingSettings;
  /** How the order of `results` was determined. */
  readonly rankingPolicy: RankingPolicy;
  /** In rank order, as passed to packing. */
  readonly results: readonly ResultCandidate[];
  readonly bundle: MemoryBundle;
  /** What filters and selection excluded. */
  readonly excluded: readonly Exclusion[];
  readonly crossScopeHintCount: number;
  readonly temporalRelation: JsonObject | undefined;
  readonly metadata: Omit<RetrievalMetadata, "receiptPersisted" | "timingMs" | "stages">;
};

/** A receipt that was read back and checked. */
export type KeptReceipt = {
  readonly receipt: RetrievalReceipt;
  readonly record: RetrievalRecord;
  /** The receipt as canonical JSON. */
  readonly text: string;
  /** SHA-256 of `text`, 64 lower-case hex digits. */
  readonly checksum: string;
  readonly createdAt: Instant;
};

/** A report on which memories an answer was made from. */
export type AnswerCitationsInput = {
  /** UUID; makes a retry return the first record. Default: a new one. */
  readonly citationId?: string | null | undefined;
  /** Of the retrieval that the answer was made from. */
  readonly requestId: string;
  /** The caller's name for the answer, 1 to 512 characters, not blank. */
  readonly answerId: string;
  /** At most 1000, without repeats. Default and empty: none was reported. */
  readonly citedNodeIds?: readonly string[] | null | undefined;
  /** 64 lower-case hex digits. */
  readonly answerSha256?: string | null | undefined;
  /** Default `model_reported`. */
  readonly method?: CitationMethod | null | undefined;
};

export type AnswerCitationsQuery = {
  readonly userId: string;
  /** Exclusive. */
  readonly afterId?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};
