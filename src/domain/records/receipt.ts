import {
  anyObject,
  constant,
  count,
  decimal,
  dictionary,
  flag,
  instant,
  list,
  mapOf,
  member,
  named,
  noted,
  nullable,
  object,
  omitted,
  sha256,
  shownAs,
  text,
  through,
  trueOrOmitted,
  uuid,
  type ValueOf,
} from "../../lib/form.ts";
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

export const coverageForm = named(
  "AggregationCoverage",
  "Why the records may not be all of those that a count or a list needs.",
  {
    status: member(["semantic_candidates", "candidate_limited", "context_limited"]),
    exhaustive: constant(false),
    /** After expansion and filters, before selection. */
    candidateCount: count,
    selectedCount: count,
    contextCount: count,
    /** In a fixed order. */
    limitations: list(member(LIMITATIONS)),
    /** Searches that reached their limit. */
    candidateLimitPaths: list(text),
  },
);

/** What the records of an answer cover, for a question for a count or a complete list. */
export type Coverage = ValueOf<typeof coverageForm>;

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
  knowledgeAt: instant,
  semantics: member(["ingestion_cutoff", "state_then"]),
  exactSnapshot: constant(false),
  limitations: list(member([...SEMANTICS.ingestion_cutoff, ...SEMANTICS.state_then])),
};

export const historicalForm = noted(object(historical), {
  id: "HistoricalCoverage",
  description: "What an answer for an earlier moment is not.",
});

export type HistoricalCoverage = ValueOf<typeof historicalForm>;

/** What an answer for an earlier moment does not cover. Pure. */
export function historicalCoverage(knowledgeAt: Instant, semantics: Semantics): HistoricalCoverage {
  return { knowledgeAt, semantics, exactSnapshot: false, limitations: SEMANTICS[semantics] };
}

/** How the results are ordered; every order ends with ascending id. */
const RANKING_POLICIES = ["score_path_id", "reranked_prefix", "score_id"] as const;
export type RankingPolicy = (typeof RANKING_POLICIES)[number];

const candidate = object({
  nodeId: uuid,
  scope: member(SCOPES),
  /** SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
  contentSha256: sha256,
  score: decimal,
  /** Absent for an inherited score. */
  trace: noted(nullable(traceForm), { description: "Null for a score that was inherited." }),
  rerankerScore: nullable(decimal),
  /** Absent under weighted fusion. */
  semanticRelevance: omitted(decimal),
  /** Absent outside the context, where `tokenCost` is 0. */
  representation: nullable(member(REPRESENTATION_LEVELS)),
  tokenCost: count,
  inContext: flag,
  /** In the context with its own text: at full, prose or structured, and not blank. */
  hasContent: noted(flag, { description: "In the context with text of its own." }),
});

/** One result of a retrieval in its receipt. */
export type ReceiptCandidate = ValueOf<typeof candidate>;

const parameters = object({
  rankingMultipliers: nullable(multipliersForm),
  rankingProfile: object({
    status: shownAs(member(["none", "applied", "inapplicable", "request_override"]), text),
    profileId: nullable(text),
    reason: nullable(text),
  }),
  maxPerSource: nullable(count),
  maxPerEvidence: nullable(count),
  timeFrom: nullable(instant),
  timeTo: nullable(instant),
  knowledgeAt: nullable(instant),
  eventTimeFrom: nullable(instant),
  eventTimeTo: nullable(instant),
  includeCrossScope: flag,
  /** Sorted, like `sourceTypes`. */
  excludeNodeTypes: omitted(list(member(NODE_TYPES))),
  sourceTypes: omitted(list(member(SOURCE_TYPES))),
  epistemicWeights: through(
    dictionary(decimal),
    (weights: Readonly<Partial<Record<EpistemicType, number>>>) => weights,
    (weights) => weights,
  ),
  unverifiedConfidenceThreshold: decimal,
  aggregationCoverage: nullable(coverageForm),
  historicalCoverage: nullable(historicalForm),
  temporalRelation: nullable(anyObject),
  temporalLanguages: list(text),
  /** Absent if default. */
  queryIntentOrder: omitted(constant("temporal_first")),
  /** Absent without a reranker. */
  rerankerTopK: nullable(count),
  /** Absent if default. */
  rerankerPriorWeight: omitted(decimal),
  queryReformulation: object({
    enabled: flag,
    count: nullable(count),
    provider: nullable(text),
    model: nullable(text),
    /** Absent if default. */
    mergePolicy: omitted(constant("max_signals")),
  }),
});

export type ReceiptParameters = ValueOf<typeof parameters>;

