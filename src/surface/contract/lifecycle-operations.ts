import type { z } from "zod";
import type { Uuid } from "../../lib/uuid.ts";
import { actorOf } from "./caller.ts";
import {
  changedNodeParams,
  changeHeadersSchema,
  conditionBodySchema,
  contradictBodySchema,
  readEvidenceId,
  reinforceBodySchema,
  resolveBodySchema,
  supersedeBodySchema,
} from "./lifecycle-wire.ts";
import { nodeListSchema, nodeSchema, toNodeListWire, toNodeWire } from "./node-wire.ts";
import { type CallContext, defineOperation, type HttpParts, type Operation } from "./operation.ts";
import { readIdempotencyKey, readUuid } from "./operation-parts.ts";
import { parseWire } from "./wire-issues.ts";

/** A change of one memory. */
type NodeChange = { readonly id: Uuid; readonly requestId: Uuid | undefined };

function readNodeChange({ params, idempotencyKey }: HttpParts): NodeChange {
  return {
    id: readUuid(params["node_id"] ?? "", "node_id"),
    requestId: readIdempotencyKey(idempotencyKey),
  };
}

/** Whose memories may be touched, and in whose name. */
function callerOf({ caller, operator }: CallContext, actor?: string | null) {
  return { userId: caller.boundUserId, actorId: actorOf(caller, operator, actor) };
}

const promoteOperation = defineOperation({
  name: "promote_node",
  summary: "Make a memory stable",
  description: "From tentative to stable. A contested memory becomes stable by a resolution.",
  run: (context, { id, requestId }: NodeChange) =>
    context.engine().promote(id, { ...callerOf(context), requestId }),
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/promote",
    request: { params: changedNodeParams, headers: changeHeadersSchema },
    response: nodeSchema,
    statuses: [404, 409],
    read: readNodeChange,
    write: toNodeWire,
  },
});

const archiveOperation = defineOperation({
  name: "archive_node",
  summary: "Retire a memory",
  description: "It stays in the pack and is found no more. There is no way back.",
  run: (context, { id, requestId }: NodeChange) =>
    context.engine().archive(id, { ...callerOf(context), requestId }),
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/archive",
    request: { params: changedNodeParams, headers: changeHeadersSchema },
    response: nodeSchema,
    statuses: [404, 409],
    read: readNodeChange,
    write: toNodeWire,
  },
});

const reinforceOperation = defineOperation({
  name: "reinforce_node",
  summary: "Strengthen a memory",
  description: "Raises confidence and salience, up to a limit. Without a key every call counts.",
  run: (context, { id, requestId, evidenceId }: NodeChange & { evidenceId: Uuid | undefined }) =>
    context.engine().reinforce(id, { userId: context.caller.boundUserId, requestId, evidenceId }),
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/reinforce",
    request: {
      params: changedNodeParams,
      headers: changeHeadersSchema,
      body: reinforceBodySchema,
      bodyIsOptional: true,
    },
    response: nodeSchema,
    statuses: [404, 409],
    read: (parts) => ({
      ...readNodeChange(parts),
      evidenceId: readEvidenceId(parseWire(reinforceBodySchema, parts.body, "body").evidence_id),
    }),
    write: toNodeWire,
  },
});

const conditionOperation = defineOperation({
  name: "evaluate_condition",
  summary: "Record whether a condition holds",
  description:
    "Of a conditional memory, which default retrieval shows while its condition is known to hold.",
  run: (
    context,
    { id, requestId, wire }: NodeChange & { wire: z.infer<typeof conditionBodySchema> },
  ) =>
    context.engine().evaluateCondition(id, {
      ...callerOf(context, wire.actor),
      state: wire.state,
      evidenceId: readEvidenceId(wire.evidence_id),
      requestId,
      evaluationMethod: wire.evaluation_method,
      reason: wire.reason,
      evaluatedAt: wire.evaluated_at,
    }),
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/condition",
    request: {
      params: changedNodeParams,
      headers: changeHeadersSchema,
      body: conditionBodySchema,
    },
    response: nodeSchema,
    statuses: [404, 409],
    read: (parts) => ({
      ...readNodeChange(parts),
      wire: parseWire(conditionBodySchema, parts.body, "body"),
    }),
    write: toNodeWire,
  },
});

const supersedeOperation = defineOperation({
  name: "supersede_node",
  summary: "Replace one memory by another",
  description: "The old memory stays in the pack and is found no more. A retry changes nothing.",
  run: (context, wire: z.infer<typeof supersedeBodySchema>) =>
    context
      .engine()
      .supersede(
        readUuid(wire.old_node_id, "old_node_id"),
        readUuid(wire.new_node_id, "new_node_id"),
        { ...callerOf(context, wire.actor), evidenceId: readEvidenceId(wire.evidence_id) },
      ),
  http: {
    method: "post",
    path: "/v1/supersedences",
    request: { body: supersedeBodySchema },
    response: nodeListSchema,
    statuses: [404],
    read: ({ body }) => parseWire(supersedeBodySchema, body, "body"),
    write: toNodeListWire,
  },
});

const contradictOperation = defineOperation({
  name: "contradict_nodes",
  summary: "Mark two memories as contradicting each other",
  description: "Both are found still, as contested. A retry changes nothing.",
  run: (context, wire: z.infer<typeof contradictBodySchema>) =>
    context
      .engine()
      .contradict(readUuid(wire.node_a_id, "node_a_id"), readUuid(wire.node_b_id, "node_b_id"), {
        ...callerOf(context, wire.actor),
        evidenceId: readEvidenceId(wire.evidence_id),
      }),
  http: {
    method: "post",
    path: "/v1/contradictions",
    request: { body: contradictBodySchema },
    response: nodeListSchema,
    statuses: [404],
    read: ({ body }) => parseWire(contradictBodySchema, body, "body"),
    write: toNodeListWire,
  },
});

const resolveOperation = defineOperation({
  name: "resolve_contradiction",
  summary: "End a contradiction",
  description:
    "The winner becomes stable, the loser deprecated, which is found no more. A retry changes nothing.",
  run: (context, wire: z.infer<typeof resolveBodySchema>) =>
    context
      .engine()
      .resolveContradiction(
        readUuid(wire.winner_id, "winner_id"),
        readUuid(wire.loser_id, "loser_id"),
        { ...callerOf(context, wire.actor), evidenceId: readEvidenceId(wire.evidence_id) },
      ),
  http: {
    method: "post",
    path: "/v1/contradictions/resolve",
    request: { body: resolveBodySchema },
    response: nodeListSchema,
    statuses: [404],
    read: ({ body }) => parseWire(resolveBodySchema, body, "body"),
    write: toNodeListWire,
  },
});

/** What changes the state and the standing of memories. */
export const LIFECYCLE_OPERATIONS: readonly Operation[] = [
  promoteOperation,
  archiveOperation,
  reinforceOperation,
  conditionOperation,
  supersedeOperation,
  contradictOperation,
  resolveOperation,
];
