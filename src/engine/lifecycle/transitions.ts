import {
  parseId,
  parseOptionalBoolean,
  parseOptionalId,
  parseOwner,
} from "../../domain/arguments.ts";
import { CONDITION_STATES, type ConditionState, parseMember } from "../../domain/enums.ts";
import { conditionState } from "../../domain/epistemics.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { reinforced } from "../../domain/feedback.ts";
import { parseInstantInput, requireStep } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot } from "../../ports/store/graph.ts";
import {
  type ConditionInput,
  EVALUATION_METHODS,
  type EvaluationMethod,
  type ReinforceOptions,
  type TransitionOptions,
} from "./api.ts";
import {
  type ChangeDeps,
  changeOne,
  isSameActor,
  ownEvent,
  parseActor,
  parseCaller,
  parseReason,
  requireEvidence,
  requireSameScope,
} from "./change-one.ts";

/** Promotes or archives a memory. @throws SvcError invalid_argument; not_found; invalid_transition; request_conflict */
export async function transition(
  deps: ChangeDeps,
  action: "promote" | "archive",
  nodeId: string,
  options: TransitionOptions = {},
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const { owner, actorId } = parseCaller(options);
  const requestId = parseOptionalId(options.requestId, "request_id");
  return changeOne(
    deps,
    {
      opType: "LIFECYCLE_CHANGED",
      idKind: "svc:lifecycle:v1",
      isSame: (record, earlier) =>
        record["action"] === action &&
        isSameActor({ owner, actorId }, earlier.actorId, record["before"]),
      decide: (before, { at }) => ({
        after: { ...before, lifecycleState: requireStep(action, before), updatedAt: at },
        actorId,
        record: { version: 1, policy: "lifecycle_transitions_v1", action },
      }),
    },
    { id, owner, requestId },
  );
}

/** Pins a memory, or releases it. @throws SvcError not_found; invalid_argument; request_conflict */
export async function pin(
  deps: ChangeDeps,
  nodeId: string,
  isPinned: boolean,
  options: TransitionOptions = {},
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const pinned = parseOptionalBoolean(isPinned, "pinned");
  if (pinned === undefined) throw invalid("pinned", "is missing");
  const { owner, actorId } = parseCaller(options);
  const requestId = parseOptionalId(options.requestId, "request_id");
  return changeOne(
    deps,
    {
      opType: "PIN",
      idKind: "svc:pin:v1",
      isSame: (record) => record["pinned"] === pinned,
      decide: (before, { at }) => {
        if (before.pinned === pinned) return undefined;
        const record = { version: 1, policy: "explicit_pin_v1", request_id: requestId ?? null };
        const after = { ...before, pinned, updatedAt: at };
        return { after, actorId, record: { ...record, pinned } };
      },
    },
    { id, owner, requestId },
  );
}

/**
 * Raises confidence and salience and cites the evidence. Each call without a request id counts.
 * @throws SvcError not_found; invalid_argument; request_conflict
 */
export async function reinforce(
  deps: ChangeDeps,
  nodeId: string,
  options: ReinforceOptions = {},
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const evidenceId = parseOptionalId(options.evidenceId, "evidence_id");
  const requestId = parseOptionalId(options.requestId, "request_id");
  return changeOne(
    deps,
    {
      opType: "REINFORCE",
      idKind: "svc:reinforcement:v2",
      isSame: (record) => record["evidence_id"] === (evidenceId ?? null),
      decide: (before, snapshot) => {
        requireCitable(snapshot, evidenceId, before);
        const record = {
          version: 2,
          policy: "additive_caps_v1",
          request_id: requestId ?? null,
          evidence_id: evidenceId ?? null,
        };
        const after = reinforced(before, evidenceId, snapshot.at);
        return { after, actorId: before.userId, record };
      },
    },
    { id, owner, requestId, evidenceId },
  );
}

/** Evidence of another owner counts as missing, of another scope as invalid. */
function requireCitable(snapshot: ChangeSnapshot, id: Uuid | undefined, node: MemoryNode): void {
  if (id === undefined) return;
  const event = ownEvent(snapshot, id, node);
  if (event === undefined) {
    throw new SvcError("not_found", `Event '${id}' not found`, { kind: "event", id });
  }
  requireSameScope(event, node);
}