/** A full receipt as canonical JSON: keys in the order of this declaration, no blanks, shortest numbers. */
export const receiptForm = object({
  /** Determines which settings the receipt must state. */
  schemaVersion: count,
  requestId: uuid,
  userId: text,
  query: text,
  referenceTime: instant,
  scopes: nullable(list(member(SCOPES))),
  scoring: weightsForm,
  packing: packingForm,
  /** SHA-256 of the rendered context, 64 lower-case hex digits. */
  contextSha256: sha256,
  minScore: nullable(decimal),
  minScoreSkipped: trueOrOmitted,
  resultLimit: nullable(count),
  retrievalMode: member(RETRIEVAL_MODES),
  timeFrom: nullable(instant),
  timeTo: nullable(instant),
  candidates: noted(list(candidate), { description: "The results, in rank order." }),
  /** One for each candidate, in their order. */
  scoreProvenance: through(
    mapOf(provenanceForm),
    (map: ReadonlyMap<Uuid, ScoreProvenance>) => map,
    (map) => new Map(Array.from(map, ([id, provenance]) => [asUuid(id), provenance])),
  ),
  rankingPolicy: member(RANKING_POLICIES),
  execution: object({
    schemaVersion: constant(1),
    parameters,
    /** Identity of the running code: names and versions. */
    features: noted(dictionary(text), { description: "Names and versions of what ran." }),
  }),
});

/** Everything that determined an answer, so that scores and order can be recomputed from it alone. */
export type RetrievalReceipt = ValueOf<typeof receiptForm>;

/** How much of an answer is kept. */
export const RECEIPT_DETAILS = ["lean", "full"] as const;
export type ReceiptDetail = (typeof RECEIPT_DETAILS)[number];

const leanCandidate = object({
  nodeId: uuid,
  rank: noted(count, { description: "From 1, among the results. Only in a lean receipt." }),
  /** To six digits. */
  score: decimal,
  representation: nullable(member(REPRESENTATION_LEVELS)),
  tokenCost: count,
  inContext: flag,
  hasContent: flag,
  reasons: noted(omitted(list(object({ text, memory: omitted(uuid) }))), {
    description: "Why it has its score, in plain words. Only in a lean receipt, of the first.",
  }),
});

/** The content of a lean receipt: enough to explain and cite an answer and to repeat the question, not enough to recompute it. */
export const leanForm = object({
  detail: noted(constant("lean"), {
    description:
      "lean: scores, settings, and what did not come into the answer were not kept. Absent: all was.",
  }),
  requestId: uuid,
  userId: text,
  query: text,
  referenceTime: instant,
  scopes: omitted(list(member(SCOPES))),
  packing: object({
    tokenBudget: count,
    minFidelity: member(REPRESENTATION_LEVELS),
    overheadTokens: count,
  }),
  contextSha256: sha256,
  minScore: omitted(decimal),
  minScoreSkipped: trueOrOmitted,
  resultLimit: omitted(count),
  retrievalMode: member(RETRIEVAL_MODES),
  timeFrom: omitted(instant),
  timeTo: omitted(instant),
  fusion: noted(member(["weighted", "rrf", "relative", "adaptive"]), {
    description: "How signals became scores. Only in a lean receipt.",
  }),
  resultCount: noted(count, { description: "All results. Only in a lean receipt." }),
  /** In rank order: those in the context, and the first of the others. */
  candidates: list(leanCandidate),
  execution: object({
    parameters: object({
      rankingMultipliers: omitted(multipliersForm),
      maxPerSource: omitted(count),
      maxPerEvidence: omitted(count),
      knowledgeAt: omitted(instant),
      eventTimeFrom: omitted(instant),
      eventTimeTo: omitted(instant),
      includeCrossScope: flag,
      excludeNodeTypes: omitted(list(member(NODE_TYPES))),
      sourceTypes: omitted(list(member(SOURCE_TYPES))),
    }),
  }),
});
export type LeanReceipt = ValueOf<typeof leanForm>;
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
export type Reason = {
  readonly text: string;
  readonly memory: Uuid | undefined;
};

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

export const citationsForm = named("AnswerCitations", "Which memories an answer was made from.", {
  schemaVersion: constant(1),
  citationId: uuid,
  requestId: uuid,
  answerId: text,
  citedNodeIds: list(uuid),
  answerSha256: nullable(text),
  method: member(CITATION_METHODS),
  userId: text,
  recordedAt: instant,
  receiptChecksum: noted(text, { description: "Of the receipt that vouches for them." }),
  contextSha256: noted(text, { description: "Of the context that the answer was made from." }),
});

/** A recorded citation report. It changes neither memories nor ranking. */
export type AnswerCitations = ValueOf<typeof citationsForm>;
