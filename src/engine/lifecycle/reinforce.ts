import { parseId, parseOptionalId, parseOwner } from "../../domain/arguments.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { reinforced } from "../../domain/reinforcement.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot } from "../../ports/store/changes.ts";
import type { ReinforceOptions } from "./api.ts";
import { ownEvent, requireSameScope } from "./found.ts";
import { type ChangeDeps, changeOne } from "./request-keys.ts";

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

/** Evidence of another owner counts as missing; of another scope, as the wrong evidence. */
function requireCitable(snapshot: ChangeSnapshot, id: Uuid | undefined, node: MemoryNode): void {
  if (id === undefined) return;
  const event = ownEvent(snapshot, id, node);
  if (event === undefined) {
    throw new SvcError("not_found", `Event '${id}' not found`, { kind: "event", id });
  }
  requireSameScope(event, node);
}
