import { z } from "zod";
import { LIMITS } from "../../domain/arguments.ts";
import { CONDITION_STATES, LIFECYCLE_STATES } from "../../domain/enums.ts";
import { isPinned, type MemoryNode, nodeForm } from "../../domain/node.ts";
import { EVALUATION_METHODS, type RestoredMany } from "../../engine/lifecycle/api.ts";
import { count, flag, list, member, noted, object, told, uuid, view } from "../../lib/form.ts";
import { anyOwner, boundedText, id, instantIn, optionalId, retryId } from "./core/fields.ts";
import { ADDS, CHANGES, callerOf, defineOperation, part, RETIRES } from "./core/operation.ts";
import { field, httpField, optional, required, toolField, withDefault } from "./core/request.ts";
import { EXCERPT_CHARS, nodeLine, oneLine } from "./core/tool-text.ts";
import { nodeListView } from "./nodes.ts";
import { replaceOperation } from "./store.ts";

/** What a change of two memories has made of them: who asked for it knows both. */
const pairView = view<readonly MemoryNode[]>()({
  nodes: told(
    list(
      object<Pick<MemoryNode, "id" | "lifecycleState">>({
        id: uuid,
        lifecycleState: member(LIFECYCLE_STATES),
      }),
    ),
    (nodes) => nodes,
  ),
  count: told(count, (nodes) => nodes.length),
});

/** What a change has made of a memory: who asked for it knows the rest. */
const changedView = view<MemoryNode>()({
  id: uuid,
  lifecycleState: member(LIFECYCLE_STATES),
  pinned: told(flag, isPinned),
});

/** @param says what has happened */
function tellPair(says: string) {
  return (nodes: readonly MemoryNode[]): string =>
    [
      says,
      ...nodes.map(
        ({ lifecycleState, content }) => `${lifecycleState}: ${oneLine(content, EXCERPT_CHARS)}`,
      ),
    ].join("\n");
}

const lineOf = (node: MemoryNode): string => nodeLine(node, EXCERPT_CHARS);

const evidenceId = optionalId(
  "The event that speaks for it, of the owner and scope of the memory.",
  "Event that speaks for it.",
);
const requestId = retryId(
  "Any text; a retry with the same key and input changes nothing. One key serves one change.",
  "Your UUID; makes a retry safe.",
);
const actor = httpField(
  boundedText(LIMITS.actorMaxChars).nullish().meta({
    description:
      "In whose name the change is recorded; refused with a key that belongs to one owner.",
  }),
);

const changeRequest = { node_id: id(), request_id: requestId };

const promoteOperation = defineOperation({
  name: "promote_node",
  summary: "Make a memory stable",
  description: "From tentative to stable. A contested memory becomes stable by a resolution.",
  request: changeRequest,
  run: async (context, { nodeId, requestId }) =>
    context.engine().promote(nodeId, { ...callerOf(context), requestId }),
  answer: nodeForm,
  http: { route: "put /v1/nodes/{node_id}/promote", statuses: [404, 409] },
  mcp: {
    tool: "memory_promote_node",
    title: "Confirm a memory",
    description:
      "Make a tentative memory stable, once the user has confirmed it. A contested one needs memory_resolve_contradiction instead.",
    annotations: CHANGES,
    tell: (node) => `Stable now: ${lineOf(node)}`,
  },
});

export const archiveOperation = defineOperation({
  name: "archive_node",
  summary: "Retire a memory",
  description: "It stays in the pack and is no longer found. Restoring it brings it back.",
  request: {
    ...changeRequest,
    restore: toolField(z.boolean().nullish()),
    pinned: toolField(z.boolean().nullish().meta({ description: "Only pin or release it." })),
    reason: toolField(boundedText(LIMITS.reasonMaxChars).nullish()),
  },
  run: async (context, { nodeId, requestId, restore, pinned, reason }) => {
    const options = { ...callerOf(context), requestId };
    if (restore === true) return context.engine().restore(nodeId, { ...options, reason });
    if (typeof pinned === "boolean") return context.engine().pin(nodeId, pinned, options);
    return context.engine().archive(nodeId, options);
  },
  answer: nodeForm,
  http: { route: "put /v1/nodes/{node_id}/archive", statuses: [404, 409] },
  mcp: {
    tool: "memory_archive_node",
    title: "Retire, restore or pin",
    description:
      "Stop using a memory (its text stays; memory_forget erases), bring one back (restore), or pin it. If it has changed use memory_supersede.",
    toolSet: "core",
    coreArguments: ["node_id", "restore", "pinned"],
    annotations: RETIRES,
    output: changedView,
    tell: (node, { restore, pinned }) => {
      if (restore === true) return `Restored; it is found again: ${lineOf(node)}`;
      if (pinned === true) return `Pinned; it is considered for every question: ${lineOf(node)}`;
      if (pinned === false) return `No longer pinned: ${lineOf(node)}`;
      return `Archived; it is no longer found: ${lineOf(node)}`;
    },
  },
});

