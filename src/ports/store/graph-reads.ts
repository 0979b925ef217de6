import type { LifecycleState, NodeType, Scope } from "../../domain/enums.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A page, which ends at `LIMITS.pageChars` of text if that comes before its limit; it has at least one item where there is one. */
export type Page<T> = {
  readonly items: readonly T[];
  /** Exact. */
  readonly hasMore: boolean;
};

/** One page of an owner's nodes by ascending id. */
export type NodeScan = {
  readonly userId: string;
  /** Absent: any. */
  readonly scope?: Scope | undefined;
  readonly nodeType?: NodeType | undefined;
  /** Empty: nothing matches. */
  readonly lifecycleStates: readonly LifecycleState[];
  /** Exclusive. */
  readonly afterId?: Uuid | undefined;
  /** At least 1. */
  readonly limit: number;
};

export type NeighborhoodRead = {
  readonly nodeId: Uuid;
  /** 1 to 5. */
  readonly maxHops: number;
  /** Nodes that the walk visits at most, the first one included. */
  readonly maxVisited: number;
};

export type ChainDirection = "forward" | "backward";

export type ChainRead = {
  readonly nodeId: Uuid;
  /** `forward`: what replaced the node; `backward`: what it replaced. */
  readonly direction: ChainDirection;
  readonly maxSteps: number;
};

/** One page of the operations on one target, by (createdAt, id). */
export type OperationsOnTarget = {
  readonly targetId: string;
  /** Exclusive. */
  readonly after: { readonly createdAt: Instant; readonly id: string } | undefined;
  readonly limit: number;
};

/** Work of extraction on one event, as far as the queue of jobs knows it. */
export type ExtractionJob = {
  readonly eventId: Uuid;
  readonly status: "pending" | "complete";
  readonly attempts: number;
  readonly leaseExpiresAt: Instant | undefined;
  readonly lastError: string | undefined;
  readonly updatedAt: Instant;
};

/** Nodes whose retention has ended. */
export type ExpiredRead = {
  /** Absent: of all owners. */
  readonly userId: string | undefined;
  readonly now: Instant;
  /** At least 1. */
  readonly limit: number;
};
