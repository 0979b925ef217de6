import { LIMITS, parseOwner, parseText } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { invalid, missingNode, SvcError } from "../../domain/errors.ts";
import { type MemoryEvent, type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { isEverybody, type Owner, owns } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Graph } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { IndexedNode } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { type NamedRecords, operationIdFor } from "../owner-names.ts";
import type { ChangeCaller } from "./api.ts";

export type ChangeDeps = Pick<EngineDeps<Graph & NamedRecords>, "store" | "ids">;

/**
 * A change of one memory that its caller may have given a request id, so that a retry can be distinguished from a second change.
 */
type Keyed = {
  readonly id: Uuid;
  readonly owner: Owner;
  readonly requestId: Uuid | undefined;
};

/**
 * The id under which a change is recorded: derived from kind, owner and request id if there is one, else a new one. The owner's
 * name is that of the first call, which may have been before a rename or join.
 * @throws SvcError not_found
 */
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

/** A kind of change of one memory. */
type OneKind = {
  readonly opType: string;
  readonly idKind: string;
  /** Whether the inputs are those of a recorded change of the memory. */
  readonly isSame: (record: JsonObject, earlier: AuditRecord, before: MemoryNode) => boolean;
  /**
   * @returns the memory after the change, its actor, and the members of the record that only this kind has; undefined if there is
   *   nothing to change
   */
  readonly decide: (before: MemoryNode, snapshot: ChangeSnapshot) => Changed | undefined;
};
type Changed = {
  readonly after: MemoryNode;
  readonly actorId: string;
  readonly record: JsonObject;
  /** The index entries of a memory that becomes active again. */
  readonly added?: readonly IndexedNode[];
};

/**
 * Changes one memory. A retry with the same request id returns it as it is now, whatever has happened to it since.
 * @throws SvcError not_found; request_conflict; what `decide` throws
 */
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

/** The checksummed record of a change to one memory, with the memory before and after it. */
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

/**
 * Whether a change was made before, under the same request id and with the same inputs.
 * @param matches compares the inputs with the recorded ones
 * @throws SvcError request_conflict if the inputs differ
 */
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

/**
 * Whether somebody is the actor of a recorded change. An owner is known by the present name and by the name at that time.
 * @param actor as recorded
 * @param part of the record, with the owner's name at that time
 */
export function isSameActor(
  { actorId, owner }: { readonly actorId: string; readonly owner: Owner },
  actor: Json | undefined,
  part: Json | undefined,
): boolean {
  if (actor === actorId) return true;
  const isOwned = typeof part === "object" && part !== null && "userId" in part;
  return actorId === owner && isOwned && part["userId"] === actor;
}

/** The actor if neither an actor nor an owner is named. */
const NOBODY = "system";

/** The name under which a change is recorded; undefined if none is given. @throws SvcError invalid_argument */
export function parseActor(actorId: string | null | undefined): string | undefined {
  if (actorId === undefined || actorId === null) return undefined;
  const actor = parseText(actorId, "actor_id").trim();
  if (actor === "") throw invalid("actor_id", "must not be blank");
  const length = [...actor].length;
  if (length > LIMITS.actorMaxChars) {
    throw invalid("actor_id", `has ${length} characters, at most ${LIMITS.actorMaxChars}`);
  }
  return actor;
}

/** Owner and actor of a change; the actor is the owner unless named. @throws SvcError invalid_argument */
export function parseCaller(caller: ChangeCaller): {
  readonly owner: Owner;
  readonly actorId: string;
} {
  const owner = parseOwner(caller.userId);
  const actorId = parseActor(caller.actorId) ?? (isEverybody(owner) ? NOBODY : owner);
  return { owner, actorId };
}

/** What a change must find before it decides. */

/**
 * A memory of an owner.
 * @throws SvcError not_found
 */
export function requireNode({ nodes }: ChangeSnapshot, id: Uuid, owner: Owner): MemoryNode {
  const node = nodes.get(id);
  if (node === undefined || !owns(owner, node.userId)) throw missingNode(id);
  return node;
}

/** An event of the owner of a memory; undefined if there is none. */
export function ownEvent(
  { events }: ChangeSnapshot,
  id: Uuid,
  { userId }: MemoryNode,
): MemoryEvent | undefined {
  const event = events.get(id);
  return event?.userId === userId ? event : undefined;
}

/**
 * Checks that evidence, if any, is an event of the memory's owner and scope.
 * @throws SvcError invalid_argument
 */
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

/** @throws SvcError invalid_argument if evidence has another scope than the memory that it supports */
export function requireSameScope(event: MemoryEvent, node: MemoryNode): void {
  if (event.scope === node.scope) return;
  throw invalid(
    "evidence_id",
    `event ${event.id} is of scope ${event.scope}, memory ${node.id} of scope ${node.scope}; name an event of the same scope`,
  );
}

/** The audit record of a change to a memory; its namespace is the memory's scope. */
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