export const restoreOperation = defineOperation({
  name: "restore_node",
  summary: "Bring a retired memory back",
  description:
    "What time, a person or an assistant has archived is found again as before, and a retention that has ended is gone. 409 `memory_replaced` names the memory that stands in the place of one that was replaced.",
  request: {
    ...changeRequest,
    reason: field(
      boundedText(LIMITS.reasonMaxChars).nullish().meta({ description: "Why, for the record." }),
      z.string().nullish(),
    ),
  },
  run: async (context, { nodeId, ...change }) =>
    context.engine().restore(nodeId, { ...change, ...callerOf(context) }),
  answer: nodeForm,
  http: {
    route: "put /v1/nodes/{node_id}/restore",
    body: "RestoreRequest",
    bodyIsOptional: true,
    statuses: [404, 409],
  },
});

const restoreFadedOperation = defineOperation({
  name: "restore_faded",
  summary: "Bring back all that has faded",
  description:
    "What fading has archived, though nobody named a day for it, is active again; retentions that were once a default are gone.",
  request: {
    user_id: anyOwner,
    dry_run: withDefault(z.boolean(), false, "Counts them and changes nothing."),
  },
  run: async (context, { userId, dryRun }) =>
    context.engine().restoreFaded({ ...callerOf(context), userId, dryRun }),
  answer: noted(object<RestoredMany>({ restored: count, kept: count, failed: count }), {
    id: "RestoredMany",
  }),
  http: { route: "post /v1/restorations", body: "RestoreFadedRequest" },
});

const reinforceOperation = defineOperation({
  name: "reinforce_node",
  summary: "Strengthen a memory",
  description: "Raises confidence and salience, up to a limit. Without a key every call counts.",
  request: { ...changeRequest, evidence_id: evidenceId },
  run: async ({ engine, userId }, { nodeId, ...change }) =>
    engine().reinforce(nodeId, { ...change, userId }),
  answer: nodeForm,
  http: {
    route: "put /v1/nodes/{node_id}/reinforce",
    body: "ReinforceRequest",
    bodyIsOptional: true,
    statuses: [404, 409],
  },
});

export const pinOperation = defineOperation({
  name: "pin_node",
  summary: "Pin a memory",
  description:
    "A pinned memory is a candidate for every question and does not expire. Doing it again changes nothing.",
  request: {
    ...changeRequest,
    pinned: httpField(z.boolean().meta({ description: "false releases it." })),
  },
  run: async (context, { nodeId, pinned, requestId }) =>
    context.engine().pin(nodeId, pinned, { ...callerOf(context), requestId }),
  answer: nodeForm,
  http: { route: "put /v1/nodes/{node_id}/pin", body: "PinRequest", statuses: [404, 409] },
});

const conditionOperation = defineOperation({
  name: "evaluate_condition",
  summary: "Record whether a condition holds",
  description:
    "Of a conditional memory, which default retrieval shows while its condition is known to hold.",
  request: {
    node_id: id(),
    state: required(z.enum(CONDITION_STATES), "Whether the condition holds.", {}),
    evidence_id: evidenceId,
    request_id: requestId,
    evaluation_method: withDefault(z.enum(EVALUATION_METHODS), "user", "Who found out."),
    reason: field(
      boundedText(LIMITS.reasonMaxChars).nullish().meta({ description: "Why." }),
      z.string().nullish(),
    ),
    evaluated_at: optional(instantIn, "When it was found out. Default now."),
    actor,
  },
  run: async (context, { nodeId, actor, ...change }) =>
    context.engine().evaluateCondition(nodeId, { ...change, ...callerOf(context, actor) }),
  answer: nodeForm,
  http: {
    route: "put /v1/nodes/{node_id}/condition",
    body: "ConditionRequest",
    statuses: [404, 409],
  },
  mcp: {
    tool: "memory_evaluate_condition",
    title: "Say whether a condition holds",
    description:
      "Record whether the condition of a conditional memory holds now. It is found by default only while that is `true`.",
    annotations: ADDS,
    tell: (node, { state }) => `Recorded, condition ${state}: ${lineOf(node)}`,
  },
});

