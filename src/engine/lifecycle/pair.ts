import { parseId, parseOptionalId } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import type { EdgeType } from "../../domain/enums.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { canReplace, requireStep } from "../../domain/lifecycle.ts";
import { type Edge, edgeRecord, type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Instant } from "../../lib/instant.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  ChangeReads,
  ChangeSnapshot,
  Decision,
  PlannedChange,
} from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { ChangeCaller, ClaimsOptions } from "./api.ts";
import {
  type ChangeDeps,
  isRetry,
  isSameActor,
  logEntry,
  operationIdOf,
  parseCaller,
  requireEvidence,
  requireNode,
} from "./change-one.ts";

/** Two memories in the order of the arguments. */
type Pair = readonly [MemoryNode, MemoryNode];

/** A change of two memories: its name, the names of its arguments, the base of its ids. */
type PairChange = {
  readonly action: "supersede" | "contradict" | "resolve";
  readonly fields: readonly [string, string];
  readonly idKind: string;
  /** Whether it was done before and still holds. @throws SvcError invalid_transition */
  readonly isRepeated: (snapshot: ChangeSnapshot, pair: Pair, request: PairRequest) => boolean;
  readonly decide: (
    snapshot: ChangeSnapshot,
    pair: Pair,
    request: DatedPairRequest,
  ) => Decision<Pair>;
};

type PairRequest = {
  readonly ids: readonly [Uuid, Uuid];
  readonly owner: Owner;
  readonly actorId: string;
  readonly evidenceId: Uuid | undefined;
  readonly requestId: Uuid | undefined;
  /** Derived from both ids, so that only one of several parallel calls records it. */
  readonly operationId: Uuid;
  /** With the two swapped. */
  readonly reverseId: Uuid;
};

type DatedPairRequest = PairRequest & { readonly at: Instant };

/**
 * Changes two memories of an owner. Repeating it changes nothing while it holds.
 * @throws SvcError not_found; invalid_argument; invalid_transition; request_conflict
 */
export async function changePair(
  deps: ChangeDeps,
  kind: PairChange,
  ids: readonly [string, string],
  options: ClaimsOptions = {},
): Promise<Pair> {
  const request = parsePair(kind, ids, options);
  const reads = readsOf(request);
  const dated = (snapshot: ChangeSnapshot) => decidePair(kind, snapshot, request);
  const { requestId, owner } = request;
  if (requestId === undefined) return deps.store.change(reads, dated);
  const named = { id: request.ids[0], owner, requestId };
  const operationId = await operationIdOf(deps, "svc:pair-change:v1", named);
  const auditRecordIds = [...reads.auditRecordIds, operationId];
  return deps.store.change({ ...reads, auditRecordIds }, (snapshot) => {
    const pair = requirePair(kind, snapshot, request);
    const record = requestRecord(kind, request);
    const done = snapshot.auditRecords.get(request.operationId);
    const edge = done && openChecksummed(done.payload)["edge"];
    const matches = (saved: JsonObject) =>
      withoutActor(saved) === withoutActor(openChecksummed(record)) &&
      isSameActor(request, saved["actor_id"], edge);
    if (isRetry(snapshot, { operationId, requestId }, matches)) {
      return { change: undefined, result: pair };
    }
    const { change, result } = dated(snapshot);
    const entry: AuditRecord = {
      id: operationId,
      opType: "PAIR_CHANGE_REQUESTED",
      targetId: requestId,
      payload: record,
      actorId: request.actorId,
      namespaceId: pair[0].scope,
      createdAt: snapshot.at,
    };
    const { nodes = [], edges = [], auditRecords = [] } = change ?? {};
    return { change: { nodes, edges, auditRecords: [...auditRecords, entry] }, result };
  });
}

function decidePair(
  kind: PairChange,
  snapshot: ChangeSnapshot,
  request: PairRequest,
): Decision<Pair> {
  const pair = requirePair(kind, snapshot, request);
  if (kind.isRepeated(snapshot, pair, request)) return { change: undefined, result: pair };
  requireKinship(kind, snapshot, pair, request.evidenceId);
  return kind.decide(snapshot, pair, { ...request, at: snapshot.at });
}

