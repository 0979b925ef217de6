import type { Instant } from "../lib/instant.ts";
import type { NodeType, Scope, SourceType } from "./enums.ts";
import { type MemoryNode, statedTime } from "./node.ts";
import { expiredAt } from "./retention.ts";

/** Entities and preferences are timeless: validity bounds do not exclude them. */
export const TIMELESS_TYPES: readonly NodeType[] = ["entity", "preference"];

/** What a question may find. Absent members do not restrict. */
export type CandidateFilter = {
  readonly userId: string;
  readonly scopes: readonly Scope[] | undefined;
  readonly excludeNodeTypes: readonly NodeType[] | undefined;
  /** Empty: nothing is allowed. */
  readonly sourceTypes: readonly SourceType[] | undefined;
  /** Keep memories created at or before this moment. */
  readonly knowledgeAt: Instant | undefined;
  /** Bounds of the stated time, inclusive. */
  readonly eventTimeFrom: Instant | undefined;
  readonly eventTimeTo: Instant | undefined;
  /** Keep memories that were still valid after this moment; entities and preferences are exempt. */
  readonly timeFrom: Instant | undefined;
  /** Keep memories that had become valid by this moment; entities and preferences are exempt. */
  readonly timeTo: Instant | undefined;
  /** Keep memories whose retention is not over at this moment. */
  readonly aliveAt?: Instant;
};

/** What an owner may find if nothing else is asked for: everything. */
export function everythingOf(userId: string): CandidateFilter {
  return {
    userId,
    scopes: undefined,
    excludeNodeTypes: undefined,
    sourceTypes: undefined,
    knowledgeAt: undefined,
    eventTimeFrom: undefined,
    eventTimeTo: undefined,
    timeFrom: undefined,
    timeTo: undefined,
  };
}

/**
 * Whether a memory passes a filter, apart from its lifecycle state. The stores evaluate the same rules inside their searches;
 * this form serves memories found in other ways, and the tests that compare the two.
 */
export function passesFilter(node: MemoryNode, filter: CandidateFilter): boolean {
  return (
    node.userId === filter.userId &&
    (filter.scopes?.includes(node.scope) ?? true) &&
    !(filter.excludeNodeTypes?.includes(node.nodeType) ?? false) &&
    (filter.sourceTypes?.includes(node.sourceType) ?? true) &&
    withinValidity(node, filter) &&
    withinKnowledge(node, filter) &&
    (filter.aliveAt === undefined || !expiredAt(filter.aliveAt)(node))
  );
}

function withinValidity(node: MemoryNode, { timeFrom, timeTo }: CandidateFilter): boolean {
  if (TIMELESS_TYPES.includes(node.nodeType)) return true;
  if (timeFrom !== undefined && node.validTo !== undefined && node.validTo <= timeFrom)
    return false;
  return timeTo === undefined || node.validFrom <= timeTo;
}

function withinKnowledge(node: MemoryNode, filter: CandidateFilter): boolean {
  const stated = statedTime(node);
  return (
    (filter.knowledgeAt === undefined || node.createdAt <= filter.knowledgeAt) &&
    (filter.eventTimeFrom === undefined || stated >= filter.eventTimeFrom) &&
    (filter.eventTimeTo === undefined || stated <= filter.eventTimeTo)
  );
}