/** Returned with every change of two memories. */
const claimChange = { evidence_id: evidenceId, request_id: requestId, actor };

export const supersedeOperation = defineOperation({
  name: "supersede_node",
  summary: "Replace one memory by another",
  description: "The old memory stays in the pack and is no longer found. A retry changes nothing.",
  request: {
    old_node_id: id("The memory that is replaced.", {}),
    new_node_id: id("The memory that replaces it.", {}),
    ...claimChange,
  },
  run: async (context, { oldNodeId, newNodeId, actor, ...change }) =>
    context.engine().supersede(oldNodeId, newNodeId, { ...change, ...callerOf(context, actor) }),
  answer: nodeListView,
  http: { route: "post /v1/supersedences", body: "SupersedenceRequest", statuses: [404, 409] },
  mcp: {
    tool: "memory_supersede",
    title: "Replace a memory",
    description:
      "Replace an outdated memory by a newer one of the same scope: store the new one first, then give both ids. " +
      "The old one is no longer found but stays readable. Not for two claims of which neither is known to be right.",
    toolSet: "core",
    annotations: RETIRES,
    output: pairView,
    tell: tellPair("Replaced; the first is no longer found."),
  },
});

const contradictOperation = defineOperation({
  name: "contradict_nodes",
  summary: "Mark two memories as contradicting each other",
  description: "Both are found still, as contested. A retry changes nothing.",
  request: { node_a_id: id(), node_b_id: id(), ...claimChange },
  run: async (context, { nodeAId, nodeBId, actor, ...change }) =>
    context.engine().contradict(nodeAId, nodeBId, { ...change, ...callerOf(context, actor) }),
  answer: nodeListView,
  http: { route: "post /v1/contradictions", body: "ContradictionRequest", statuses: [404, 409] },
  mcp: {
    tool: "memory_mark_contradiction",
    title: "Mark a contradiction",
    description:
      "Mark two memories that cannot both be true, when it is not known which one is. Both become contested and are still found. " +
      "If one is simply outdated use memory_supersede.",
    annotations: CHANGES,
    output: pairView,
    tell: tellPair(
      "Contested now; both are still found. End it with memory_resolve_contradiction.",
    ),
  },
});

const resolveOperation = defineOperation({
  name: "resolve_contradiction",
  summary: "End a contradiction",
  description:
    "The winner becomes stable, the loser deprecated, which is no longer found. A retry changes nothing.",
  request: {
    winner_id: id("The claim that becomes stable.", {}),
    loser_id: id("The claim that becomes deprecated.", {}),
    ...claimChange,
  },
  run: async (context, { winnerId, loserId, actor, ...change }) =>
    context
      .engine()
      .resolveContradiction(winnerId, loserId, { ...change, ...callerOf(context, actor) }),
  answer: nodeListView,
  http: {
    route: "post /v1/contradictions/resolve",
    body: "ResolutionRequest",
    statuses: [404, 409],
  },
  mcp: {
    tool: "memory_resolve_contradiction",
    title: "Settle a contradiction",
    description:
      "End a contradiction that was marked, once the user or a source has settled it: the winner becomes stable, the loser is no longer found.",
    annotations: RETIRES,
    output: pairView,
    tell: tellPair("Resolved; the second is no longer found."),
  },
});

/** Operations that change memories. Their paths match those of lists of memories, which precede them. */
export const LIFECYCLE_OPERATIONS = part(
  "lifecycle",
  replaceOperation,
  promoteOperation,
  archiveOperation,
  restoreOperation,
  restoreFadedOperation,
  reinforceOperation,
  pinOperation,
  conditionOperation,
  supersedeOperation,
  contradictOperation,
  resolveOperation,
);
