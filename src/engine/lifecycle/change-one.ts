import { LIMITS, parseOptionalText, parseOwner } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { invalid, missingNode, SvcError } from "../../domain/errors.ts";
import { type MemoryEvent, type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { isEverybody, type Owner, owns } from "../../domain/owner.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Graph } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { IndexedNode } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { type NamedRecords, operationIdFor } from "../owners.ts";
import type { ChangeCaller } from "./api.ts";

export type ChangeDeps = Pick<EngineDeps<Graph & NamedRecords>, "store" | "ids">;

type Keyed = { readonly id: Uuid; readonly owner: Owner; readonly requestId: Uuid | undefined };

/** The id of an operation, derived from kind, owner and request id if there is one. A retry uses the owner's name at the first call. */
export async function operationIdOf(
  { store, ids }: ChangeDeps,
  kind: string,
  { id, owner, requestId }: Keyed,
): Promise<Uuid> {
  if (requestId === undefined) return ids.next();
  const node = await store.node(id, owner);
  if (node === undefined) throw missingNode(id);
  return await operationIdFor(store, node.userId, (name) =>
    uuidV5("url", JSON.stringify([kind, name, requestId])),
  );
}

type OneKind = {
  readonly opType: string;
  readonly idKind: string;
  /** Whether a recorded change had the same input. */
  readonly isSame: (record: JsonObject, earlier: AuditRecord, before: MemoryNode) => boolean;
  /** @returns undefined if nothing changes */
  readonly decide: (before: MemoryNode, snapshot: ChangeSnapshot) => Changed | undefined;
};
type Changed = {
  readonly after: MemoryNode;
  readonly actorId: string;
  readonly record: JsonObject;
  /** Index entries of a memory that becomes active again. */
  readonly added?: readonly IndexedNode[];
};

/** Changes one memory. A retry with the same request id returns its current form. @throws SvcError not_found; request_conflict */
export async function changeOne(
  deps: ChangeDeps,
  { opType, idKind, isSame, decide }: OneKind,
  { id, owner, requestId, evidenceId }: Keyed & { readonly evidenceId?: Uuid | undefined },
): Promise<MemoryNode> {
  const operationId = await operationIdOf(deps, idKind, { id, owner, requestId });
  const eventIds = evidenceId === undefined ? [] : [evidenceId];
  return deps.store.change(
    { owner, nodeIds: [id], auditRecordIds: [operationId], eventIds },
    (snapshot) => {
      const before = requireNode(snapshot, id, owner);
      const repeated = isRetry(
        snapshot,
        { operationId, requestId },
        (record, earlier) => earlier.targetId === before.id && isSame(record, earlier, before),
      );
      if (repeated) return { change: undefined, result: before };
      const changed = decide(before, snapshot);
      if (changed === undefined) return { change: undefined, result: before };
      const { after, actorId, record, added } = changed;
      const dated = { operationId, actorId, at: snapshot.at };
      const auditRecords = [changeEntry(opType, { before, after, record }, dated)];
      return { change: { nodes: [after], added, edges: [], auditRecords }, result: after };
    },
  );
}

export function changeEntry(
  opType: string,
  changed: { readonly before: MemoryNode; readonly after: MemoryNode; readonly record: JsonObject },
  dated: { readonly operationId: Uuid; readonly actorId: string; readonly at: Instant },
): AuditRecord {
  const { before, after, record } = changed;
  const { operationId, actorId, at } = dated;
  const payload = checksummed({
    ...record,
    operation_id: operationId,
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
  });
  return logEntry(opType, after, { id: operationId, actorId, at, payload });
}

/** Whether the same request made this change before. @throws SvcError request_conflict if the input differs */
export function isRetry(
  { auditRecords }: ChangeSnapshot,
  request: { readonly operationId: Uuid; readonly requestId: Uuid | undefined },
  matches: (record: JsonObject, earlier: AuditRecord) => boolean,
): boolean {
  const { operationId, requestId } = request;
  const earlier = auditRecords.get(operationId);
  if (earlier === undefined || requestId === undefined) return false;
  if (matches(openChecksummed(earlier.payload), earlier)) return true;
  throw new SvcError(
    "request_conflict",
    `request_id ${requestId} was used before with different inputs; use a new one`,
    { request_id: requestId },
  );
}

/** Whether an actor matches that of a record; an owner matches under the current name and the recorded one (`userId` of `part`). */
export function isSameActor(
  { actorId, owner }: { readonly actorId: string; readonly owner: Owner },
  actor: Json | undefined,
  part: Json | undefined,
): boolean {
  if (actor === actorId) return true;
  const isOwned = typeof part === "object" && part !== null && "userId" in part;
  return actorId === owner && isOwned && part["userId"] === actor;
}

const NOBODY = "system";

export function parseActor(actorId: string | null | undefined): string | undefined {
  return parseShort(actorId, "actor_id", LIMITS.actorMaxChars);
}

export function parseReason(reason: string | null | undefined): string | undefined {
  return parseShort(reason, "reason", LIMITS.reasonMaxChars);
}

function parseShort(value: unknown, field: string, max: number): string | undefined {
  const text = parseOptionalText(value, field)?.trim();
  if (text === "") throw invalid(field, "must not be blank");
  const length = [...(text ?? "")].length;
  if (length > max) throw invalid(field, `has ${length} characters, at most ${max}`);
  return text;
}

/** The actor is the owner unless named. @throws SvcError invalid_argument */
export function parseCaller(caller: ChangeCaller): {
  readonly owner: Owner;
  readonly actorId: string;
} {
  const owner = parseOwner(caller.userId);
  const actorId = parseActor(caller.actorId) ?? (isEverybody(owner) ? NOBODY : owner);
  return { owner, actorId };
}

/** @throws SvcError not_found */
export function requireNode({ nodes }: ChangeSnapshot, id: Uuid, owner: Owner): MemoryNode {
  const node = nodes.get(id);
  if (node === undefined || !owns(owner, node.userId)) throw missingNode(id);
  return node;
}

export function ownEvent(
  { events }: ChangeSnapshot,
  id: Uuid,
  { userId }: MemoryNode,
): MemoryEvent | undefined {
  const event = events.get(id);
  return event?.userId === userId ? event : undefined;
}

/** Checks that evidence, if any, is an event of the memory's owner and scope. @throws SvcError invalid_argument */
export function requireEvidence(
  snapshot: ChangeSnapshot,
  id: Uuid | undefined,
  node: MemoryNode,
): void {
  if (id === undefined) return;
  const event = ownEvent(snapshot, id, node);
  if (event === undefined) {
    throw invalid("evidence_id", `there is no event ${id} of the owner of memory ${node.id}`);
  }
  requireSameScope(event, node);
}

/** @throws SvcError invalid_argument */
export function requireSameScope(event: MemoryEvent, node: MemoryNode): void {
  if (event.scope === node.scope) return;
  throw invalid(
    "evidence_id",
    `event ${event.id} is of scope ${event.scope}, memory ${node.id} of scope ${node.scope}; name an event of the same scope`,
  );
}

export function logEntry(
  opType: string,
  node: MemoryNode,
  entry: {
    readonly id: Uuid;
    readonly actorId: string;
    readonly at: Instant;
    readonly payload: JsonObject;
  },
): AuditRecord {
  return {
    id: entry.id,
    opType,
    targetId: node.id,
    payload: entry.payload,
    actorId: entry.actorId,
    namespaceId: node.scope,
    createdAt: entry.at,
  };
}
