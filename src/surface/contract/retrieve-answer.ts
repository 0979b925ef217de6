import { z } from "zod";
import { QUERY_INTENTS } from "../../domain/enums.ts";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
  RetrievalMetadata,
  RetrievalResponse,
  VisibleBinding,
} from "../../engine/results.ts";
import {
  count,
  epistemicType,
  fidelity,
  instantOut,
  lifecycleState,
  metadata,
  nodeType,
  scope,
  sourceType,
  unit,
  uuidOut,
} from "./fields.ts";
import { nodeSchema, toNodeWire } from "./node-wire.ts";

const itemHead = {
  node_id: uuidOut,
  content: z.string(),
  score: z.number(),
  semantic_relevance: z.number().optional().meta({ description: "Cosine, 0 to 1." }),
  node_type: nodeType,
  lifecycle_state: lifecycleState,
  confidence: unit,
};

const resultItemSchema = z
  .strictObject({
    ...itemHead,
    salience: unit,
    epistemic_type: epistemicType,
    source_type: sourceType,
    scope,
    session_id: z.string().nullable(),
    event_time: instantOut.nullable(),
    valid_from: instantOut,
    valid_to: instantOut.nullable(),
    evidence_refs: z.array(uuidOut),
    metadata: metadata.nullable(),
  })
  .meta({ id: "RetrieveResult" });

const packedRecordSchema = z
  .strictObject({
    node: nodeSchema,
    paths: z.array(z.string()),
    path_count: count,
    semantic_score: z.number().nullable(),
    lexical_score: z.number().nullable(),
    graph_proximity: z.number().nullable(),
    composite_score: z.number(),
    semantic_relevance: z.number(),
    representation: fidelity,
    token_cost: count,
    rendered_text: z.string(),
  })
  .meta({ id: "PackedRecord" });

const bundleSchema = z
  .strictObject({
    sections: z.record(z.string(), z.array(packedRecordSchema)),
    included_count: count,
    excluded_ids: z.array(uuidOut),
    tokens_used: count,
    token_budget: count,
    budget_remaining: z.int(),
    min_fidelity: fidelity,
    rendered_context: z.string(),
    tokenizer: z.string(),
    context_format: z.string(),
  })
  .meta({ id: "MemoryBundle" });

const metricsSchema = z
  .strictObject({
    request_id: uuidOut,
    reference_time: instantOut,
    intent: z.enum(QUERY_INTENTS),
    candidates_generated: z.record(z.string(), count),
    candidates_filtered: count,
    candidates_included: count,
    min_score: z.number().nullable(),
    min_score_skipped: z.boolean(),
    result_limit: count.nullable(),
    scoring_config_version: z.string(),
    timing_ms: z.number(),
    stages: z.array(
      z.strictObject({ stage: z.string(), timing_ms: z.number(), input: count, output: count }),
    ),
    backends_used: z.array(z.string()),
    embedding_mismatch: z.boolean(),
    backend_failures: z.record(z.string(), z.string()),
  })
  .meta({ id: "RetrievalMetrics" });

const bindingSchema = z
  .strictObject({
    context_ref: z.string(),
    node_id: uuidOut,
    reference: z.string(),
    kind: z.string(),
    presentation: z.string(),
    lookup: z.string(),
    lookup_authority: z.literal("caller"),
  })
  .meta({ id: "VisibleBinding" });

export const retrieveAnswerSchema = z
  .strictObject({
    results: z.array(resultItemSchema),
    bundle: bundleSchema,
    value_bindings: z.array(bindingSchema),
    metrics: metricsSchema,
  })
  .meta({ id: "RetrieveAnswer" });

export const retrieveToolAnswerSchema = z.strictObject({
  results: z.array(z.strictObject(itemHead)),
  count,
  metrics: metricsSchema,
  context: z.string().optional(),
  value_bindings: z.array(bindingSchema).optional(),
});

type ResultItemWire = z.infer<typeof resultItemSchema>;

/** The complete answer, as HTTP gives it. */
export function toRetrieveAnswer(
  response: RetrievalResponse,
): z.infer<typeof retrieveAnswerSchema> {
  return {
    results: response.results.map(toResultItem),
    bundle: toBundleWire(response.bundle),
    value_bindings: response.valueBindings.map(toBindingWire),
    metrics: toMetricsWire(response.metadata),
  };
}

