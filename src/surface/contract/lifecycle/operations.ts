import type { z } from "zod";
import { nodeForm } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { defineOperation, type HttpParts, type Operation } from "../core/operation.ts";
import { ADDS, CHANGES, callerOf, present, RETIRES, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellArchived, tellCondition, tellPromoted } from "./text.ts";
import {
  changedNodeParams,
  changeHeadersSchema,
  changeToolSchema,
  conditionBodySchema,
  conditionToolSchema,
  readEvidenceId,
  reinforceBodySchema,
  type WithActor,
} from "./wire.ts";

/** A change of one memory, with unparsed ids. */
type NodeChange = {
  readonly nodeId: string;
  readonly requestId: string | null | undefined;
  /** The surface's name for the request id. */
  readonly requestField: "Idempotency-Key" | "request_id";
};

function readNodeChange({ params, idempotencyKey }: HttpParts): NodeChange {
  return {
    nodeId: params["node_id"] ?? "",
    requestId: idempotencyKey,
    requestField: "Idempotency-Key",
  };
}

function toToolChange(wire: z.infer<typeof changeToolSchema>): NodeChange {
  return { nodeId: wire.node_id, requestId: wire.request_id, requestField: "request_id" };
}

/** @throws SvcError invalid_argument */
function idsOf({ nodeId, requestId, requestField }: NodeChange) {
  return {
    id: readUuid(nodeId, "node_id"),
    requestId: present(requestId, (text) => readUuid(text, requestField)),
  };
}

type ConditionWire = Omit<WithActor<typeof conditionToolSchema>, "node_id" | "request_id">;

const promoteOperation = defineOperation({
  name: "promote_node",
  summary: "Make a memory stable",
  description: "From tentative to stable. A contested memory becomes stable by a resolution.",
  run: async (context, change: NodeChange) => {
    const { id, requestId } = idsOf(change);
    return await context.engine().promote(id, { ...callerOf(context), requestId });
  },
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/promote",
    request: { params: changedNodeParams, headers: changeHeadersSchema },
    response: nodeForm,
    statuses: [404, 409],
    read: readNodeChange,
  },
  mcp: {
    tool: "memory_promote_node",
    title: "Confirm a memory",
    description:
      "Make a tentative memory stable, once the user has confirmed it. A contested one needs memory_resolve_contradiction instead.",
    toolSet: "full",
    annotations: CHANGES,
    input: changeToolSchema,
    output: nodeForm,
    needsOwner: false,
    read: (args) => toToolChange(parseWire(changeToolSchema, args, "arguments")),
    tell: tellPromoted,
  },
});

const archiveOperation = defineOperation({
  name: "archive_node",
  summary: "Retire a memory",
  description: "It stays in the pack and is no longer found. This cannot be undone.",
  run: async (context, change: NodeChange) => {
    const { id, requestId } = idsOf(change);
    return await context.engine().archive(id, { ...callerOf(context), requestId });
  },
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/archive",
    request: { params: changedNodeParams, headers: changeHeadersSchema },
    response: nodeForm,
    statuses: [404, 409],
    read: readNodeChange,
  },
  mcp: {
    tool: "memory_archive_node",
    title: "Forget a memory",
    description:
      "Permanently retire a memory, when the user wants it forgotten: it is no longer found, and this cannot be undone. " +
      "For a memory that has changed use memory_supersede.",
    toolSet: "core",
    annotations: RETIRES,
    input: changeToolSchema,
    output: nodeForm,
    needsOwner: false,
    read: (args) => toToolChange(parseWire(changeToolSchema, args, "arguments")),
    tell: tellArchived,
  },
});

const reinforceOperation = defineOperation({
  name: "reinforce_node",
  summary: "Strengthen a memory",
  description: "Raises confidence and salience, up to a limit. Without a key every call counts.",
  run: async (context, change: NodeChange & { readonly evidenceId: Uuid | undefined }) => {
    const { evidenceId } = change;
    const { boundUserId: userId } = context.caller;
    const { id, requestId } = idsOf(change);
    return await context.engine().reinforce(id, { userId, requestId, evidenceId });
  },
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/reinforce",
    request: {
      params: changedNodeParams,
      headers: changeHeadersSchema,
      body: reinforceBodySchema,
      bodyIsOptional: true,
    },
    response: nodeForm,
    statuses: [404, 409],
    read: (parts) => ({
      ...readNodeChange(parts),
      evidenceId: readEvidenceId(parseWire(reinforceBodySchema, parts.body, "body").evidence_id),
    }),
  },
});

const conditionOperation = defineOperation({
  name: "evaluate_condition",
  summary: "Record whether a condition holds",
  description:
    "Of a conditional memory, which default retrieval shows while its condition is known to hold.",
  run: async (context, change: NodeChange & { readonly wire: ConditionWire }) => {
    const { wire } = change;
    const { id, requestId } = idsOf(change);
    return await context.engine().evaluateCondition(id, {
      ...callerOf(context, wire.actor),
      state: wire.state,
      evidenceId: readEvidenceId(wire.evidence_id),
      requestId,
      evaluationMethod: wire.evaluation_method ?? undefined,
      reason: wire.reason,
      evaluatedAt: wire.evaluated_at,
    });
  },
  http: {
    method: "put",
    path: "/v1/nodes/{node_id}/condition",
    request: {
      params: changedNodeParams,
      headers: changeHeadersSchema,
      body: conditionBodySchema,
    },
    response: nodeForm,
    statuses: [404, 409],
    read: (parts) => ({
      ...readNodeChange(parts),
      wire: parseWire(conditionBodySchema, parts.body, "body"),
    }),
  },
  mcp: {
    tool: "memory_evaluate_condition",
    title: "Say whether a condition holds",
    description:
      "Record whether the condition of a conditional memory holds now. It is found by default only while that is `true`.",
    toolSet: "full",
    annotations: ADDS,
    input: conditionToolSchema,
    output: nodeForm,
    needsOwner: false,
    read: (args) => {
      const wire = parseWire(conditionToolSchema, args, "arguments");
      return { ...toToolChange(wire), wire };
    },
    tell: (node, { wire }) => tellCondition(node, wire.state),
  },
});

/** The operations that change the state and the standing of one memory. */
export const LIFECYCLE_OPERATIONS: readonly Operation[] = [
  promoteOperation,
  archiveOperation,
  reinforceOperation,
  conditionOperation,
];
