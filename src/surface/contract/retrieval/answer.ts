import { z } from "zod";
import { STRENGTHS } from "../../../domain/strength.ts";
import type { ResultCandidate, RetrievalResponse } from "../../../engine/retrieve/api.ts";
import {
  count,
  epistemicType,
  instantOut,
  lifecycleState,
  metadata,
  nodeType,
  scope,
  sourceType,
  unit,
  uuidOut,
} from "../core/fields.ts";
import {
  bindingSchema,
  bundleSchema,
  contextReferencesSchema,
  relevanceOf,
  toBindingWire,
  toBundleWire,
} from "./bundle-wire.ts";
import { shownHits } from "./hits.ts";
import { metricsSchema, toMetricsWire } from "./metrics-wire.ts";
import type { FoldedHit } from "./repeated-hits.ts";

const relevance = z.number().optional().meta({
  description:
    "Cosine of this memory, or of the one that brought it; 0 to 1. Absent with weighted fusion.",
});

const marks = {
  strength: z.enum(STRENGTHS).optional().meta({
    description: "weak: merely the nearest there is, which mostly does not answer the question.",
  }),
  older_than: uuidOut.optional().meta({
    description: "A newer result that makes this one outdated. Absent: none was found.",
  }),
};

const resultItemSchema = z
  .strictObject({
    node_id: uuidOut,
    content: z.string(),
    score: z.number(),
    semantic_relevance: relevance,
    ...marks,
    node_type: nodeType,
    lifecycle_state: lifecycleState,
    confidence: unit,
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

const shortItemSchema = z.strictObject({
  node_id: uuidOut,
  content: z.string(),
  score: z.number(),
  node_type: nodeType,
  lifecycle_state: lifecycleState,
  confidence: unit,
  semantic_relevance: relevance,
  repeats: count.optional().meta({
    description: "Memories with this text, where there are several; the newest is shown.",
  }),
  ...marks,
});

export const retrieveAnswerSchema = z
  .strictObject({
    results: z.array(resultItemSchema),
    bundle: bundleSchema,
    value_bindings: z.array(bindingSchema),
    metrics: metricsSchema,
  })
  .meta({ id: "RetrieveAnswer" });

export const retrieveToolAnswerSchema = z.strictObject({
  results: z.array(shortItemSchema),
  count,
  metrics: metricsSchema.omit({ stages: true }),
  context: z.string().optional(),
  context_references: contextReferencesSchema.optional(),
  value_bindings: z.array(bindingSchema).optional(),
});

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

/**
 * The short answer, as MCP gives it: the hits that are shown, each text once, scores to four decimals, no times of stages,
 * the context on request.
 */
export function toRetrieveToolAnswer(
  response: RetrievalResponse,
  includeContext: boolean,
  limit?: number | null,
): z.infer<typeof retrieveToolAnswerSchema> {
  const { bundle, metadata } = response;
  const { hits } = shownHits(response.results, limit);
  const { stages: _stages, ...metrics } = toMetricsWire(metadata);
  const short = { results: hits.map(toShortItem), count: hits.length, metrics };
  if (!includeContext) return short;
  const references = Object.fromEntries(bundle.contextReferences);
  return {
    ...short,
    context: bundle.renderedContext,
    ...(bundle.contextReferences.size > 0 && {
      context_references: references,
    }),
    value_bindings: response.valueBindings.map(toBindingWire),
  };
}

function toMarks({ strength, olderThan }: ResultCandidate) {
  return {
    ...(strength !== undefined && { strength }),
    ...(olderThan !== undefined && { older_than: olderThan.nodeId }),
  };
}

function toResultItem(candidate: ResultCandidate): z.infer<typeof resultItemSchema> {
  const { node } = candidate;
  const own = relevanceOf(candidate);
  return {
    node_id: node.id,
    content: node.content,
    score: candidate.compositeScore,
    ...(own !== undefined && { semantic_relevance: own }),
    ...toMarks(candidate),
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

function toShortItem({ hit: candidate, repeats }: FoldedHit): z.infer<typeof shortItemSchema> {
  const { node } = candidate;
  const own = relevanceOf(candidate);
  return {
    node_id: node.id,
    content: node.content,
    score: fourDecimals(candidate.compositeScore),
    node_type: node.nodeType,
    lifecycle_state: node.lifecycleState,
    confidence: node.confidence,
    ...(own !== undefined && { semantic_relevance: fourDecimals(own) }),
    ...(repeats > 1 && { repeats }),
    ...toMarks(candidate),
  };
}

function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
