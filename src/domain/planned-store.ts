import type { JsonObject } from "../lib/json.ts";
import { uuidV5 } from "../lib/new-uuid.ts";
import type { Uuid } from "../lib/uuid.ts";
import { checksummed, openChecksummed } from "./checksummed.ts";
import { erasedBy } from "./erasure.ts";
import type { MemoryEvent } from "./event.ts";
import { type MemoryNode, nodeRecord } from "./node.ts";

/** What a store of one memory plans: an event, and the node that its job makes findable. */
export type PlannedStore = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  /** The memories that the node replaces. */
  readonly supersedes: readonly Uuid[];
};

/** The id of the audit record that keeps the plan of an event. */
export function planRecordId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:direct-store:v1");
}

/** The plan as the audit log keeps it, so that the job can be finished after a crash exactly as intended. */
export function toPlanRecord({ event, node, supersedes }: PlannedStore) {
  return {
    id: planRecordId(event.id),
    opType: "DIRECT_STORE_REQUESTED",
    targetId: event.id,
    payload: checksummed({
      schema_version: node.content === event.content ? 1 : 2,
      event_id: event.id,
      content_hash: event.contentHash,
      node: nodeRecord.to(node),
      ...(supersedes.length > 0 && { supersedes: [...supersedes] }),
    }),
    actorId: "store",
    namespaceId: event.scope,
    createdAt: event.timestamp,
  };
}

/**
 * What a record says of the plan. Its node names the owner as at that time. Undefined: it was erased.
 * @throws SvcError storage_failed when it is damaged
 */
export function fromPlanRecord(payload: JsonObject) {
  if (erasedBy(payload) !== undefined) return undefined;
  const saved = openChecksummed(payload);
  return {
    // SAFETY: the record's checksum matches, and toPlanRecord always writes the planned node into it.
    node: nodeRecord.from(saved["node"] as JsonObject),
    contentHash: saved["content_hash"],
    supersedes: [saved["supersedes"] ?? []].flat(),
  };
}
