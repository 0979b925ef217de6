import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import { compareCodePoints } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { createUuidSet, type UuidSet } from "../../lib/uuid-set.ts";

/** What the records of a group have in common, and what is gathered from them. */
export type Group<T> = {
  readonly values: readonly string[];
  readonly normal: readonly string[];
  readonly gathered: T;
};

export type Groups<T> = {
  /**
   * The group of these values, created if new. Undefined for a group that the answer cannot show.
   * @param values as written in the record
   */
  readonly of: (values: readonly string[], normal: readonly string[]) => T | undefined;
  /** How many there are, shown or not. */
  readonly count: () => number;
  /** The first by normalised values in code-point order. */
  readonly first: () => readonly Group<T>[];
};

/** Groups are pruned whenever this many more are held than are shown. */
const SLACK = 1000;

/**
 * Groups of which the first `limit` are shown. Only the key of the others is kept: a group that once sorted after the last one
 * shown stays after it.
 */
export function createGroups<T>(limit: number, begin: () => T): Groups<T> {
  const keys = new Set<string>();
  const held = new Map<string, Group<T>>();
  let last: readonly string[] | undefined;

  const inOrder = () => [...held].sort(([, a], [, b]) => compareTuples(a.normal, b.normal));
  const thinOut = () => {
    const ordered = inOrder();
    for (const [key] of ordered.slice(limit)) held.delete(key);
    last = ordered[limit - 1]?.[1].normal;
  };
  return {
    of: (values, normal) => {
      const key = normal.length === 1 ? (normal[0] ?? "") : JSON.stringify(normal);
      const known = held.get(key);
      if (known !== undefined) return known.gathered;
      keys.add(key);
      const isBehind = last !== undefined && compareTuples(normal, last) > 0;
      if (limit === 0 || isBehind) return undefined;
      const gathered = begin();
      held.set(key, { values, normal, gathered });
      if (held.size > limit + Math.max(limit, SLACK)) thinOut();
      return gathered;
    },
    count: () => keys.size,
    first: () =>
      inOrder()
        .slice(0, limit)
        .map(([, group]) => group),
  };
}

/** By the first differing part, by code points. The tuples have the same length. */
function compareTuples(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const order = compareCodePoints(part, b[index] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

/** Collects the events that records cite, and when what they state happened. */
export type CitedEvents = {
  readonly events: UuidSet;
  earliest: Instant | undefined;
  latest: Instant | undefined;
};

export function noneCited(): CitedEvents {
  return { events: createUuidSet(), earliest: undefined, latest: undefined };
}

export function addCited(
  evidence: CitedEvents,
  { evidenceRefs, eventTime }: Pick<MemoryNode, "evidenceRefs" | "eventTime">,
): void {
  for (const event of evidenceRefs) evidence.events.add(event);
  if (eventTime === undefined) return;
  const { earliest, latest } = evidence;
  if (earliest === undefined || eventTime < earliest) evidence.earliest = eventTime;
  if (latest === undefined || eventTime > latest) evidence.latest = eventTime;
}

/** Records and samples of them. */
export type Sampled = CitedEvents & { count: number; readonly nodeIds: Uuid[] };

export function noneSampled(): Sampled {
  return { ...noneCited(), count: 0, nodeIds: [] };
}

export function addSample(group: Sampled, node: MemoryNode, samples: number): void {
  group.count += 1;
  if (group.nodeIds.length < samples) group.nodeIds.push(node.id);
  addCited(group, node);
}

/** Ascending. Canonical identifiers are ASCII, whose order by UTF-16 units is that by code points. */
export function sortedIds(ids: Iterable<Uuid>): Uuid[] {
  return [...ids].sort();
}

/** Values by the name of their dimension, in the order of the dimensions. */
export function byDimension<D extends string>(
  dimensions: readonly D[],
  values: readonly string[],
): Partial<Record<D, string>> {
  const named: Partial<Record<D, string>> = {};
  for (const [index, dimension] of dimensions.entries()) named[dimension] = values[index] ?? "";
  return named;
}
