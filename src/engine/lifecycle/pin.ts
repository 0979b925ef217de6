import { parseId, parseOptionalBoolean, parseOptionalId } from "../../domain/arguments.ts";
import { invalid } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { TransitionOptions } from "./api.ts";
import { parseCaller } from "./caller.ts";
import { type ChangeDeps, changeOne } from "./request-keys.ts";

/**
 * Pins a memory in any state, or releases it. A pinned memory is a candidate for every question and does not expire. Doing it
 * again changes nothing.
 * @throws SvcError not_found; invalid_argument; request_conflict
 */
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