type Evaluation = {
  readonly state: ConditionState;
  readonly method: EvaluationMethod;
  readonly reason: string | undefined;
  readonly evidenceId: Uuid | undefined;
  /** Absent: now. */
  readonly evaluatedAt: Instant | undefined;
};

/** Records whether the condition of a memory holds. @throws SvcError not_found; invalid_argument; request_conflict */
export async function evaluateCondition(
  deps: ChangeDeps,
  nodeId: string,
  input: ConditionInput,
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const evaluation = parseEvaluation(input);
  const owner = parseOwner(input.userId);
  const actor = parseActor(input.actorId);
  const requestId = parseOptionalId(input.requestId, "request_id");
  return changeOne(
    deps,
    {
      opType: "EPISTEMIC_TRANSITION",
      idKind: "svc:condition-evaluation:v1",
      isSame: (record, _, { userId }) =>
        isSameEvaluation(record, evaluation) &&
        isSameActor(
          { owner: userId, actorId: actor ?? userId },
          record["triggered_by"],
          record["before"],
        ),
      decide: (before, snapshot) => {
        const actorId = actor ?? before.userId;
        const { record, after } = evaluate(before, evaluation, snapshot, actorId);
        return { actorId, after, record: { ...record, request_id: requestId ?? null } };
      },
    },
    { id, owner, requestId, evidenceId: evaluation.evidenceId },
  );
}

function parseEvaluation(input: ConditionInput): Evaluation {
  if (typeof input !== "object" || input === null) throw invalid("input", "must be an object");
  return {
    state: parseMember(CONDITION_STATES, input.state, "state"),
    method: parseMember(EVALUATION_METHODS, input.evaluationMethod ?? "user", "evaluation_method"),
    reason: parseReason(input.reason),
    evidenceId: parseOptionalId(input.evidenceId, "evidence_id"),
    evaluatedAt: parseInstantInput(input.evaluatedAt, "evaluated_at"),
  };
}

function evaluate(
  before: MemoryNode,
  evaluation: Evaluation,
  snapshot: ChangeSnapshot,
  actorId: string,
) {
  const { state, method, reason, evidenceId, evaluatedAt = snapshot.at } = evaluation;
  const condition = requireCondition(before);
  requireEvidence(snapshot, evidenceId, before);
  const record = {
    version: 1,
    policy: "explicit_condition_evaluation_v1",
    condition,
    from_state: conditionState(before),
    to_state: state,
    evaluated_at: evaluatedAt,
    evaluation_method: method,
    reason: reason ?? null,
    evidence_id: evidenceId ?? null,
    triggered_by: actorId,
  };
  // Optional members of an earlier evaluation are dropped.
  const {
    condition_evaluation_reason: _reason,
    condition_evaluation_evidence_id: _evidence,
    ...kept
  } = before.metadata ?? {};
  const isCited = evidenceId === undefined || before.evidenceRefs.includes(evidenceId);
  const after: MemoryNode = {
    ...before,
    metadata: {
      ...kept,
      condition_state: state,
      condition_evaluated_at: evaluatedAt,
      condition_evaluation_method: method,
      condition_evaluated_by: actorId,
      ...(reason !== undefined && { condition_evaluation_reason: reason }),
      ...(evidenceId !== undefined && { condition_evaluation_evidence_id: evidenceId }),
    },
    evidenceRefs: isCited ? before.evidenceRefs : [...before.evidenceRefs, evidenceId],
    updatedAt: snapshot.at,
  };
  return { record, after };
}

function isSameEvaluation(record: JsonObject, request: Evaluation): boolean {
  return (
    record["to_state"] === request.state &&
    record["evaluation_method"] === request.method &&
    record["reason"] === (request.reason ?? null) &&
    record["evidence_id"] === (request.evidenceId ?? null) &&
    (request.evaluatedAt === undefined || record["evaluated_at"] === request.evaluatedAt)
  );
}

function requireCondition({ id, epistemicType, metadata }: MemoryNode): string {
  if (epistemicType !== "conditional") {
    throw invalid(
      "node_id",
      `memory ${id} is ${epistemicType}; only conditional ones are evaluated`,
    );
  }
  const condition = metadata?.["condition"];
  if (typeof condition !== "string" || condition.trim() === "") {
    throw invalid("node_id", `memory ${id} has no condition in its metadata`);
  }
  return condition;
}