/** The short answer, as MCP gives it: scores to four decimals, the context on request. */
export function toRetrieveToolAnswer(
  response: RetrievalResponse,
  includeContext: boolean,
): z.infer<typeof retrieveToolAnswerSchema> {
  const short = {
    results: response.results.map(toShortItem),
    count: response.results.length,
    metrics: toMetricsWire(response.metadata),
  };
  if (!includeContext) return short;
  return {
    ...short,
    context: response.bundle.renderedContext,
    value_bindings: response.valueBindings.map(toBindingWire),
  };
}

function toResultItem(candidate: ResultCandidate): ResultItemWire {
  const { node } = candidate;
  return {
    node_id: node.id,
    content: node.content,
    score: candidate.compositeScore,
    semantic_relevance: candidate.semanticRelevance,
    node_type: node.nodeType,
    lifecycle_state: node.lifecycleState,
    confidence: node.confidence,
    salience: node.salience,
    epistemic_type: node.epistemicType,
    source_type: node.sourceType,
    scope: node.scope,
    session_id: node.sessionId ?? null,
    event_time: node.eventTime ?? null,
    valid_from: node.validFrom,
    valid_to: node.validTo ?? null,
    evidence_refs: [...node.evidenceRefs],
    metadata: node.metadata ?? null,
  };
}

function toShortItem(
  candidate: ResultCandidate,
): z.infer<typeof retrieveToolAnswerSchema>["results"][number] {
  const { node } = candidate;
  return {
    node_id: node.id,
    content: node.content,
    score: fourDecimals(candidate.compositeScore),
    semantic_relevance: fourDecimals(candidate.semanticRelevance),
    node_type: node.nodeType,
    lifecycle_state: node.lifecycleState,
    confidence: node.confidence,
  };
}

function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function toBundleWire(bundle: MemoryBundle): z.infer<typeof bundleSchema> {
  const sections = [...bundle.sections].map(
    ([name, records]) => [name, records.map(toRecordWire)] as const,
  );
  return {
    sections: Object.fromEntries(sections),
    included_count: bundle.includedCount,
    excluded_ids: [...bundle.excludedIds],
    tokens_used: bundle.tokensUsed,
    token_budget: bundle.tokenBudget,
    budget_remaining: bundle.budgetRemaining,
    min_fidelity: bundle.minFidelity,
    rendered_context: bundle.renderedContext,
    tokenizer: bundle.tokenizer,
    context_format: bundle.contextFormat,
  };
}

function toRecordWire(record: PackedRecord): z.infer<typeof packedRecordSchema> {
  const { candidate } = record;
  return {
    node: toNodeWire(candidate.node),
    paths: [...candidate.paths],
    path_count: candidate.paths.length,
    semantic_score: candidate.trace?.semanticSimilarity ?? null,
    lexical_score: candidate.trace?.lexicalRelevance ?? null,
    graph_proximity: candidate.trace?.graphProximity ?? null,
    composite_score: candidate.compositeScore,
    semantic_relevance: candidate.semanticRelevance,
    representation: record.representation,
    token_cost: record.tokenCost,
    rendered_text: record.renderedText,
  };
}

function toMetricsWire(metrics: RetrievalMetadata): z.infer<typeof metricsSchema> {
  return {
    request_id: metrics.requestId,
    reference_time: metrics.referenceTime,
    intent: metrics.intent,
    candidates_generated: { ...metrics.candidatesGenerated },
    candidates_filtered: metrics.candidatesFiltered,
    candidates_included: metrics.candidatesIncluded,
    min_score: metrics.minScore ?? null,
    min_score_skipped: metrics.minScoreSkipped,
    result_limit: metrics.resultLimit ?? null,
    scoring_config_version: metrics.scoringConfigVersion,
    timing_ms: metrics.timingMs,
    stages: metrics.stages.map((trace) => ({
      stage: trace.stage,
      timing_ms: trace.timingMs,
      input: trace.input,
      output: trace.output,
    })),
    backends_used: [...metrics.backendsUsed],
    embedding_mismatch: metrics.embeddingMismatch,
    backend_failures: { ...metrics.backendFailures },
  };
}

function toBindingWire(binding: VisibleBinding): z.infer<typeof bindingSchema> {
  return {
    context_ref: binding.contextRef,
    node_id: binding.nodeId,
    reference: binding.reference,
    kind: binding.kind,
    presentation: binding.presentation,
    lookup: binding.lookup,
    lookup_authority: binding.lookupAuthority,
  };
}
