import * as f from "../../lib/form.ts";
import type { Instant } from "../../lib/instant.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import {
  type EpistemicType,
  NODE_TYPES,
  type QueryIntent,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  type RepresentationLevel,
  SCOPES,
  SOURCE_TYPES,
} from "../enums.ts";
import { packingForm, type RetrievalRecord, type SectionName } from "./retrieval-record.ts";
import {
  multipliersForm,
  provenanceForm,
  type ScoreProvenance,
  traceForm,
  weightsForm,
} from "./score.ts";

const LIMITATIONS = [
  "semantic_matching",
  "candidate_limit",
  "backend_failure",
  "score_floor",
  "result_limit",
  "token_budget",
] as const;
export type CoverageLimitation = (typeof LIMITATIONS)[number];

export const coverageForm = f.named(
  "AggregationCoverage",
  "Why the records may not be all of those that a count or a list needs.",
  {
    status: f.member(["semantic_candidates", "candidate_limited", "context_limited"]),
    exhaustive: f.constant(false),
    /** After expansion and filters, before selection. */
    candidateCount: f.count,
    selectedCount: f.count,
    contextCount: f.count,
    /** In a fixed order. */
    limitations: f.list(f.member(LIMITATIONS)),
    /** Searches that reached their limit. */
    candidateLimitPaths: f.list(f.text),
  },
);

/** What the records of an answer cover, for a question for a count or a complete list. */
export type Coverage = f.ValueOf<typeof coverageForm>;

/** How an answer for an earlier moment is made, and what it does not cover. */
const SEMANTICS = {
  ingestion_cutoff: [
    "current_lifecycle_state",
    "current_derived_indexes",
    "mutations_not_replayed",
  ],
  state_then: ["forgotten_missing", "extracted_state_assumed"],
} as const;
type Semantics = keyof typeof SEMANTICS;

/** Members that an answer for an earlier moment lacks. */
export const historical = {
  knowledgeAt: f.instant,
  semantics: f.member(["ingestion_cutoff", "state_then"]),
  exactSnapshot: f.constant(false),
  limitations: f.list(f.member([...SEMANTICS.ingestion_cutoff, ...SEMANTICS.state_then])),
};

export const historicalForm = f.noted(f.object(historical), {
  id: "HistoricalCoverage",
  description: "What an answer for an earlier moment is not.",
});

export type HistoricalCoverage = f.ValueOf<typeof historicalForm>;

/** What an answer for an earlier moment does not cover. Pure. */
export function historicalCoverage(knowledgeAt: Instant, semantics: Semantics): HistoricalCoverage {
  return { knowledgeAt, semantics, exactSnapshot: false, limitations: SEMANTICS[semantics] };
}

/** How the results are ordered; every order ends with ascending id. */
const RANKING_POLICIES = ["score_path_id", "reranked_prefix", "score_id"] as const;
export type RankingPolicy = (typeof RANKING_POLICIES)[number];

const candidate = f.object({
  nodeId: f.uuid,
  scope: f.member(SCOPES),
  /** SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
  contentSha256: f.sha256,
  score: f.decimal,
  /** Absent for an inherited score. */
  trace: f.noted(f.nullable(traceForm), { description: "Null for a score that was inherited." }),
  rerankerScore: f.nullable(f.decimal),
  /** Absent under weighted fusion. */
  semanticRelevance: f.omitted(f.decimal),
  /** Absent outside the context, where `tokenCost` is 0. */
  representation: f.nullable(f.member(REPRESENTATION_LEVELS)),
  tokenCost: f.count,
  inContext: f.flag,
  /** In the context with its own text: at full, prose or structured, and not blank. */
  hasContent: f.noted(f.flag, { description: "In the context with text of its own." }),
});

/** One result of a retrieval in its receipt. */
export type ReceiptCandidate = f.ValueOf<typeof candidate>;

