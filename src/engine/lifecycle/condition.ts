import { parseId, parseOptionalId, parseOptionalText, parseOwner } from "../../domain/arguments.ts";
import { checksummed } from "../../domain/checksummed.ts";
import { CONDITION_STATES, type ConditionState, parseMember } from "../../domain/enums.ts";
import { conditionState } from "../../domain/epistemics.ts";
import { invalid } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import { type ConditionInput, EVALUATION_METHODS, type EvaluationMethod } from "./api.ts";
import { parseActor } from "./caller.ts";
import { requireEvidence, requireNode } from "./found.ts";
import { logEntry } from "./log-entry.ts";
import { type ChangeDeps, isRetry, isSameActor, operationIdOf } from "./request-keys.ts";

const OPERATION = "EPISTEMIC_TRANSITION";

/** Result of evaluating a condition. */
type Evaluation = {
  readonly state: ConditionState;
  readonly method: EvaluationMethod;
  readonly reason: string | undefined;
  readonly evidenceId: Uuid | undefined;
  /** Absent: the moment of the call. */
  readonly evaluatedAt: Instant | undefined;
};

type Request = Evaluation & {
  readonly id: Uuid;
  readonly owner: Owner;
  /** Absent: the owner of the memory. */
  readonly actorId: string | undefined;
  readonly requestId: Uuid | undefined;
  readonly operationId: Uuid;
};

/**
 * Records whether the condition of a conditional memory holds. Kind of knowledge, confidence and lifecycle state stay unchanged.
 * A retry with the same request id returns the memory as it is now.
 * @throws SvcError not_found; invalid_argument; request_conflict
 */
export async function evaluateCondition(
  deps: ChangeDeps,
  nodeId: string,
  input: ConditionInput,
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const evaluation = parseEvaluation(input);
  const owner = parseOwner(input.userId);
  const actorId = parseActor(input.actorId);
  const key = { id, owner, requestId: parseOptionalId(input.requestId, "request_id") };
  const operationId = await operationIdOf(deps, "svc:condition-evaluation:v1", key);
  const request: Request = { ...evaluation, ...key, actorId, operationId };
  const { evidenceId } = request;
  return deps.store.change(
    {
      nodeIds: [id],
      auditRecordIds: [operationId],
      eventIds: evidenceId === undefined ? [] : [evidenceId],
    },
    (snapshot) => decideCondition(snapshot, request),
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

function parseReason(value: unknown): string | undefined {
  const reason = parseOptionalText(value, "reason")?.trim();
  if (reason === "") throw invalid("reason", "must not be blank; leave it out");
  const length = [...(reason ?? "")].length;
  if (length > LIMITS.reasonMaxChars) {
    throw invalid("reason", `has ${length} characters, at most ${LIMITS.reasonMaxChars}`);
  }
  return reason;
}

function decideCondition(snapshot: ChangeSnapshot, request: Request): Decision<MemoryNode> {
  const { at } = snapshot;
  const { operationId, requestId, evidenceId } = request;
  const before = requireNode(snapshot, request.id, request.owner);
  const actorId = request.actorId ?? before.userId;
  const repeated = isRetry(
    snapshot,
    request,
    (record, { targetId }) =>
      targetId === before.id &&
      isSame(record, request) &&
      isSameActor({ owner: before.userId, actorId }, record["triggered_by"], record["before"]),
  );
  if (repeated) return { change: undefined, result: before };
  const condition = requireCondition(before);
  requireEvidence(snapshot, evidenceId, before);
  const evaluatedAt = request.evaluatedAt ?? at;
  const after = evaluated(before, request, { actorId, evaluatedAt, at });
  const payload = checksummed({
    version: 1,
    policy: "explicit_condition_evaluation_v1",
    operation_id: operationId,
    request_id: requestId ?? null,
    condition,
    from_state: conditionState(before),
    to_state: request.state,
    evaluated_at: evaluatedAt,
    evaluation_method: request.method,
    reason: request.reason ?? null,
    evidence_id: evidenceId ?? null,
    triggered_by: actorId,
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
  });
  const operation = logEntry(OPERATION, after, { id: operationId, actorId, at, payload });
  return { change: { nodes: [after], edges: [], auditRecords: [operation] }, result: after };
}

function isSame(record: JsonObject, request: Request): boolean {
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

/** The memory with an evaluation, without the optional members of an earlier one. */
function evaluated(
  before: MemoryNode,
  { state, method, reason, evidenceId }: Request,
  {
    actorId,
    evaluatedAt,
    at,
  }: { readonly actorId: string; readonly evaluatedAt: Instant; readonly at: Instant },
): MemoryNode {
  const {
    condition_evaluation_reason: _reason,
    condition_evaluation_evidence_id: _evidence,
    ...kept
  } = before.metadata ?? {};
  const cited = evidenceId === undefined || before.evidenceRefs.includes(evidenceId);
  return {
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
    evidenceRefs: cited ? before.evidenceRefs : [...before.evidenceRefs, evidenceId],
    updatedAt: at,
  };
}
