import { z } from "zod";
import type { Edge } from "../../../domain/edge.ts";
import { EDGE_TYPES } from "../../../domain/enums.ts";
import type { Provenance } from "../../../engine/inspect/api.ts";
import { instantOut, metadata, unit, uuidOut } from "../core/fields.ts";
import { eventSchema, nodeSchema, toEventWire, toNodeWire } from "./wire.ts";

const operationSchema = z
  .strictObject({
    id: uuidOut,
    op_type: z.string(),
    target_id: z.string(),
    payload: z.record(z.string(), z.unknown()).meta({
      description: "As recorded: mostly record, a JSON text, and sha256, the hash of that text.",
    }),
    actor_id: z.string(),
    namespace_id: z.string().nullable(),
    created_at: instantOut,
  })
  .meta({ id: "OperationRecord", description: "One line of the audit log, written once." });

const edgeSchema = z
  .strictObject({
    id: uuidOut,
    source_id: uuidOut,
    target_id: uuidOut,
    edge_type: z.enum(EDGE_TYPES),
    user_id: z.string(),
    confidence: unit,
    valid_from: instantOut,
    valid_to: instantOut.nullable(),
    provenance_event_id: uuidOut.nullable(),
    metadata: metadata.nullable(),
    created_at: instantOut,
  })
  .meta({ id: "Edge", description: "A directed relation between two memories." });

export const provenanceSchema = z
  .strictObject({
    schema_version: z.literal(1),
    node: nodeSchema,
    evidence_events: z.array(eventSchema),
    missing_evidence_refs: z.array(uuidOut).meta({
      description: "Cited events that are missing, of another owner or of another scope.",
    }),
    operations: z.array(operationSchema).meta({ description: "Oldest first, one page." }),
    contradiction_edges: z.array(edgeSchema),
    next_operation_cursor: z.string().nullable().meta({ description: "Null on the last page." }),
  })
  .meta({ id: "Provenance", description: "Where a memory comes from and what was done to it." });

/** The wire form of a provenance. */
export function toProvenanceWire(provenance: Provenance): z.infer<typeof provenanceSchema> {
  return {
    schema_version: 1,
    node: toNodeWire(provenance.node),
    evidence_events: provenance.evidenceEvents.map(toEventWire),
    missing_evidence_refs: [...provenance.missingEvidenceRefs],
    operations: provenance.operations.map(toOperationWire),
    contradiction_edges: provenance.contradictionEdges.map(toEdgeWire),
    next_operation_cursor: provenance.nextOperationCursor ?? null,
  };
}

function toOperationWire(
  operation: Provenance["operations"][number],
): z.infer<typeof operationSchema> {
  return {
    id: operation.id,
    op_type: operation.opType,
    target_id: operation.targetId,
    payload: operation.payload,
    actor_id: operation.actorId,
    namespace_id: operation.namespaceId ?? null,
    created_at: operation.createdAt,
  };
}

function toEdgeWire(edge: Edge): z.infer<typeof edgeSchema> {
  return {
    id: edge.id,
    source_id: edge.sourceId,
    target_id: edge.targetId,
    edge_type: edge.edgeType,
    user_id: edge.userId,
    confidence: edge.confidence,
    valid_from: edge.validFrom,
    valid_to: edge.validTo ?? null,
    provenance_event_id: edge.provenanceEventId ?? null,
    metadata: edge.metadata ?? null,
    created_at: edge.createdAt,
  };
}
