import type { ClaimsOptions } from "../../../engine/lifecycle/api.ts";
import { type CallContext, defineOperation, type Operation } from "../core/operation.ts";
import {
  CHANGES,
  callerOf,
  present,
  RETIRES,
  readIdempotencyKey,
  readUuid,
} from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellContradicted, tellResolved, tellSuperseded } from "../lifecycle/text.ts";
import {
  changeHeadersSchema,
  contradictBodySchema,
  contradictToolSchema,
  readEvidenceId,
  resolveBodySchema,
  resolveToolSchema,
  supersedeBodySchema,
  supersedeToolSchema,
  type WithActor,
} from "../lifecycle/wire.ts";
import { nodeListView } from "../nodes/wire.ts";

type ClaimsWire = Pick<
  WithActor<typeof supersedeToolSchema>,
  "actor" | "evidence_id" | "request_id"
>;

/** @throws SvcError invalid_argument */
function claimsOptions(context: CallContext, wire: ClaimsWire): ClaimsOptions {
  return {
    ...callerOf(context, wire.actor),
    evidenceId: readEvidenceId(wire.evidence_id),
    requestId: present(wire.request_id, (text) => readUuid(text, "request_id")),
  };
}

const supersedeOperation = defineOperation({
  name: "supersede_node",
  summary: "Replace one memory by another",
  description: "The old memory stays in the pack and is found no more. A retry changes nothing.",
  run: (context, wire: WithActor<typeof supersedeToolSchema>) =>
    context
      .engine()
      .supersede(
        readUuid(wire.old_node_id, "old_node_id"),
        readUuid(wire.new_node_id, "new_node_id"),
        claimsOptions(context, wire),
      ),
  http: {
    method: "post",
    path: "/v1/supersedences",
    request: { headers: changeHeadersSchema, body: supersedeBodySchema },
    response: nodeListView,
    statuses: [404, 409],
    read: ({ body, idempotencyKey }) => ({
      ...parseWire(supersedeBodySchema, body, "body"),
      request_id: readIdempotencyKey(idempotencyKey),
    }),
  },
  mcp: {
    tool: "memory_supersede",
    title: "Replace a memory",
    description:
      "Replace an outdated memory by a newer one of the same scope: store the new one first, then give both ids. " +
      "The old one is found no more but stays readable. Not for two claims of which neither is known to be right.",
    toolSet: "core",
    annotations: RETIRES,
    input: supersedeToolSchema,
    output: nodeListView,
    needsOwner: false,
    read: (args) => parseWire(supersedeToolSchema, args, "arguments"),
    tell: tellSuperseded,
  },
});

const contradictOperation = defineOperation({
  name: "contradict_nodes",
  summary: "Mark two memories as contradicting each other",
  description: "Both are found still, as contested. A retry changes nothing.",
  run: (context, wire: WithActor<typeof contradictToolSchema>) =>
    context
      .engine()
      .contradict(
        readUuid(wire.node_a_id, "node_a_id"),
        readUuid(wire.node_b_id, "node_b_id"),
        claimsOptions(context, wire),
      ),
  http: {
    method: "post",
    path: "/v1/contradictions",
    request: { headers: changeHeadersSchema, body: contradictBodySchema },
    response: nodeListView,
    statuses: [404, 409],
    read: ({ body, idempotencyKey }) => ({
      ...parseWire(contradictBodySchema, body, "body"),
      request_id: readIdempotencyKey(idempotencyKey),
    }),
  },
  mcp: {
    tool: "memory_mark_contradiction",
    title: "Mark a contradiction",
    description:
      "Mark two memories that cannot both be true, when it is not known which one is. Both become contested and are still found. " +
      "If one is simply outdated use memory_supersede.",
    toolSet: "full",
    annotations: CHANGES,
    input: contradictToolSchema,
    output: nodeListView,
    needsOwner: false,
    read: (args) => parseWire(contradictToolSchema, args, "arguments"),
    tell: tellContradicted,
  },
});

const resolveOperation = defineOperation({
  name: "resolve_contradiction",
  summary: "End a contradiction",
  description:
    "The winner becomes stable, the loser deprecated, which is found no more. A retry changes nothing.",
  run: (context, wire: WithActor<typeof resolveToolSchema>) =>
    context
      .engine()
      .resolveContradiction(
        readUuid(wire.winner_id, "winner_id"),
        readUuid(wire.loser_id, "loser_id"),
        claimsOptions(context, wire),
      ),
  http: {
    method: "post",
    path: "/v1/contradictions/resolve",
    request: { headers: changeHeadersSchema, body: resolveBodySchema },
    response: nodeListView,
    statuses: [404, 409],
    read: ({ body, idempotencyKey }) => ({
      ...parseWire(resolveBodySchema, body, "body"),
      request_id: readIdempotencyKey(idempotencyKey),
    }),
  },
  mcp: {
    tool: "memory_resolve_contradiction",
    title: "Settle a contradiction",
    description:
      "End a contradiction that was marked, once the user or a source has settled it: the winner becomes stable, the loser is found no more.",
    toolSet: "full",
    annotations: RETIRES,
    input: resolveToolSchema,
    output: nodeListView,
    needsOwner: false,
    read: (args) => parseWire(resolveToolSchema, args, "arguments"),
    tell: tellResolved,
  },
});

/** What is said of two memories at once. */
export const CLAIM_OPERATIONS: readonly Operation[] = [
  supersedeOperation,
  contradictOperation,
  resolveOperation,
];
