import type { JsonObject } from "../lib/json.ts";
import type { Edge } from "./edge.ts";

/** A complete edge as JSON, as audit records keep it: the names of its members, null where there is nothing. */
export function toEdgeRecord(edge: Edge): JsonObject {
  return {
    id: edge.id,
    userId: edge.userId,
    sourceId: edge.sourceId,
    targetId: edge.targetId,
    edgeType: edge.edgeType,
    confidence: edge.confidence,
    validFrom: edge.validFrom,
    validTo: edge.validTo ?? null,
    provenanceEventId: edge.provenanceEventId ?? null,
    metadata: edge.metadata ?? null,
    createdAt: edge.createdAt,
  };
}
