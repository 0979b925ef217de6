import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { missingNode, SvcError } from "../../domain/errors.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { IndexedNode } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { type NamedRecords, operationIdFor } from "../owner-names.ts";
import { requireNode } from "./found.ts";
import { logEntry } from "./log-entry.ts";

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
export type OneKind = {
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
