import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { edgeRecord } from "../../domain/edge.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { canReplace, requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision, PlannedChange } from "../../ports/store/changes.ts";
import type { ChangeCaller, ClaimsOptions } from "./api.ts";
import { requireNode } from "./found.ts";
import { logEntry } from "./log-entry.ts";
import { edgeIdOf, edgeOf } from "./new-edge.ts";
import {
  changePair,
  type DatedPairRequest,
  type Pair,
  type PairKind,
  parsePair,
  readsOf,
  recordedBefore,
  requireKinship,
  requirePair,
  sameInputs,
} from "./pair.ts";
import type { ChangeDeps } from "./request-keys.ts";

const OPERATION = "SUPERSEDENCE_APPLIED";
const KIND: PairKind = {
  action: "supersede",
  fields: ["old_node_id", "new_node_id"],
  idKind: "svc:explicit-supersedence:v1",
};

/**
 * Replaces one memory with another. A retry while the replacement stands changes nothing.
 * @returns the replaced memory, then its replacement
 * @throws SvcError not_found; invalid_argument; invalid_transition; request_conflict
 */
export async function supersede(
  deps: ChangeDeps,
  oldNodeId: string,
  newNodeId: string,
  options: ClaimsOptions = {},
): Promise<Pair> {
  return changePair(deps, KIND, parsePair(KIND, [oldNodeId, newNodeId], options), decideSupersede);
}

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
  const requests = nodeIds.map((id) => parsePair(KIND, [id, replacement.id], caller));
  const reads = requests.map(readsOf);
  return {
    reads: {
      nodeIds: [...nodeIds, replacement.id],
      auditRecordIds: reads.flatMap(({ auditRecordIds }) => auditRecordIds),
      eventIds: [],
    },
    decide: (snapshot) => {
      const changes = requests.flatMap((request) => {
        requireScopeOf(replacement, requireNode(snapshot, request.ids[0], request.owner));
        return decideSupersede(snapshot, { ...request, at: snapshot.at }).change ?? [];
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

function decideSupersede(snapshot: ChangeSnapshot, request: DatedPairRequest): Decision<Pair> {
  const pair = requirePair(KIND, snapshot, request);
  const [before, replacement] = pair;
  const earlier = snapshot.auditRecords.get(request.operationId);
  if (earlier !== undefined) {
    if (sameInputs(earlier, request) && stillStands(snapshot, pair, earlier)) {
      return { change: undefined, result: pair };
    }
    throw recordedBefore(KIND, pair, earlier);
  }
  requireKinship(KIND, snapshot, pair, request.evidenceId);
  requireReplacement(replacement);
  requireUnreplaced(before);
  const { operationId, actorId, evidenceId, at } = request;
  const after: MemoryNode = {
    ...before,
    lifecycleState: requireStep("supersede", before),
    supersededBy: replacement.id,
    updatedAt: at,
  };
  const edge = edgeOf(request, "supersedes", replacement, before);
  const payload = checksummed({
    version: 1,
    policy: "explicit_supersedence_v1",
    operation_id: operationId,
    actor_id: actorId,
    evidence_id: evidenceId ?? null,
    before: nodeRecord.to(before),
    replacement: nodeRecord.to(replacement),
    after: nodeRecord.to(after),
    edge: edgeRecord.to(edge),
  });
  const operation = logEntry(OPERATION, after, { id: operationId, actorId, at, payload });
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
    { action: KIND.action, id, from, to: from },
  );
}

function requireUnreplaced({ id, lifecycleState: from, supersededBy }: MemoryNode): void {
  if (from !== "superseded" || supersededBy === undefined) return;
  throw new SvcError(
    "invalid_transition",
    `supersede: memory ${id} was replaced by memory ${supersededBy} before; replace that one instead`,
    { action: KIND.action, id, from, to: from },
  );
}

function stillStands(
  { edges }: ChangeSnapshot,
  [old, replacement]: Pair,
  earlier: AuditRecord,
): boolean {
  // SAFETY: the record's checksum matches, and decideSupersede always writes the edge into it.
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
