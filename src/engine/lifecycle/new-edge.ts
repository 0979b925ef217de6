import type { Edge } from "../../domain/edge.ts";
import type { EdgeType } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** The id of the edge that an operation creates. */
export function edgeIdOf(operationId: Uuid): Uuid {
  return uuidV5(operationId, "edge");
}

/** The edge that an operation creates between two memories of one owner; its confidence is 1, and it is valid from now on. */
export function edgeOf(
  operation: {
    readonly operationId: Uuid;
    readonly evidenceId: Uuid | undefined;
    readonly at: Instant;
  },
  edgeType: EdgeType,
  source: MemoryNode,
  target: MemoryNode,
): Edge {
  return {
    id: edgeIdOf(operation.operationId),
    userId: source.userId,
    sourceId: source.id,
    targetId: target.id,
    edgeType,
    confidence: 1,
    validFrom: operation.at,
    validTo: undefined,
    provenanceEventId: operation.evidenceId,
    metadata: undefined,
    createdAt: operation.at,
  };
}