function withoutActor(record: JsonObject): string {
  return canonicalJson({ ...record, actor_id: null });
}

function requestRecord(
  { action }: PairChange,
  { ids, actorId, evidenceId, operationId }: PairRequest,
): JsonObject {
  return checksummed({
    version: 1,
    action,
    node_ids: [...ids],
    actor_id: actorId,
    evidence_id: evidenceId ?? null,
    operation_id: operationId,
  });
}

export function parsePair(
  { fields, idKind }: PairChange,
  [firstId, secondId]: readonly [string, string],
  options: ClaimsOptions,
): PairRequest {
  const first = parseId(firstId, fields[0]);
  const second = parseId(secondId, fields[1]);
  const evidenceId = parseOptionalId(options.evidenceId, "evidence_id");
  return {
    ...parseCaller(options),
    ids: [first, second],
    evidenceId,
    requestId: parseOptionalId(options.requestId, "request_id"),
    operationId: uuidV5(first, `${idKind}:${second}`),
    reverseId: uuidV5(second, `${idKind}:${first}`),
  };
}

function readsOf(request: PairRequest): ChangeReads {
  const { ids, owner, operationId, reverseId, evidenceId } = request;
  return {
    owner,
    nodeIds: ids,
    auditRecordIds: [operationId, reverseId],
    eventIds: evidenceId === undefined ? [] : [evidenceId],
  };
}

/** @throws SvcError not_found; invalid_argument if both are the same */
function requirePair(
  { fields }: PairChange,
  snapshot: ChangeSnapshot,
  { ids: [firstId, secondId], owner }: PairRequest,
): Pair {
  const first = requireNode(snapshot, firstId, owner);
  const second = requireNode(snapshot, secondId, owner);
  if (first.id === second.id) throw invalid(fields[1], `names the same memory as ${fields[0]}`);
  return [first, second];
}

/** Checks that evidence and both memories have one owner and scope. @throws SvcError invalid_argument */
function requireKinship(
  { fields }: PairChange,
  snapshot: ChangeSnapshot,
  [first, second]: Pair,
  evidenceId: Uuid | undefined,
): void {
  requireEvidence(snapshot, evidenceId, first);
  if (first.userId !== second.userId) {
    throw invalid(fields[1], `memory ${second.id} has another owner than memory ${first.id}`);
  }
  if (first.scope !== second.scope) {
    throw invalid(
      fields[1],
      `memory ${second.id} is of scope ${second.scope}, memory ${first.id} of scope ${first.scope}; both must be of one scope`,
    );
  }
}

/** Whether it was recorded in this order with the same input, and holds. @throws SvcError invalid_transition if recorded otherwise */
function isRecorded(
  kind: Pick<PairChange, "action">,
  { auditRecords }: ChangeSnapshot,
  pair: Pair,
  request: PairRequest,
  stands: boolean,
): boolean {
  const earlier = auditRecords.get(request.operationId) ?? auditRecords.get(request.reverseId);
  if (earlier === undefined) return false;
  const isSame = earlier.id === request.operationId && stands && sameInputs(earlier, request);
  if (isSame) return true;
  throw recordedBefore(kind, pair, earlier);
}

/** @param shown members outside the checksum */
function pairEntry(
  opType: string,
  node: MemoryNode,
  { operationId, actorId, evidenceId, at }: DatedPairRequest,
  record: JsonObject,
  shown: JsonObject = {},
): AuditRecord {
  const evidence = evidenceId ?? null;
  const about = { version: 1, operation_id: operationId, actor_id: actorId, evidence_id: evidence };
  const payload = { ...checksummed({ ...about, ...record }), ...shown };
  return logEntry(opType, node, { id: operationId, actorId, at, payload });
}

/** @throws SvcError storage_failed for a damaged record */
function sameInputs(earlier: AuditRecord, request: PairRequest): boolean {
  const { actor_id: actor, evidence_id: evidence, edge } = openChecksummed(earlier.payload);
  return isSameActor(request, actor, edge) && evidence === (request.evidenceId ?? null);
}

