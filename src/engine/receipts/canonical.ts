import {
  NODE_TYPES,
  QUERY_INTENTS,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  SCOPES,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import type { RankingMultipliers } from "../../domain/scoring.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Json } from "../../lib/json.ts";
import { asUuid } from "../../lib/uuid.ts";
import {
  CANDIDATE_PATHS,
  type Coverage,
  type CoverageLimitation,
  type HistoricalCoverage,
  type SectionName,
} from "../retrieve/api.ts";
import { CONTEXT_FORMATS, GUIDANCE_MODES, MULTIPATH_ORDERINGS } from "../settings.ts";
import {
  type FilteredOut,
  type NotPacked,
  PACKING_REASONS,
  RANKING_POLICIES,
  type ReceiptCandidate,
  type ReceiptPacking,
  type ReceiptParameters,
  type RetrievalReceipt,
  type RetrievalRecord,
  type SelectedOut,
} from "./api.ts";
import {
  anyObject,
  byLiteral,
  constant,
  count,
  decimal,
  dictionary,
  type Form,
  FormError,
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
} from "./form.ts";
import { provenanceForm, traceForm, weightsForm } from "./score-forms.ts";

/** Every section of a context. */
export const SECTION_NAMES = [
  "entity_snapshots",
  "stable_facts",
  "recent_decisions",
  "active_tasks",
  "provenance_refs",
  "contested_claims",
  "system_instructions",
  "summaries",
] as const satisfies readonly SectionName[];

const LIMITATIONS = [
  "semantic_matching",
  "candidate_limit",
  "backend_failure",
  "score_floor",
  "result_limit",
  "token_budget",
] as const satisfies readonly CoverageLimitation[];

const packing: Form<ReceiptPacking> = object<ReceiptPacking>({
  multipathOrdering: member(MULTIPATH_ORDERINGS),
  contextGuidanceMode: member(GUIDANCE_MODES),
  contextFormat: member(CONTEXT_FORMATS),
  contextCitations: omitted(flag),
  tokenBudget: count,
  tokenizer: text,
  minFidelity: member(REPRESENTATION_LEVELS),
  overheadTokens: count,
  charsPerToken: decimal,
  graphMaxCandidates: count,
  vectorK: count,
  lexicalK: count,
  graphMaxHops: count,
  crossScopeTopN: count,
  crossScopeTokenBudget: count,
  sessionContextWindow: count,
  sessionContextTopK: count,
  sessionContextScoreDecay: decimal,
  sessionContextRankFusionScoreDecay: omitted(decimal),
  sessionContextPacking: omitted(member(["trigger_tier", "adjacent"])),
  foldRepeatedText: omitted(constant(true)),
  episodeContextTopK: count,
  episodeContextLocalK: count,
  episodeContextScoreDecay: decimal,
  evidenceProjectionTopK: count,
  evidenceProjectionMaxSources: count,
  evidenceProjectionScoreDecay: decimal,
  evidenceAugmentationTopK: count,
  evidenceAugmentationMaxSources: count,
  evidenceAugmentationScoreDecay: decimal,
  evidenceAugmentationAnchorPolicy: member(["all", "non_entity"]),
  aggregationKMultiplier: decimal,
  aggregationKMax: count,
});

const candidate: Form<ReceiptCandidate> = byLiteral(
  object<ReceiptCandidate>({
    nodeId: uuid,
    scope: member(SCOPES),
    contentSha256: sha256,
    score: decimal,
    trace: nullable(traceForm),
    rerankerScore: nullable(decimal),
    semanticRelevance: omitted(decimal),
    representation: nullable(member(REPRESENTATION_LEVELS)),
    tokenCost: count,
    inContext: flag,
    hasContent: flag,
  }),
  (one) => {
    const signals = {
      node_id: one.nodeId,
      scope: one.scope,
      content_sha256: one.contentSha256,
      score: decimal.json(one.score),
      trace: one.trace === undefined ? null : traceForm.json(one.trace),
      reranker_score: one.rerankerScore ?? null,
    };
    const packing = {
      representation: one.representation ?? null,
      token_cost: count.json(one.tokenCost),
      in_context: one.inContext,
      has_content: one.hasContent,
    };
    return one.semanticRelevance === undefined
      ? { ...signals, ...packing }
      : { ...signals, semantic_relevance: decimal.json(one.semanticRelevance), ...packing };
  },
);

const coverage: Form<Coverage> = object<Coverage>({
  status: member(["semantic_candidates", "candidate_limited", "context_limited"]),
  exhaustive: constant(false),
  candidateCount: count,
  selectedCount: count,
  contextCount: count,
  limitations: list(member(LIMITATIONS)),
  candidateLimitPaths: list(text),
});

const HISTORICAL_LIMITATIONS = [
  "current_lifecycle_state",
  "current_derived_indexes",
  "mutations_not_replayed",
] as const;

const historical: Form<HistoricalCoverage> = object<HistoricalCoverage>({
  knowledgeAt: instant,
  semantics: constant("ingestion_cutoff"),
  exactSnapshot: constant(false),
  limitations: through(
    list(text),
    (limitations) => limitations,
    (limitations, path) => {
      if (limitations.join() === HISTORICAL_LIMITATIONS.join()) return HISTORICAL_LIMITATIONS;
      throw new FormError(`${path}: is not ${HISTORICAL_LIMITATIONS.join(", ")}`);
    },
  ),
});

const parameters: Form<ReceiptParameters> = object<ReceiptParameters>({
  rankingMultipliers: nullable(
    object<RankingMultipliers>({
      semantic: decimal,
      lexical: decimal,
      graph: decimal,
      recency: decimal,
      salience: decimal,
      confidence: decimal,
    }),
  ),
  rankingProfile: object<ReceiptParameters["rankingProfile"]>({
    status: member(["none", "applied", "inapplicable", "request_override"]),
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
  excludeNodeTypes: omitted(list(member(NODE_TYPES))),
  sourceTypes: omitted(list(member(SOURCE_TYPES))),
  epistemicWeights: dictionary(decimal),
  unverifiedConfidenceThreshold: decimal,
  aggregationCoverage: nullable(coverage),
  historicalCoverage: nullable(historical),
  temporalRelation: nullable(anyObject),
  temporalLanguages: list(text),
  queryIntentOrder: omitted(constant("temporal_first")),
  rerankerTopK: nullable(count),
  rerankerPriorWeight: omitted(decimal),
  queryReformulation: object<ReceiptParameters["queryReformulation"]>({
    enabled: flag,
    count: nullable(count),
    provider: nullable(text),
    model: nullable(text),
    mergePolicy: omitted(constant("max_signals")),
  }),
});

/** A receipt as canonical JSON: keys in the order of this declaration, no blanks, shortest numbers. */
export const receiptForm: Form<RetrievalReceipt> = object<RetrievalReceipt>({
  schemaVersion: count,
  requestId: uuid,
  userId: text,
  query: text,
  referenceTime: instant,
  scopes: nullable(list(member(SCOPES))),
  scoring: weightsForm,
  packing,
  contextSha256: sha256,
  minScore: nullable(decimal),
  minScoreSkipped: trueOrOmitted,
  resultLimit: nullable(count),
  retrievalMode: member(RETRIEVAL_MODES),
  timeFrom: nullable(instant),
  timeTo: nullable(instant),
  candidates: list(candidate),
  scoreProvenance: through(
    mapOf(provenanceForm),
    (map) => map,
    (map) => new Map(Array.from(map, ([id, provenance]) => [asUuid(id), provenance])),
  ),
  rankingPolicy: member(RANKING_POLICIES),
  execution: object<RetrievalReceipt["execution"]>({
    schemaVersion: constant(1),
    parameters,
    features: dictionary(text),
  }),
});

const OUTCOMES = ["applied", "timeout", "failed"] as const;

/** What stands beside a receipt, in the same form. */
export const recordForm: Form<RetrievalRecord> = object<RetrievalRecord>({
  intent: member(QUERY_INTENTS),
  queryTimeFrom: nullable(instant),
  queryTimeTo: nullable(instant),
  candidatesGenerated: dictionary(count),
  candidatesFiltered: count,
  candidatesIncluded: count,
  backendsUsed: list(text),
  embeddingMismatch: flag,
  backendFailures: dictionary(text),
  reranker: nullable(member(OUTCOMES)),
  reformulation: nullable(member(OUTCOMES)),
  tokensUsed: count,
  scoringConfigVersion: text,
  crossScopeHintCount: count,
  paths: list(list(member(CANDIDATE_PATHS))),
  context: list(
    object<RetrievalRecord["context"][number]>({ nodeId: uuid, section: member(SECTION_NAMES) }),
  ),
  notPacked: list(
    object<NotPacked>({
      nodeId: uuid,
      reason: member(PACKING_REASONS),
      foldedInto: nullable(uuid),
    }),
  ),
  filteredOut: list(object<FilteredOut>({ nodeId: uuid, reason: text })),
  selectedOut: list(
    object<SelectedOut>({
      nodeId: uuid,
      reason: text,
      score: decimal,
      semanticRelevance: omitted(decimal),
    }),
  ),
});

/** A receipt as canonical JSON. @throws FormError for a number that JSON does not have */
export function receiptText(receipt: RetrievalReceipt): string {
  return JSON.stringify(receiptForm.json(receipt));
}

/** SHA-256 of canonical JSON, 64 lower-case hex digits: what a receipt is known by. */
export function receiptChecksum(canonical: string): string {
  return sha256Hex(canonical);
}

/**
 * Reads canonical JSON: no key too many or too few, none out of place, no number written otherwise.
 * @throws FormError naming the place
 */
export function parseReceipt(canonical: string): RetrievalReceipt {
  const receipt = receiptForm.read(parseJson(canonical), "receipt");
  if (receiptText(receipt) !== canonical) throw new FormError("receipt: is not canonical");
  return receipt;
}

function parseJson(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    throw new FormError("receipt: is not JSON");
  }
}
