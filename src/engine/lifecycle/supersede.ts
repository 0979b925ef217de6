import { openChecksummed } from "../../domain/checksummed.ts";
import { edgeRecord } from "../../domain/edge.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { canReplace, requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision, PlannedChange } from "../../ports/store/changes.ts";
import type { ChangeCaller } from "./api.ts";
import { requireNode } from "./found.ts";
import { edgeIdOf, edgeOf } from "./new-edge.ts";
import {
  type DatedPairRequest,
  decidePair,
  type Pair,
  type PairChange,
  pairEntry,
  parsePair,
  readsOf,
  recordedBefore,
  sameInputs,
} from "./pair.ts";

/** Replaces the first with the second. While the replacement stands, doing it again changes nothing. */
export const SUPERSEDE: PairChange = {
  action: "supersede",
  fields: ["old_node_id", "new_node_id"],
  idKind: "svc:explicit-supersedence:v1",
  isRepeated: (snapshot, pair, request) => {
    const earlier = snapshot.auditRecords.get(request.operationId);
    if (earlier === undefined) return false;
    if (sameInputs(earlier, request) && stillStands(snapshot, pair, earlier)) return true;
    throw recordedBefore(SUPERSEDE, pair, earlier);
  },
  decide,
};

/**
 * Replaces memories with one that the same transaction writes: all of them, or the transaction fails with not_found,
 * invalid_argument or invalid_transition.
 * @throws SvcError invalid_argument
 */
export function planSupersedes(
  nodeIds: readonly Uuid[],
  replacement: MemoryNode,
  caller: ChangeCaller,
): PlannedChange {
  const requests = nodeIds.map((id) => parsePair(SUPERSEDE, [id, replacement.id], caller));
  const reads = requests.map(readsOf);
  return {
    reads: {
      owner: replacement.userId,
      nodeIds: [...nodeIds, replacement.id],
      auditRecordIds: reads.flatMap(({ auditRecordIds }) => auditRecordIds),
      eventIds: [],
    },
    decide: (snapshot) => {
      const changes = requests.flatMap((request) => {
        requireScopeOf(replacement, requireNode(snapshot, request.ids[0], request.owner));
        return decidePair(SUPERSEDE, snapshot, request).change ?? [];
      });
      const change = {
        nodes: changes.flatMap(({ nodes }) => nodes),
        edges: changes.flatMap(({ edges }) => edges),
        auditRecords: changes.flatMap(({ auditRecords }) => auditRecords),
      };
      return { change, result: undefined };
    },
  };
}

/** The message leaves out the id of the new memory, which nobody has seen. */
function requireScopeOf({ scope }: MemoryNode, old: MemoryNode): void {
  if (old.scope === scope) return;
  throw invalid(
    "supersedes",
    `memory ${old.id} is of scope ${old.scope}, the new one of scope ${scope}; both must be of one scope`,
  );
}

function decide(_: ChangeSnapshot, pair: Pair, request: DatedPairRequest): Decision<Pair> {
  const [before, replacement] = pair;
  requireReplacement(replacement);
  requireUnreplaced(before);
  const after: MemoryNode = {
    ...before,
    lifecycleState: requireStep("supersede", before),
    supersededBy: replacement.id,
    updatedAt: request.at,
  };
  const edge = edgeOf(request, "supersedes", replacement, before);
  const operation = pairEntry("SUPERSEDENCE_APPLIED", after, request, {
    policy: "explicit_supersedence_v1",
    before: nodeRecord.to(before),
    replacement: nodeRecord.to(replacement),
    after: nodeRecord.to(after),
    edge: edgeRecord.to(edge),
  });
  return {
    change: { nodes: [after], edges: [edge], auditRecords: [operation] },
    result: [after, replacement],
  };
}

function requireReplacement({ id, lifecycleState: from }: MemoryNode): void {
  if (canReplace(from)) return;
  throw new SvcError(
    "invalid_transition",
    `supersede: memory ${id} is ${from}; only a tentative or stable memory can replace another`,
    { action: SUPERSEDE.action, id, from, to: from },
  );
}

function requireUnreplaced({ id, lifecycleState: from, supersededBy }: MemoryNode): void {
  if (from !== "superseded" || supersededBy === undefined) return;
  throw new SvcError(
    "invalid_transition",
    `supersede: memory ${id} was replaced by memory ${supersededBy} before; replace that one instead`,
    { action: SUPERSEDE.action, id, from, to: from },
  );
}

function stillStands(
  { edges }: ChangeSnapshot,
  [old, replacement]: Pair,
  earlier: AuditRecord,
): boolean {
  // SAFETY: the record's checksum matches, and `decide` always writes the edge into it.
  const recorded = openChecksummed(earlier.payload)["edge"] as JsonObject;
  const edge = edges.find(({ id }) => id === edgeIdOf(earlier.id));
  return (
    old.lifecycleState === "superseded" &&
    old.supersededBy === replacement.id &&
    edge !== undefined &&
    withoutOwner(edgeRecord.to(edge)) === withoutOwner(recorded)
  );
}

/** Renames and joins of owners since then do not matter. */
function withoutOwner(edge: JsonObject): string {
  return canonicalJson({ ...edge, userId: null });
}