function recordedBefore(
  { action }: Pick<PairChange, "action">,
  [first, second]: Pair,
  earlier: AuditRecord,
): SvcError {
  const evidence = openChecksummed(earlier.payload)["evidence_id"];
  const cited = typeof evidence === "string" ? `evidence ${evidence}` : "no evidence";
  const recorded = earlier.targetId === first.id ? [first, second] : [second, first];
  const [one, other] = recorded.map(({ id, lifecycleState }) => `${id} (${lifecycleState} now)`);
  return new SvcError(
    "invalid_transition",
    `${action}: was recorded at ${earlier.createdAt} for ${one} and ${other}, in this order, ` +
      `by actor ${JSON.stringify(earlier.actorId.slice(0, 80))} with ${cited}; ` +
      "it can be repeated with the same inputs only, and only while both are in the states that it gave them",
    { action, id: first.id },
  );
}

/** The edge of a contradiction, in either direction. */
function contradictionBetween({ edges }: ChangeSnapshot, [first, second]: Pair): Edge | undefined {
  const ids: readonly Uuid[] = [first.id, second.id];
  return edges.find(
    ({ edgeType, sourceId, targetId }) =>
      edgeType === "contradicts" && ids.includes(sourceId) && ids.includes(targetId),
  );
}

/** Supersedes the first with the second. */
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
  decide: decideSupersede,
};

/** Supersedes memories with one written in the same transaction: all, or none. @throws SvcError invalid_argument */
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

/** Omits the new memory's id, which no caller knows yet. */
function requireScopeOf({ scope }: MemoryNode, old: MemoryNode): void {
  if (old.scope === scope) return;
  throw invalid(
    "supersedes",
    `memory ${old.id} is of scope ${old.scope}, the new one of scope ${scope}; both must be of one scope`,
  );
}

function decideSupersede(_: ChangeSnapshot, pair: Pair, request: DatedPairRequest): Decision<Pair> {
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
  // SAFETY: `decideSupersede` writes the edge, and the checksum matches.
  const recorded = openChecksummed(earlier.payload)["edge"] as JsonObject;
  const edge = edges.find(({ id }) => id === edgeIdOf(earlier.id));
  return (
    old.lifecycleState === "superseded" &&
    old.supersededBy === replacement.id &&
    edge !== undefined &&
    withoutOwner(edgeRecord.to(edge)) === withoutOwner(recorded)
  );
}

/** Owners may have been renamed or merged since. */
function withoutOwner(edge: JsonObject): string {
  return canonicalJson({ ...edge, userId: null });
}

/** Marks two claims as contradicting each other. */
export const CONTRADICT: PairChange = {
  action: "contradict",
  fields: ["node_a_id", "node_b_id"],
  idKind: "svc:contradiction:v1",
  isRepeated: (snapshot, pair, request) => {
    const stands =
      pair.every(({ lifecycleState }) => lifecycleState === "contested") &&
      contradictionBetween(snapshot, pair) !== undefined;
    return isRecorded(CONTRADICT, snapshot, pair, request, stands);
  },
  decide: decideContradict,
};

function decideContradict(
  snapshot: ChangeSnapshot,
  pair: Pair,
  request: DatedPairRequest,
): Decision<Pair> {
  const [firstBefore, secondBefore] = pair;
  const first = contested(firstBefore, request);
  const second = contested(secondBefore, request);
  if (contradictionBetween(snapshot, pair) !== undefined) {
    throw new SvcError(
      "invalid_transition",
      `contradict: memories ${first.id} and ${second.id} contradicted each other before; that cannot be marked twice`,
      { action: CONTRADICT.action, id: first.id },
    );
  }
  const edge = edgeOf(request, "contradicts", second, first);
  const record = {
    policy: "explicit_contradiction_v1",
    before: { node_a: nodeRecord.to(firstBefore), node_b: nodeRecord.to(secondBefore) },
    after: { node_a: nodeRecord.to(first), node_b: nodeRecord.to(second) },
    edge: edgeRecord.to(edge),
  };
  const operation = pairEntry("CONTRADICTION_NOTED", first, request, record, {
    node_a_id: first.id,
    node_b_id: second.id,
    evidence_event_id: request.evidenceId ?? null,
  });
  return {
    change: { nodes: [first, second], edges: [edge], auditRecords: [operation] },
    result: [first, second],
  };
}

