import type { Edge } from "../../domain/edge.ts";
import type { FadingMarks } from "../../domain/fading.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";

/** At which nodes a walk stops. */
export type Aging =
  /** Of the tentative ones that are not younger, those that cite at least so many events (`mayBePromoted`). */
  | { readonly kind: "tentative"; readonly createdBefore: Instant; readonly evidence: number }
  /**
   * Those that are below the marks (`mayHaveFaded`); considered are those that can fade (`canFade`) or are of a type with a mark.
   */
  | ({ readonly kind: "faded" } & FadingMarks)
  /** All that are archived or deprecated: not active ones. */
  | { readonly kind: "retired" }
  /** All whose retention ends, those that are pinned left out. */
  | { readonly kind: "retained" };

export type AgingWalk = {
  readonly owner: Owner;
  readonly at: Aging;
  /** `next` of the page before. Absent: from the beginning. */
  readonly after?: string | undefined;
  /** Nodes that are looked at for one page, at least 1. */
  readonly limit: number;
};

export type AgingPage = {
  /** At which the walk stops. */
  readonly nodes: readonly MemoryNode[];
  /** How many could be among them: those that are old enough, or can fade. */
  readonly considered: number;
  /** Where the next page begins; only the store knows its meaning. Undefined: that was the last one. */
  readonly next: string | undefined;
};

/** What the upkeep of a pack looks for. Every call is short, however large the pack is, unless it says otherwise. */
export type Upkeep = {
  /** Walks over active nodes, for each owner and state the oldest first. A walk whose nodes change meanwhile misses no other. */
  walkAging(walk: AgingWalk): Promise<AgingPage>;
  /** When each of these nodes was last in the context of an answer whose receipt is kept; those that never were are left out. */
  lastUses(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Instant>>;
  /** Whether an event or a receipt of anybody is dated in a span: from, inclusive; to, inclusive. */
  isDated(from: Instant, to: Instant): Promise<boolean>;
  /** The reading of the clock that a pass doubted last (`doubtClock`). */
  doubtedClock(): Promise<Instant | undefined>;
  doubtClock(at: Instant | undefined): Promise<void>;
  /** All edges at a node, in either direction, by (createdAt, id). */
  edgesAt(nodeId: Uuid): Promise<readonly Edge[]>;
  /** What moved each of these nodes to its next state last: `LIFECYCLE_CHANGED` or `TOMBSTONE_SWEEP`; others are left out. */
  lastSteps(nodeIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, AuditRecord>>;
  /** Active nodes whose retention ends, by a moment if one is given; those that are pinned left out. */
  countRetained(owner: Owner, until?: Instant): Promise<number>;
  /**
   * Removes entries from both indexes that belong to no active node. Looks through all of the owner's.
   * @param limit nodes whose entries are removed at most; 0 only counts
   */
  sweepIndexes(
    owner: Owner,
    limit: number,
  ): Promise<{ readonly found: number; readonly removed: number }>;
};
