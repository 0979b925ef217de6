import { z } from "zod";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
  VisibleBinding,
} from "../../../engine/retrieve/api.ts";
import { count, fidelity, orNull, uuidOut } from "../core/fields.ts";
import { nodeSchema, toNodeWire } from "../nodes/wire.ts";
import { provenanceSchema, toProvenanceWire, toTraceWire, traceSchema } from "./score-wire.ts";

const packedRecordSchema = z
  .strictObject({
    node: nodeSchema,
    paths: z.array(z.string()).meta({ description: "How it was found." }),
    path_count: count,
    semantic_score: z.number().nullable().meta({ description: "Its own cosine." }),
    lexical_score: z.number().nullable().meta({ description: "Its own BM25, rescaled." }),
    graph_proximity: z.number(),
    composite_score: z.number(),
    semantic_relevance: z.number().optional(),
    session_context_link: z
      .strictObject({ trigger_id: uuidOut, offset: z.int() })
      .optional()
      .meta({ description: "Beside which memory of its conversation it stands." }),
    reranker_score: z.number().nullable(),
    score_trace: orNull(traceSchema),
    score_provenance: provenanceSchema,
    representation: fidelity,
    token_cost: count,
    rendered_text: z.string(),
    conflict_flag: z.boolean().meta({ description: "Another memory contradicts it." }),
    contradicts_id: uuidOut.nullable(),
  })
  .meta({ id: "PackedRecord" });

/** `m1`, `m2`, ... of the records in a context. */
export const contextReferencesSchema = z
  .record(z.string(), uuidOut)
  .meta({ description: "The memory behind each short reference of the context." });

export const bundleSchema = z
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
    coverage_notice: z.string().nullable(),
    context_guidance: z.string().nullable(),
    context_format: z.enum(["auditable", "compact", "reader"]),
    context_references: contextReferencesSchema,
  })
  .meta({ id: "MemoryBundle" });

export const bindingSchema = z
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

/** The wire form of a context and its records. */
export function toBundleWire(bundle: MemoryBundle): z.infer<typeof bundleSchema> {
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
    coverage_notice: bundle.coverageNotice ?? null,
    context_guidance: bundle.contextGuidance ?? null,
    context_format: bundle.contextFormat,
    context_references: Object.fromEntries(bundle.contextReferences),
  };
}

/** The wire form of a value binding whose short form is visible in the context. */
export function toBindingWire(binding: VisibleBinding): z.infer<typeof bindingSchema> {
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

/** Its relevance, unless it was scored by a formula that knows none. */
export function relevanceOf(candidate: ResultCandidate): number | undefined {
  return candidate.provenance.formulaVersion === 1 ? undefined : candidate.semanticRelevance;
}

function toRecordWire(record: PackedRecord): z.infer<typeof packedRecordSchema> {
  const { candidate } = record;
  const relevance = relevanceOf(candidate);
  return {
    node: toNodeWire(candidate.node),
    paths: [...candidate.paths],
    path_count: candidate.pathCount,
    semantic_score: candidate.semanticScore ?? null,
    lexical_score: candidate.lexicalScore ?? null,
    graph_proximity: candidate.graphProximity,
    composite_score: candidate.compositeScore,
    ...(relevance !== undefined && { semantic_relevance: relevance }),
    ...toLinkWire(candidate),
    reranker_score: candidate.rerankerScore ?? null,
    score_trace: candidate.trace === undefined ? null : toTraceWire(candidate.trace),
    score_provenance: toProvenanceWire(candidate.provenance),
    representation: record.representation,
    token_cost: record.tokenCost,
    rendered_text: record.renderedText,
    conflict_flag: candidate.conflictFlag,
    contradicts_id: candidate.contradictsId ?? null,
  };
}

function toLinkWire({ sessionLink }: ResultCandidate) {
  if (sessionLink === undefined) return {};
  return {
    session_context_link: { trigger_id: sessionLink.triggerId, offset: sessionLink.offset },
  };
}
