import { parseId, parseOptionalId } from "../../domain/arguments.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { TransitionOptions } from "./api.ts";
import { parseCaller } from "./caller.ts";
import { type ChangeDeps, changeOne, isSameActor } from "./request-keys.ts";

/**
 * Moves one memory to its next state.
 * @param action a step that a caller asks for by name and that concerns one memory
 * @throws SvcError invalid_argument; not_found; invalid_transition; request_conflict
 */
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