const parameters = f.object({
  rankingMultipliers: f.nullable(multipliersForm),
  rankingProfile: f.object({
    status: f.shownAs(f.member(["none", "applied", "inapplicable", "request_override"]), f.text),
    profileId: f.nullable(f.text),
    reason: f.nullable(f.text),
  }),
  maxPerSource: f.nullable(f.count),
  maxPerEvidence: f.nullable(f.count),
  timeFrom: f.nullable(f.instant),
  timeTo: f.nullable(f.instant),
  knowledgeAt: f.nullable(f.instant),
  eventTimeFrom: f.nullable(f.instant),
  eventTimeTo: f.nullable(f.instant),
  includeCrossScope: f.flag,
  /** Sorted, like `sourceTypes`. */
  excludeNodeTypes: f.omitted(f.list(f.member(NODE_TYPES))),
  sourceTypes: f.omitted(f.list(f.member(SOURCE_TYPES))),
  epistemicWeights: f.through(
    f.dictionary(f.decimal),
    (weights: Readonly<Partial<Record<EpistemicType, number>>>) => weights,
    (weights) => weights,
  ),
  unverifiedConfidenceThreshold: f.decimal,
  aggregationCoverage: f.nullable(coverageForm),
  historicalCoverage: f.nullable(historicalForm),
  temporalRelation: f.nullable(f.anyObject),
  temporalLanguages: f.list(f.text),
  /** Absent if default. */
  queryIntentOrder: f.omitted(f.constant("temporal_first")),
  /** Absent without a reranker. */
  rerankerTopK: f.nullable(f.count),
  /** Absent if default. */
  rerankerPriorWeight: f.omitted(f.decimal),
  queryReformulation: f.object({
    enabled: f.flag,
    count: f.nullable(f.count),
    provider: f.nullable(f.text),
    model: f.nullable(f.text),
    /** Absent if default. */
    mergePolicy: f.omitted(f.constant("max_signals")),
  }),
});

export type ReceiptParameters = f.ValueOf<typeof parameters>;

/** A full receipt as canonical JSON: keys in the order of this declaration, no blanks, shortest numbers. */
export const receiptForm = f.object({
  /** Determines which settings the receipt must state. */
  schemaVersion: f.count,
  requestId: f.uuid,
  userId: f.text,
  query: f.text,
  referenceTime: f.instant,
  scopes: f.nullable(f.list(f.member(SCOPES))),
  scoring: weightsForm,
  packing: packingForm,
  /** SHA-256 of the rendered context, 64 lower-case hex digits. */
  contextSha256: f.sha256,
  minScore: f.nullable(f.decimal),
  minScoreSkipped: f.trueOrOmitted,
  resultLimit: f.nullable(f.count),
  retrievalMode: f.member(RETRIEVAL_MODES),
  timeFrom: f.nullable(f.instant),
  timeTo: f.nullable(f.instant),
  candidates: f.noted(f.list(candidate), { description: "The results, in rank order." }),
  /** One for each candidate, in their order. */
  scoreProvenance: f.through(
    f.mapOf(provenanceForm),
    (map: ReadonlyMap<Uuid, ScoreProvenance>) => map,
    (map) => new Map(Array.from(map, ([id, provenance]) => [asUuid(id), provenance])),
  ),
  rankingPolicy: f.member(RANKING_POLICIES),
  execution: f.object({
    schemaVersion: f.constant(1),
    parameters,
    /** Identity of the running code: names and versions. */
    features: f.noted(f.dictionary(f.text), { description: "Names and versions of what ran." }),
  }),
});

/** Everything that determined an answer, so that scores and order can be recomputed from it alone. */
export type RetrievalReceipt = f.ValueOf<typeof receiptForm>;

/** How much of an answer is kept. */
export const RECEIPT_DETAILS = ["lean", "full"] as const;
export type ReceiptDetail = (typeof RECEIPT_DETAILS)[number];

const leanCandidate = f.object({
  nodeId: f.uuid,
  rank: f.noted(f.count, { description: "From 1, among the results. Only in a lean receipt." }),
  /** To six digits. */
  score: f.decimal,
  representation: f.nullable(f.member(REPRESENTATION_LEVELS)),
  tokenCost: f.count,
  inContext: f.flag,
  hasContent: f.flag,
  reasons: f.noted(f.omitted(f.list(f.object({ text: f.text, memory: f.omitted(f.uuid) }))), {
    description: "Why it has its score, in plain words. Only in a lean receipt, of the first.",
  }),
});

