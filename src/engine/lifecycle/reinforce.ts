import { parseId, parseOptionalId, parseOwner } from "../../domain/arguments.ts";
import { checksummed } from "../../domain/checksummed.ts";
import { SvcError } from "../../domain/errors.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { reinforced } from "../../domain/reinforcement.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { ReinforceOptions } from "./api.ts";
import { ownEvent, requireNode, requireSameScope } from "./found.ts";
import { logEntry } from "./log-entry.ts";
import { type ChangeDeps, isRetry, operationIdOf } from "./request-keys.ts";

const OPERATION = "REINFORCE";

type Request = {
  readonly id: Uuid;
  readonly owner: Owner;
  readonly evidenceId: Uuid | undefined;
  readonly requestId: Uuid | undefined;
  readonly operationId: Uuid;
};

/**
 * Raises confidence and salience of one memory in any state, and appends the evidence to its citations, even if it is cited
 * already. Every call without a request id counts.
 * @throws SvcError not_found for the memory or the evidence; invalid_argument; request_conflict
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
  const key = { id, owner, requestId };
  const operationId = await operationIdOf(deps, "svc:reinforcement:v2", key);
  const request: Request = { ...key, evidenceId, operationId };
  return deps.store.change(
    {
      nodeIds: [id],
      auditRecordIds: [operationId],
      eventIds: evidenceId === undefined ? [] : [evidenceId],
    },
    (snapshot) => decideReinforce(snapshot, request),
  );
}

function decideReinforce(snapshot: ChangeSnapshot, request: Request): Decision<MemoryNode> {
  const { at } = snapshot;
  const { operationId, requestId, evidenceId } = request;
  const before = requireNode(snapshot, request.id, request.owner);
  const repeated = isRetry(
    snapshot,
    request,
    (record, { targetId }) =>
      targetId === before.id && record["evidence_id"] === (evidenceId ?? null),
  );
  if (repeated) return { change: undefined, result: before };
  requireCitable(snapshot, evidenceId, before);
  const after = reinforced(before, evidenceId, at);
  const payload = checksummed({
    version: 2,
    policy: "additive_caps_v1",
    operation_id: operationId,
    request_id: requestId ?? null,
    evidence_id: evidenceId ?? null,
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
  });
  const entry = { id: operationId, actorId: before.userId, at, payload };
  const operation = logEntry(OPERATION, after, entry);
  return { change: { nodes: [after], edges: [], auditRecords: [operation] }, result: after };
}

/** Evidence of another owner counts as missing; of another scope, as the wrong evidence. */
function requireCitable(snapshot: ChangeSnapshot, id: Uuid | undefined, node: MemoryNode): void {
  if (id === undefined) return;
  const event = ownEvent(snapshot, id, node);
  if (event === undefined) {
    throw new SvcError("not_found", `Event '${id}' not found`, { kind: "event", id });
  }
  requireSameScope(event, node);
}
