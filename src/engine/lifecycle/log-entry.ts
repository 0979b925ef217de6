import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";

/** The audit record of a change to a memory; its namespace is the memory's scope. */
export function logEntry(
  opType: string,
  node: MemoryNode,
  entry: {
    readonly id: Uuid;
    readonly actorId: string;
    readonly at: Instant;
    readonly payload: JsonObject;
  },
): AuditRecord {
  return {
    id: entry.id,
    opType,
    targetId: node.id,
    payload: entry.payload,
    actorId: entry.actorId,
    namespaceId: node.scope,
    createdAt: entry.at,
  };
}
