import { invalid, missingNode } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { type Owner, owns } from "../../domain/owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot } from "../../ports/store/changes.ts";

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
