import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { QueryIntent } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type {
  AnswerCitations,
  CitationMethod,
  Explanation,
  KeptReceipt,
  RankingPolicy,
} from "../../domain/records/receipt.ts";
import type { PackingSettings } from "../../domain/records/retrieval-record.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  Exclusion,
  FilterMetadata,
  MemoryBundle,
  ResultCandidate,
  RetrievalMetadata,
} from "../retrieve/api.ts";

/** Receipts of answers. They never contain the text of a memory. */

/** What a retrieval passes on once its answer is ready: references to existing objects, not copies, which must not be modified. */
export type ReceiptMaterial = {
  readonly userId: string;
  readonly query: string;
  /** The requesting program, if it named itself. */
  readonly client?: string | undefined;
  /** How long the answer took, in milliseconds. */
  readonly timingMs?: number | undefined;
  /** The owner's number of forgettings when the question began. */
  readonly forgettings?: number | undefined;
  /** What the caller asked for, besides the metadata. */
  readonly filter: CandidateFilter;
  readonly retrievalMode: FilterMetadata["retrievalMode"];
  /** Whether the request asks for an explanation, and so for the full receipt. */
  readonly explain: boolean;
  readonly includeCrossScope: boolean;
  /** The time that the question names, if scoring used it. */
  readonly queryTimeFrom: Instant | undefined;
  readonly queryTimeTo: Instant | undefined;
  /** As configured or requested, before any shift due to the question. */
  readonly scoring: ScoringWeights;
  /** The configured settings with the token budget and the fidelity of the request. */
  readonly packing: PackingSettings;
  /** How the order of `results` was determined. */
  readonly rankingPolicy: RankingPolicy;
  /** In rank order, as passed to packing. */
  readonly results: readonly ResultCandidate[];
  readonly bundle: MemoryBundle;
  /** Excluded by filters and selection. */
  readonly excluded: readonly Exclusion[];
  readonly crossScopeHintCount: number;
  readonly temporalRelation: JsonObject | undefined;
  readonly metadata: Omit<RetrievalMetadata, "receiptPersisted" | "timingMs" | "stages">;
};

/** A report of the memories that an answer was made from. */
export type AnswerCitationsInput = {
  /** UUID; a retry with it returns the first record. Default: a new one. */
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

export type RetrievalsQuery = {
  readonly userId: string;
  /** Only of this program. */
  readonly client?: string | null | undefined;
  /** True: only those with a failed search; false: only those without. */
  readonly failed?: boolean | null | undefined;
  /** Inclusive. */
  readonly timeFrom?: InstantInput | null | undefined;
  /** Exclusive. */
  readonly timeTo?: InstantInput | null | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};

/** A retrieval in a list. */
export type ListedRetrieval = {
  readonly requestId: Uuid;
  readonly createdAt: Instant;
  readonly client: string | undefined;
  readonly query: string;
  readonly intent: QueryIntent;
  readonly resultCount: number;
  readonly contextCount: number;
  readonly tokensUsed: number;
  /** How long the answer took, in milliseconds; undefined for answers of earlier versions. */
  readonly timingMs: number | undefined;
  /** Anything unusual, as plain text. */
  readonly notes: readonly string[];
  /** Searches that failed, with the category of the failure. */
  readonly failures: Readonly<Record<string, string>>;
};

export type ListedRetrievals = {
  /** Newest first. */
  readonly retrievals: readonly ListedRetrieval[];
  readonly hasMore: boolean;
  readonly nextCursor: string | undefined;
};

export type UsesQuery = {
  /** Absent: the owner of the memory. */
  readonly userId?: string | null | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};

/** An answer whose context contained a memory. */
export type ListedUse = Pick<ListedRetrieval, "requestId" | "createdAt" | "client" | "query"> & {
  /** Rank of the memory among the results, from 1. */
  readonly rank: number;
  /** The form shown, for example `full`. */
  readonly representation: string;
  /** Whether a citation report for that answer names the memory. */
  readonly cited: boolean;
};

export type ListedUses = {
  /** Newest first. */
  readonly retrievals: readonly ListedUse[];
  readonly hasMore: boolean;
  readonly nextCursor: string | undefined;
};

/** What is kept of answers. */
export type ReceiptMethods = {
  /**
   * The receipt of a retrieval, checked again. Undefined for an unknown request, one of another owner, and after its retention.
   * @throws SvcError storage_failed naming the retrieval if the receipt is damaged
   */
  getRetrievalReceipt(requestId: string, userId?: string): Promise<KeptReceipt | undefined>;
  /**
   * Why each record was or was not in the context of a retrieval, from its receipt alone. Otherwise like `getRetrievalReceipt`.
   */
  explain(requestId: string, userId?: string): Promise<Explanation | undefined>;
  /**
   * The retrievals whose receipts are kept, newest first. A damaged receipt is left out with a warning.
   * @throws SvcError invalid_argument, also for a malformed cursor
   */
  listRetrievals(query: RetrievalsQuery): Promise<ListedRetrievals>;
  /**
   * The retrievals whose context contained a memory, newest first, for all receipts kept; those of earlier versions are added in the
   * background. A damaged receipt is left out with a warning.
   * @throws SvcError invalid_argument, also for a malformed cursor
   */
  nodeRetrievals(nodeId: string, query?: UsesQuery): Promise<ListedUses | undefined>;
  /**
   * Records which memories an answer was made from. Changes neither memories nor ranking; an exact retry returns the first
   * record.
   * @throws SvcError not_found without such a receipt; bad_citation for a memory whose text was not in that context;
   *   request_conflict if the citation's id was used with different inputs
   */
  recordAnswerCitations(input: AnswerCitationsInput, userId: string): Promise<AnswerCitations>;
  /** Undefined for an unknown record, or one of another owner. */
  getAnswerCitations(citationId: string, userId: string): Promise<AnswerCitations | undefined>;
  /** By ascending id; ends early at 8 Mi characters of records. */
  listAnswerCitations(query: AnswerCitationsQuery): Promise<readonly AnswerCitations[]>;
};
