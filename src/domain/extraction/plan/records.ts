import type { Instant } from "../../../lib/instant.ts";
import { uuidV5 } from "../../../lib/new-uuid.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { MemoryEvent } from "../../event.ts";
import { type DerivationPlan, type Publication, toPlanPayload } from "./derivation-plan.ts";

/** The kind of operation by which somebody gave up a plan and asked for another. */
export const REPLAN_OPERATION = "DERIVATION_REPLAN_REQUESTED";

/** The kind of operation that keeps a plan. */
export const PLAN_OPERATION = "DERIVATION_PREPARED";

/** The plan as the audit log keeps it, under its own id. */
export function toPreparedRecord(plan: DerivationPlan, event: MemoryEvent, at: Instant) {
  return {
    ...derivationOf(event, at),
    id: plan.id,
    opType: PLAN_OPERATION,
    payload: toPlanPayload(plan),
  };
}

/** A plan as it was kept. */
export type KeptPlan = { readonly id: Uuid; readonly checksum: string };

/** That a plan was carried out, and what came of it. */
export function toCommittedRecord(
  plan: KeptPlan,
  { nodes, edges }: Publication,
  {
    event,
    generation,
    at,
  }: { readonly event: MemoryEvent; readonly generation: number; readonly at: Instant },
) {
  return {
    ...derivationOf(event, at),
    id: uuidV5(plan.id, "svc:derivation-committed:v1"),
    opType: "DERIVATION_COMMITTED",
    payload: {
      event_id: event.id,
      plan_id: plan.id,
      user_id: event.userId,
      generation,
      plan_checksum: plan.checksum,
      node_ids: nodes.map(({ id }) => id),
      edge_ids: edges.map(({ id }) => id),
      created_at: at,
    },
  };
}

/** That the plan of an event was given up. */
export function toReplanRecord(
  event: MemoryEvent,
  {
    planId,
    revision,
    generation,
  }: { readonly planId: Uuid; readonly revision: number; readonly generation: number },
  at: Instant,
) {
  return {
    ...derivationOf(event, at),
    id: uuidV5(planId, "svc:replan:v1"),
    opType: REPLAN_OPERATION,
    payload: {
      event_id: event.id,
      user_id: event.userId,
      previous_plan_id: planId,
      revision,
      generation,
    },
  };
}

function derivationOf(event: MemoryEvent, at: Instant) {
  return {
    targetId: event.id,
    actorId: "derivation",
    namespaceId: event.scope,
    createdAt: at,
  };
}