/** The content of a lean receipt: enough to explain and cite an answer and to repeat the question, not enough to recompute it. */
export const leanForm = f.object({
  detail: f.noted(f.constant("lean"), {
    description:
      "lean: scores, settings, and what did not come into the answer were not kept. Absent: all was.",
  }),
  requestId: f.uuid,
  userId: f.text,
  query: f.text,
  referenceTime: f.instant,
  scopes: f.omitted(f.list(f.member(SCOPES))),
  packing: f.object({
    tokenBudget: f.count,
    minFidelity: f.member(REPRESENTATION_LEVELS),
    overheadTokens: f.count,
  }),
  contextSha256: f.sha256,
  minScore: f.omitted(f.decimal),
  minScoreSkipped: f.trueOrOmitted,
  resultLimit: f.omitted(f.count),
  retrievalMode: f.member(RETRIEVAL_MODES),
  timeFrom: f.omitted(f.instant),
  timeTo: f.omitted(f.instant),
  fusion: f.noted(f.member(["weighted", "rrf", "relative", "adaptive"]), {
    description: "How signals became scores. Only in a lean receipt.",
  }),
  resultCount: f.noted(f.count, { description: "All results. Only in a lean receipt." }),
  /** In rank order: those in the context, and the first of the others. */
  candidates: f.list(leanCandidate),
  execution: f.object({
    parameters: f.object({
      rankingMultipliers: f.omitted(multipliersForm),
      maxPerSource: f.omitted(f.count),
      maxPerEvidence: f.omitted(f.count),
      knowledgeAt: f.omitted(f.instant),
      eventTimeFrom: f.omitted(f.instant),
      eventTimeTo: f.omitted(f.instant),
      includeCrossScope: f.flag,
      excludeNodeTypes: f.omitted(f.list(f.member(NODE_TYPES))),
      sourceTypes: f.omitted(f.list(f.member(SOURCE_TYPES))),
    }),
  }),
});
export type LeanReceipt = f.ValueOf<typeof leanForm>;
export type AnyReceipt = RetrievalReceipt | LeanReceipt;

/** Whether a receipt lacks the data to recompute the answer. */
export function isLean(receipt: AnyReceipt): receipt is LeanReceipt {
  return "detail" in receipt;
}

/** A receipt that was read and verified. */
export type KeptReceipt = {
  readonly receipt: AnyReceipt;
  readonly record: RetrievalRecord;
  /** The receipt as canonical JSON. */
  readonly text: string;
  /** SHA-256 of `text`, 64 lower-case hex digits. */
  readonly checksum: string;
  readonly createdAt: Instant;
};

/** One reason in plain words. A text about another memory ends where its id belongs. */
export type Reason = { readonly text: string; readonly memory: Uuid | undefined };

/** A memory in the context and why it is there. */
export type ExplainedRecord = {
  /** From 1, in the order of the context. */
  readonly place: number;
  readonly nodeId: Uuid;
  readonly section: SectionName;
  /** From 1 among the results. */
  readonly rank: number;
  readonly score: number;
  readonly representation: RepresentationLevel;
  readonly tokenCost: number;
  readonly reasons: readonly Reason[];
};

/** A candidate that is not in the context, and why. */
export type ExplainedExclusion = {
  readonly nodeId: Uuid;
  readonly stage: "packing" | "selection" | "filter";
  /** As recorded, for example `result_limit`. */
  readonly code: string;
  /** Rank only for results, score only for scored candidates. */
  readonly rank: number | undefined;
  readonly score: number | undefined;
  readonly reason: Reason;
};

/** Why a context contains what it contains, without any text of memories. */
export type Explanation = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly query: string;
  readonly intent: QueryIntent;
  /** The moment used as the present. */
  readonly referenceTime: Instant;
  readonly createdAt: Instant;
  /** `lean`: of the receipt; some reasons and candidates outside the context are missing. */
  readonly detail: ReceiptDetail;
  /** The filters of the request, in plain words; empty: none. */
  readonly filters: readonly string[];
  readonly searches: readonly {
    readonly name: string;
    readonly found: number;
    /** A category; undefined if the search succeeded. */
    readonly failure: string | undefined;
  }[];
  /** Anything unusual, in plain words. */
  readonly notes: readonly string[];
  readonly tokensUsed: number;
  /** Tokens available for records: the budget minus the caller's own frame. */
  readonly tokensAvailable: number;
  readonly inContext: readonly ExplainedRecord[];
  /** Results that were not packed, in rank order, then what selection excluded, then what filters excluded. */
  readonly notInContext: readonly ExplainedExclusion[];
};

export type ExplainedAnswer = { readonly receipt: KeptReceipt; readonly explanation: Explanation };

export const CITATION_METHODS = [
  "model_reported",
  "application_verified",
  "human_verified",
] as const;
export type CitationMethod = (typeof CITATION_METHODS)[number];

export const citationsForm = f.named("AnswerCitations", "Which memories an answer was made from.", {
  schemaVersion: f.constant(1),
  citationId: f.uuid,
  requestId: f.uuid,
  answerId: f.text,
  citedNodeIds: f.list(f.uuid),
  answerSha256: f.nullable(f.text),
  method: f.member(CITATION_METHODS),
  userId: f.text,
  recordedAt: f.instant,
  receiptChecksum: f.noted(f.text, { description: "Of the receipt that vouches for them." }),
  contextSha256: f.noted(f.text, { description: "Of the context that the answer was made from." }),
});

/** A recorded citation report. It changes neither memories nor ranking. */
export type AnswerCitations = f.ValueOf<typeof citationsForm>;
