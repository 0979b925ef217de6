import { type Instant, nextInstant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { SvcError } from "../errors.ts";
import { isActive } from "../lifecycle.ts";
import type { MemoryNode } from "../node.ts";
import { hasText } from "./turns.ts";

/** What a change of memories may do, so that their index entries stay correct. */

/** Members of a node that never change once it is written. Its index entries are made from some of them. */
export const LASTING_MEMBERS = [
  "id",
  "userId",
  "sessionId",
  "nodeType",
  "content",
  "scope",
  "createdAt",
  "eventTime",
] as const satisfies (keyof MemoryNode)[];

/**
 * The moment of a change: later than the last change of each of the nodes. A writer that waited for the lock may have read the
 * clock before the previous holder did, and the clocks of processes differ.
 */
export function momentAfter(nodes: Iterable<Pick<MemoryNode, "updatedAt">>, now: Instant): Instant {
  const after = Array.from(nodes, ({ updatedAt }) => nextInstant(updatedAt));
  return [now, ...after].sort().at(-1) ?? now;
}

export type NodeChange = { readonly before: MemoryNode; readonly after: MemoryNode };

/**
 * The changes that a decision wants to make to nodes.
 * @param found the nodes that were read for the decision
 * @param added those that get index entries
 * @throws SvcError internal for a node that is written twice or was not read, whose lasting members change, or that goes
 *   back to an active state without its index entries
 */
export function nodeChanges(
  nodes: readonly MemoryNode[],
  found: ReadonlyMap<Uuid, MemoryNode>,
  added: readonly { readonly node: MemoryNode }[] = [],
): readonly NodeChange[] {
  const indexed = new Set(added.map(({ node }) => node.id));
  if (new Set(nodes.map(({ id }) => id)).size < nodes.length) {
    throw brokenChange("a node is written twice");
  }
  return nodes.map((after) => {
    const before = found.get(after.id);
    if (before === undefined)
      throw brokenChange(`the node ${after.id} is written but was not read`);
    const altered = LASTING_MEMBERS.find((name) => after[name] !== before[name]);
    if (altered !== undefined) throw brokenChange(`the node ${after.id} gets another ${altered}`);
    const isBack = isActive(after.lifecycleState) && !isActive(before.lifecycleState);
    if (isBack && hasText(after.content) && !indexed.has(after.id)) {
      throw brokenChange(
        `the node ${after.id} goes from ${before.lifecycleState} back to an active state without index entries`,
      );
    }
    return { before, after };
  });
}

/** Whether a change removes a node from the indexes. */
export function isRetired({ before, after }: NodeChange): boolean {
  return isActive(before.lifecycleState) && !isActive(after.lifecycleState);
}

/** The error of a change that breaks the rules. */
export function brokenChange(what: string): SvcError {
  return new SvcError("internal", `a change of memories was not made: ${what}`);
}
