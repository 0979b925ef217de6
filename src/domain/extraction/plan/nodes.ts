import type { Instant } from "../../../lib/instant.ts";
import { uuidV5 } from "../../../lib/new-uuid.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Edge } from "../../edge.ts";
import type { EdgeType } from "../../enums.ts";
import type { MemoryEvent } from "../../event.ts";
import type { MemoryNode } from "../../node.ts";
import type { PlanContext } from "./context.ts";

/** The plan of an event, of which there is one for each revision. */
export function planIdOf({
  event,
  revision,
}: {
  readonly event: Pick<MemoryEvent, "id">;
  readonly revision: number;
}): Uuid {
  return uuidV5(event.id, `svc:derivation:v1:${revision}`);
}

/** The node that stands for an owner in a scope, by the name under which it was made. */
export function ownerReferenceId(userId: string, scope: string): Uuid {
  return uuidV5("url", JSON.stringify(["svc:owner-reference:v1", userId, scope]));
}

/** The form in which names of entities are compared. */
export function nameKey(text: string): string {
  return text.trim().toLowerCase();
}

/** What all new nodes of a plan have in common. */
export function newNode(
  { event, turn, now }: PlanContext,
  part: Pick<MemoryNode, "id" | "nodeType" | "content"> & Partial<MemoryNode>,
): MemoryNode {
  return {
    userId: event.userId,
    sessionId: event.sessionId,
    lifecycleState: "tentative",
    confidence: EXTRACTED_CONFIDENCE,
    salience: 0.5,
    confidenceBase: EXTRACTED_CONFIDENCE,
    salienceBase: 0.5,
    reinforcementBoost: 0,
    lastReinforcedAt: event.timestamp,
    decayProfile: "slow",
    epistemicType: "asserted",
    sourceType: "user_stated",
    scope: event.scope,
    metadata: undefined,
    createdAt: now,
    updatedAt: now,
    eventTime: undefined,
    validFrom: turn.at,
    validTo: undefined,
    ttlDays: undefined,
    supersededBy: undefined,
    evidenceRefs: [event.id],
    pinned: false,
    ...part,
  };
}

/** Of entities and edges that come out of a text. */
const EXTRACTED_CONFIDENCE = 0.5;

/** An edge of a plan. Two nodes have at most one of each type. */
export function newEdge(
  { event, now }: { readonly event: Pick<MemoryEvent, "id" | "userId">; readonly now: Instant },
  planId: Uuid,
  edgeType: EdgeType,
  [sourceId, targetId]: readonly [Uuid, Uuid],
): Edge {
  return {
    id: uuidV5(planId, `edge:${edgeType}:${sourceId}:${targetId}`),
    userId: event.userId,
    sourceId,
    targetId,
    edgeType,
    confidence: EXTRACTED_CONFIDENCE,
    validFrom: now,
    validTo: undefined,
    provenanceEventId: event.id,
    metadata: undefined,
    createdAt: now,
  };
}

/** The time from which a memory counts: when it happened, else from when it is valid. */
export function effectiveTime(node: MemoryNode) {
  return node.eventTime ?? node.validFrom;
}
