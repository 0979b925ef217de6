import { addDays, type Instant } from "../lib/instant.ts";
import type { NodeType } from "./enums.ts";
import type { MemoryNode } from "./node.ts";

/** Days for which a new memory of a type is kept if its caller does not say; a missing type: for ever. */
export type TtlDefaults = Readonly<Partial<Record<NodeType, number>>>;

/** Those of the specification. Nothing has one by default. */
export const ORIGINAL_TTL_DAYS: TtlDefaults = {
  event: 365,
  decision: 180,
  task: 90,
  summary: 365,
  note: 90,
};

/**
 * The retention of a new memory.
 * @param given undefined: the type's default, null: for ever, a number: that many days
 */
export function initialTtlDays(
  nodeType: NodeType,
  given: number | null | undefined,
  defaults: TtlDefaults,
): number | undefined {
  if (given === null) return undefined;
  return given ?? defaults[nodeType];
}

/**
 * When the retention of a memory ends: `ttlDays` days after it was stored. Undefined: never; pinned memories never expire either.
 */
export function retentionEnd({
  pinned,
  ttlDays,
  createdAt,
}: Pick<MemoryNode, "pinned" | "ttlDays" | "createdAt">): Instant | undefined {
  return pinned || ttlDays === undefined ? undefined : addDays(createdAt, ttlDays);
}

/**
 * Whether the retention of memories is over at a moment. Use it for many memories: the calendar is consulted once for each length
 * of retention.
 */
export function expiredAt(
  now: Instant,
): (node: Pick<MemoryNode, "pinned" | "ttlDays" | "createdAt">) => boolean {
  const cutoffs = new Map<number, Instant | undefined>();
  const cutoffOf = (ttlDays: number): Instant | undefined => {
    if (!cutoffs.has(ttlDays)) cutoffs.set(ttlDays, addDays(now, -ttlDays));
    return cutoffs.get(ttlDays);
  };
  return ({ pinned, ttlDays, createdAt }) => {
    if (pinned || ttlDays === undefined) return false;
    const cutoff = cutoffOf(ttlDays);
    return cutoff !== undefined && createdAt < cutoff;
  };
}
