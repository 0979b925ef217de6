import { z } from "zod";
import type {
  AssertionState,
  StateConflict,
  StateEntry,
  StateValue,
} from "../../../engine/aggregate/api.ts";
import {
  count,
  epistemicType,
  instantOut,
  lifecycleState,
  nodeType,
  sourceType,
  unit,
  uuidOut,
} from "../core/fields.ts";
import { stateQuerySchema, toStateQueryWire } from "./query-wire.ts";
import { coverage, exclusions, toCoverageWire } from "./wire.ts";

const valueSchema = z
  .strictObject({
    object: z.string(),
    polarity: z.string(),
    normalized_object: z.string(),
    normalized_polarity: z.string(),
    candidate_count: count,
    evidence_count: count,
    sample_node_ids: z.array(uuidOut),
    sample_evidence_refs: z.array(uuidOut),
    samples_truncated: z.boolean(),
  })
  .meta({ id: "StateValue" });

const entrySchema = z
  .strictObject({
    node_id: uuidOut,
    node_type: nodeType,
    content: z.string(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    polarity: z.string(),
    epistemic_type: epistemicType,
    source_type: sourceType,
    lifecycle_state: lifecycleState,
    confidence: unit,
    event_time: instantOut.nullable(),
    created_at: instantOut,
    updated_at: instantOut,
    valid_from: instantOut,
    valid_to: instantOut.nullable(),
    superseded_by: uuidOut.nullable(),
    evidence_refs: z.array(uuidOut),
    contradiction_node_ids: z.array(uuidOut),
    current_candidate: z.boolean(),
    exclusion_reasons: z.array(z.string()),
  })
  .meta({ id: "StateEntry" });

const conflictSchema = z
  .strictObject({
    edge_id: uuidOut,
    source_node_id: uuidOut,
    target_node_id: uuidOut,
    confidence: unit,
    evidence_ref: uuidOut.nullable(),
    created_at: instantOut,
    valid_from: instantOut,
    valid_to: instantOut.nullable(),
    active_between_current_candidates: z.boolean(),
  })
  .meta({ id: "StateConflict" });

export const assertionStateSchema = z
  .strictObject({
    schema_version: z.literal(1),
    user_id: z.string(),
    query: stateQuerySchema,
    normalized_subject: z.string(),
    normalized_predicate: z.string(),
    status: z.enum(["unknown", "single", "consistent", "multiple", "contested"]),
    scanned_nodes: count,
    matched_records: count,
    current_candidate_count: count,
    current_values: z.array(valueSchema),
    current_values_truncated: z.boolean(),
    current_candidates: z.array(entrySchema),
    current_candidates_truncated: z.boolean(),
    timeline: z.array(entrySchema),
    timeline_truncated: z.boolean(),
    conflicts: z.array(conflictSchema),
    conflict_count: count,
    conflicts_truncated: z.boolean(),
    exclusions,
    ...coverage,
    semantic_equivalence: z.literal("normalized_exact_only"),
    validity_semantics: z.literal("valid_from_inclusive_valid_to_exclusive"),
    lifecycle_semantics: z.literal("current_graph_state"),
    state_semantics: z.literal("eligible_claims_not_verified_truth"),
    current_candidate_order: z.literal("confidence_then_ingestion_desc"),
    timeline_order: z.literal("validity_then_ingestion_ascending"),
    historical_coverage: z
      .strictObject({
        knowledge_at: instantOut,
        semantics: z.literal("ingestion_cutoff"),
        exact_snapshot: z.literal(false),
        limitations: z.array(z.string()),
      })
      .nullable()
      .meta({ description: "With knowledge_at: what the cutoff does not undo." }),
  })
  .meta({
    id: "AssertionState",
    description: "What is claimed about a subject, never which claim is true.",
  });

/** The wire form of the state of a claim. */
export function toStateWire(state: AssertionState): z.infer<typeof assertionStateSchema> {
  const historical = state.historicalCoverage;
  return {
    schema_version: state.schemaVersion,
    user_id: state.userId,
    query: toStateQueryWire(state.query),
    normalized_subject: state.normalizedSubject,
    normalized_predicate: state.normalizedPredicate,
    status: state.status,
    scanned_nodes: state.scannedNodes,
    matched_records: state.matchedRecords,
    current_candidate_count: state.currentCandidateCount,
    current_values: state.currentValues.map(toValueWire),
    current_values_truncated: state.currentValuesTruncated,
    current_candidates: state.currentCandidates.map(toEntryWire),
    current_candidates_truncated: state.currentCandidatesTruncated,
    timeline: state.timeline.map(toEntryWire),
    timeline_truncated: state.timelineTruncated,
    conflicts: state.conflicts.map(toConflictWire),
    conflict_count: state.conflictCount,
    conflicts_truncated: state.conflictsTruncated,
    exclusions: { ...state.exclusions },
    ...toCoverageWire(state),
    semantic_equivalence: state.semanticEquivalence,
    validity_semantics: state.validitySemantics,
    lifecycle_semantics: state.lifecycleSemantics,
    state_semantics: state.stateSemantics,
    current_candidate_order: state.currentCandidateOrder,
    timeline_order: state.timelineOrder,
    historical_coverage:
      historical === undefined
        ? null
        : {
            knowledge_at: historical.knowledgeAt,
            semantics: historical.semantics,
            exact_snapshot: historical.exactSnapshot,
            limitations: [...historical.limitations],
          },
  };
}

function toValueWire(value: StateValue): z.infer<typeof valueSchema> {
  return {
    object: value.object,
    polarity: value.polarity,
    normalized_object: value.normalizedObject,
    normalized_polarity: value.normalizedPolarity,
    candidate_count: value.candidateCount,
    evidence_count: value.evidenceCount,
    sample_node_ids: [...value.sampleNodeIds],
    sample_evidence_refs: [...value.sampleEvidenceRefs],
    samples_truncated: value.samplesTruncated,
  };
}

function toEntryWire(entry: StateEntry): z.infer<typeof entrySchema> {
  return {
    node_id: entry.nodeId,
    node_type: entry.nodeType,
    content: entry.content,
    subject: entry.subject,
    predicate: entry.predicate,
    object: entry.object,
    polarity: entry.polarity,
    epistemic_type: entry.epistemicType,
    source_type: entry.sourceType,
    lifecycle_state: entry.lifecycleState,
    confidence: entry.confidence,
    event_time: entry.eventTime ?? null,
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    valid_from: entry.validFrom,
    valid_to: entry.validTo ?? null,
    superseded_by: entry.supersededBy ?? null,
    evidence_refs: [...entry.evidenceRefs],
    contradiction_node_ids: [...entry.contradictionNodeIds],
    current_candidate: entry.currentCandidate,
    exclusion_reasons: [...entry.exclusionReasons],
  };
}

function toConflictWire(conflict: StateConflict): z.infer<typeof conflictSchema> {
  return {
    edge_id: conflict.edgeId,
    source_node_id: conflict.sourceNodeId,
    target_node_id: conflict.targetNodeId,
    confidence: conflict.confidence,
    evidence_ref: conflict.evidenceRef ?? null,
    created_at: conflict.createdAt,
    valid_from: conflict.validFrom,
    valid_to: conflict.validTo ?? null,
    active_between_current_candidates: conflict.activeBetweenCurrentCandidates,
  };
}