function contested(before: MemoryNode, { at }: DatedPairRequest): MemoryNode {
  return { ...before, lifecycleState: requireStep("contradict", before), updatedAt: at };
}

/** Ends a contradiction in favour of the first. */
export const RESOLVE: PairChange = {
  action: "resolve",
  fields: ["winner_id", "loser_id"],
  idKind: "svc:contradiction-resolution:v1",
  isRepeated: (snapshot, pair, request) => {
    const [winner, loser] = pair;
    const stands = winner.lifecycleState === "stable" && loser.lifecycleState === "deprecated";
    return isRecorded(RESOLVE, snapshot, pair, request, stands);
  },
  decide: decideResolve,
};

function decideResolve(
  snapshot: ChangeSnapshot,
  pair: Pair,
  request: DatedPairRequest,
): Decision<Pair> {
  const [winnerBefore, loserBefore] = pair;
  const { at: updatedAt } = request;
  const winner = { ...winnerBefore, lifecycleState: requireStep("win", winnerBefore), updatedAt };
  const loser = { ...loserBefore, lifecycleState: requireStep("lose", loserBefore), updatedAt };
  const edge = contradictionBetween(snapshot, pair);
  if (edge === undefined) {
    throw new SvcError(
      "invalid_transition",
      `resolve: memories ${winner.id} and ${loser.id} are contested, but not with each other`,
      { action: RESOLVE.action, id: winner.id },
    );
  }
  const auditRecords = [
    transitionEntry("winner", winnerBefore, winner, request),
    transitionEntry("loser", loserBefore, loser, request),
    resolutionEntry(pair, [winner, loser], edge, request),
  ];
  return { change: { nodes: [winner, loser], edges: [], auditRecords }, result: [winner, loser] };
}

function transitionEntry(
  part: "winner" | "loser",
  before: MemoryNode,
  after: MemoryNode,
  { operationId, actorId, evidenceId, at }: DatedPairRequest,
): AuditRecord {
  return logEntry("EPISTEMIC_TRANSITION", after, {
    id: uuidV5(operationId, part),
    actorId,
    at,
    payload: {
      from_state: before.lifecycleState,
      to_state: after.lifecycleState,
      reason: `contradiction_resolved_${part}`,
      evidence_event_id: evidenceId ?? null,
    },
  });
}

function resolutionEntry(
  before: Pair,
  [winner, loser]: Pair,
  edge: Edge,
  request: DatedPairRequest,
): AuditRecord {
  const record = {
    policy: "explicit_contradiction_resolution_v1",
    before: { winner: nodeRecord.to(before[0]), loser: nodeRecord.to(before[1]) },
    after: { winner: nodeRecord.to(winner), loser: nodeRecord.to(loser) },
    edge: edgeRecord.to(edge),
  };
  return pairEntry("CONTRADICTION_RESOLVED", winner, request, record, {
    winner_id: winner.id,
    loser_id: loser.id,
    evidence_event_id: request.evidenceId ?? null,
  });
}

function edgeIdOf(operationId: Uuid): Uuid {
  return uuidV5(operationId, "edge");
}

/** The edge of an operation, valid from now. */
export function edgeOf(
  operation: {
    readonly operationId: Uuid;
    readonly evidenceId: Uuid | undefined;
    readonly at: Instant;
  },
  edgeType: EdgeType,
  source: MemoryNode,
  target: MemoryNode,
): Edge {
  return {
    id: edgeIdOf(operation.operationId),
    userId: source.userId,
    sourceId: source.id,
    targetId: target.id,
    edgeType,
    confidence: 1,
    validFrom: operation.at,
    validTo: undefined,
    provenanceEventId: operation.evidenceId,
    metadata: undefined,
    createdAt: operation.at,
  };
}
