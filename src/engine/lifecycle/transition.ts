import { parseId, parseOptionalId } from "../../domain/arguments.ts";
import { checksummed } from "../../domain/checksummed.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { TransitionOptions } from "./api.ts";
import { parseCaller } from "./caller.ts";
import { requireNode } from "./found.ts";
import { logEntry } from "./log-entry.ts";
import { type ChangeDeps, isRetry, isSameActor, operationIdOf } from "./request-keys.ts";

const OPERATION = "LIFECYCLE_CHANGED";

/** Steps that a caller asks for by name and that concern one memory. */
type Action = "promote" | "archive";

type Request = {
  readonly action: Action;
  readonly id: Uuid;
  readonly owner: Owner;
  readonly actorId: string;
  readonly requestId: Uuid | undefined;
  readonly operationId: Uuid;
};

/**
 * Moves one memory to its next state. A retry with the same request id returns the memory as it is now, whatever has happened to
 * it since.
 * @throws SvcError invalid_argument; not_found; invalid_transition; request_conflict
 */
export async function transition(
  deps: ChangeDeps,
  action: Action,
  nodeId: string,
  options: TransitionOptions = {},
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const caller = parseCaller(options);
  const requestId = parseOptionalId(options.requestId, "request_id");
  const key = { id, owner: caller.owner, requestId };
  const operationId = await operationIdOf(deps, "svc:lifecycle:v1", key);
  const request: Request = { ...caller, action, id, requestId, operationId };
  return deps.store.change(
    { nodeIds: [id], auditRecordIds: [operationId], eventIds: [] },
    (snapshot) => decideTransition(snapshot, request),
  );
}

function decideTransition(snapshot: ChangeSnapshot, request: Request): Decision<MemoryNode> {
  const { at } = snapshot;
  const { action, operationId, actorId } = request;
  const before = requireNode(snapshot, request.id, request.owner);
  const repeated = isRetry(
    snapshot,
    request,
    (record, { targetId, actorId: actor }) =>
      record["action"] === action &&
      targetId === before.id &&
      isSameActor(request, actor, record["before"]),
  );
  if (repeated) return { change: undefined, result: before };
  const after = { ...before, lifecycleState: requireStep(action, before), updatedAt: at };
  const payload = checksummed({
    version: 1,
    policy: "lifecycle_transitions_v1",
    operation_id: operationId,
    action,
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
  });
  const operation = logEntry(OPERATION, after, { id: operationId, actorId, at, payload });
  return { change: { nodes: [after], edges: [], auditRecords: [operation] }, result: after };
}
