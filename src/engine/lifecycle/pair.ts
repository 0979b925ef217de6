import { parseId, parseOptionalId } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import type { Edge } from "../../domain/edge.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeReads, ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { ClaimsOptions } from "./api.ts";
import { parseCaller } from "./caller.ts";
import { requireEvidence, requireNode } from "./found.ts";
import { logEntry } from "./log-entry.ts";
import { type ChangeDeps, isRetry, isSameActor, operationIdOf } from "./request-keys.ts";

/** Changes of two memories at once. The order matters. */
export type Pair = readonly [MemoryNode, MemoryNode];

/** A kind of such changes: its name, the names of its two memories, and the basis of its ids. */
export type PairChange = {
  readonly action: "supersede" | "contradict" | "resolve";
  readonly fields: readonly [string, string];
  readonly idKind: string;
  /** Whether it was done before, and stands. @throws SvcError invalid_transition */
  readonly isRepeated: (snapshot: ChangeSnapshot, pair: Pair, request: PairRequest) => boolean;
  readonly decide: (
    snapshot: ChangeSnapshot,
    pair: Pair,
    request: DatedPairRequest,
  ) => Decision<Pair>;
};

export type PairRequest = {
  readonly ids: readonly [Uuid, Uuid];
  readonly owner: Owner;
  readonly actorId: string;
  readonly evidenceId: Uuid | undefined;
  readonly requestId: Uuid | undefined;
  /** The same for every call with these two in this order: of parallel calls one records, the others find it. */
  readonly operationId: Uuid;
  /** The operation of these two in the other order. */
  readonly reverseId: Uuid;
};

export type DatedPairRequest = PairRequest & { readonly at: Instant };

/**
 * Changes two memories of an owner; while the change stands, doing it again changes nothing. A retry with the same request id returns both as they are now,
 * whatever has happened to them since.
 * @throws SvcError invalid_argument; not_found; invalid_transition; request_conflict
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

/** @throws SvcError not_found; invalid_argument; invalid_transition */
export function decidePair(
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

/** The change recorded under a request id. */
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

/** @throws SvcError invalid_argument */
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

/** What a change of two memories reads. */
export function readsOf(request: PairRequest): ChangeReads {
  const { ids, owner, operationId, reverseId, evidenceId } = request;
  return {
    owner,
    nodeIds: ids,
    auditRecordIds: [operationId, reverseId],
    eventIds: evidenceId === undefined ? [] : [evidenceId],
  };
}

/**
 * The two memories, looked up in the order in which they were named.
 * @throws SvcError not_found; invalid_argument if they are the same
 */
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

/**
 * Checks that evidence and both memories belong together.
 * @throws SvcError invalid_argument
 */
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

/**
 * Whether it was recorded before, in this order and with the same inputs, and stands.
 * @throws SvcError invalid_transition if it was recorded otherwise
 */
export function isRecorded(
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

/** The audit record of a change of two memories. @param shown members beside the checksummed ones */
export function pairEntry(
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

/** Whether an earlier change was made by the same actor from the same evidence. @throws SvcError storage_failed */
export function sameInputs(earlier: AuditRecord, request: PairRequest): boolean {
  const { actor_id: actor, evidence_id: evidence, edge } = openChecksummed(earlier.payload);
  return isSameActor(request, actor, edge) && evidence === (request.evidenceId ?? null);
}

/** The earlier operations of these two cannot be repeated, or only with the same input. */
export function recordedBefore(
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

/** The edge that records a contradiction between two memories, whichever was named first. */
export function contradictionBetween(
  { edges }: ChangeSnapshot,
  [first, second]: Pair,
): Edge | undefined {
  const ids: readonly Uuid[] = [first.id, second.id];
  return edges.find(
    ({ edgeType, sourceId, targetId }) =>
      edgeType === "contradicts" && ids.includes(sourceId) && ids.includes(targetId),
  );
}
