import { canonicalJson } from "../../lib/json.ts";
import { compareUnits } from "../../lib/text.ts";
import { isPersonal } from "../extraction/personal.ts";
import { canReplace } from "../lifecycle.ts";
import type { MemoryNode } from "../node.ts";
import { counterparts, nameKey } from "./abbreviations.ts";

/** Which memories say the same and may become one. A user's own notes of different sessions or metadata never do. */

/**
 * What two memories must have in common to be one: a text that is equal for compatible memories and for no others. Undefined for an
 * entity that stands for somebody in its own turn only: it is compatible with none.
 */
export function compatibility(node: MemoryNode): string | undefined {
  if (node.nodeType === "entity" && isReference(node)) return undefined;
  return canonicalJson([
    node.userId,
    node.scope,
    node.nodeType,
    node.sourceType,
    node.epistemicType,
    node.sessionId ?? null,
    node.eventTime ?? null,
    node.validTo ?? null,
    node.ttlDays ?? null,
    node.pinned,
    node.metadata ?? {},
  ]);
}

/** Whether an entity is a personal word, which names somebody only where it is said. */
function isReference({ content, metadata }: MemoryNode): boolean {
  const type = metadata?.["entity_type"];
  const isMarked = metadata?.["identity_status"] !== undefined;
  return isMarked || isPersonal(content, typeof type === "string" ? type : undefined);
}

export function isCompatible(one: MemoryNode, other: MemoryNode): boolean {
  const shared = compatibility(one);
  return one.id !== other.id && shared !== undefined && shared === compatibility(other);
}

/** What duplicates have in common besides being compatible. */
export function sameness(node: MemoryNode): string {
  if (node.nodeType === "entity") return nameKey(node.content);
  return JSON.stringify([node.content, isDated(node) ? node.validFrom : undefined]);
}

/**
 * Whether the beginning of a memory's validity tells it from others with its text: somebody named it, or it is a turn of a
 * conversation, where what was said twice was said twice. Else it is only when a loop stored it once more.
 */
function isDated({ nodeType, sessionId, validFrom, createdAt }: MemoryNode): boolean {
  return validFrom !== createdAt || (nodeType === "note" && sessionId !== undefined);
}

/** Whether two memories are one and the same, and both may still be merged. */
export function isDuplicate(one: MemoryNode, other: MemoryNode): boolean {
  return areOpen(one, other) && isCompatible(one, other) && sameness(one) === sameness(other);
}

/** Whether both are tentative or stable. */
export function areOpen(one: MemoryNode, other: MemoryNode): boolean {
  return canReplace(one.lifecycleState) && canReplace(other.lifecycleState);
}

/** Scores of names that match by their letters. */
export const NAME_SCORES = { abbreviation: 0.95, case_variation: 0.9 } as const;

/** How the letters of two names match; `equal` for the same name; undefined if they do not. */
export function namesMatch(
  one: string,
  other: string,
): "abbreviation" | "case_variation" | "equal" | undefined {
  if (one.trim() === other.trim()) return "equal";
  const key = nameKey(one);
  const otherKey = nameKey(other);
  if (counterparts(key).includes(otherKey)) return "abbreviation";
  return key === otherKey ? "case_variation" : undefined;
}

/** Why two memories are merged. */
export type MergeKind = "duplicate" | "alias";

/** The two memories of a merge, the one that is kept first: of duplicates the one that was said last. */
export function keptFirst(
  kind: MergeKind,
  one: MemoryNode,
  other: MemoryNode,
): readonly [kept: MemoryNode, retired: MemoryNode] {
  const nameLength = (node: MemoryNode) => [...node.content.trim()].length;
  const order =
    (kind === "alias"
      ? nameLength(other) - nameLength(one)
      : one.nodeType === "entity"
        ? 0
        : compareUnits(other.validFrom, one.validFrom)) ||
    other.confidenceBase - one.confidenceBase ||
    other.evidenceRefs.length - one.evidenceRefs.length ||
    compareUnits(one.createdAt, other.createdAt) ||
    compareUnits(one.id, other.id);
  return order <= 0 ? [one, other] : [other, one];
}

/** Evidence of several memories in order, without repeats. */
export function evidenceUnion<T>(lists: Iterable<readonly T[]>): readonly T[] {
  return [...new Set([...lists].flat())];
}
