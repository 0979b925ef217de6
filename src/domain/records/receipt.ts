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
  nullable,
  object,
  omitted,
  sha256,
  text,
  through,
  trueOrOmitted,
  uuid,
} from "../../lib/form.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import { noted, shownAs, type ValueOf } from "../../lib/view.ts";
import {
  type EpistemicType,
  NODE_TYPES,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  SCOPES,
  SOURCE_TYPES,
} from "../enums.ts";
import { coverageForm, historicalForm } from "./coverage.ts";
import { packingForm } from "./packing.ts";
import {
  multipliersForm,
  provenanceForm,
  type ScoreProvenance,
  traceForm,
  weightsForm,
} from "./score.ts";

/** By which rule the results are ordered; every order ends with the id, ascending. */
export const RANKING_POLICIES = ["score_path_id", "reranked_prefix", "score_id"] as const;
export type RankingPolicy = (typeof RANKING_POLICIES)[number];

const candidate = object({
  nodeId: uuid,
  scope: member(SCOPES),
  /** SHA-256 of the UTF-8 text, 64 lower-case hex digits. */
  contentSha256: sha256,
  score: decimal,
  /** Absent for a score that was inherited. */
  trace: noted(nullable(traceForm), { description: "Null for a score that was inherited." }),
  rerankerScore: nullable(decimal),
  /** Absent under weighted fusion. */
  semanticRelevance: omitted(decimal),
  /** Absent outside of the context, where `tokenCost` is 0. */
  representation: nullable(member(REPRESENTATION_LEVELS)),
  tokenCost: count,
  inContext: flag,
  /** In the context with text of its own: at full, prose or structured, and not blank. */
  hasContent: noted(flag, { description: "In the context with text of its own." }),
});

/** One result of a retrieval, as its receipt knows it. */
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
  /** Sorted, and so `sourceTypes`. */
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
  /** Absent where it is the default. */
  queryIntentOrder: omitted(constant("temporal_first")),
  /** Absent without a reranker. */
  rerankerTopK: nullable(count),
  /** Absent where it is the default. */
  rerankerPriorWeight: omitted(decimal),
  queryReformulation: object({
    enabled: flag,
    count: nullable(count),
    provider: nullable(text),
    model: nullable(text),
    /** Absent where it is the default. */
    mergePolicy: omitted(constant("max_signals")),
  }),
});

export type ReceiptParameters = ValueOf<typeof parameters>;

/** A full receipt as canonical JSON: keys in the order of this declaration, no blanks, shortest numbers. */
export const receiptForm = object({
  /** Says which settings the receipt must state. */
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
  /** The results in rank order. */
  candidates: noted(list(candidate), { description: "The results, in rank order." }),
  /** Of exactly the candidates, in their order. */
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

/** Everything that decided an answer, so that scores and order can be computed again from it alone. */
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

/** What a lean receipt keeps: enough to explain and cite an answer and to ask the question again, too little to compute it again. */
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

/** Whether a receipt keeps too little to compute the answer again. */
export function isLean(receipt: AnyReceipt): receipt is LeanReceipt {
  return "detail" in receipt;
}
