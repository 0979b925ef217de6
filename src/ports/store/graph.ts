import type { Edge } from "../../domain/edge.ts";
import type { LifecycleState, NodeType, Scope } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeReads, Decide } from "./changes.ts";
import type { Page } from "./page.ts";

export type NodeFilter = {
  readonly owner: Owner;
  readonly nodeType?: NodeType;
  /** Empty or absent: all scopes. */
  readonly scopes?: readonly Scope[];
  /** Empty or absent: all sessions. */
  readonly sessionIds?: readonly string[];
  /** Empty: nothing matches. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly validAt?: Instant;
  /** Inclusive, on stored values. */
  readonly minConfidence?: number;
  readonly minSalience?: number;
  /** Any of these literal substrings, compared in lower case. Empty or absent: no restriction. */
  readonly contentContainsAny?: readonly string[];
  /** Inclusive. */
  readonly createdBefore?: Instant;
  /** Only nodes that come before this place in the order of (createdAt, id). */
  readonly olderThan?: { readonly createdAt: Instant; readonly id: Uuid };
  readonly oldestFirst: boolean;
  /** At least 0. */
  readonly limit: number;
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
  /** Of the node. */
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** 1 to 5. */
  readonly maxHops: number;
  /** Maximum nodes visited by the walk, including the first. */
  readonly maxVisited: number;
};

export type ChainDirection = "forward" | "backward";

export type ChainRead = {
  /** Of the node. */
  readonly owner: Owner;
  readonly nodeId: Uuid;
  /** `forward`: what replaced the node; `backward`: what it replaced. */
  readonly direction: ChainDirection;
  readonly maxSteps: number;
};

/** Nodes whose retention has ended. */
export type ExpiredRead = {
  readonly owner: Owner;
  readonly now: Instant;
  /** At least 1. */
  readonly limit: number;
};

/** Nodes and the edges between them. */
export type Graph = {
  /**
   * Reads, decides and writes in one transaction: no other writer, of this or any other process, runs in between. Nodes that stop
   * being active lose their entries in both indexes in the same transaction, and what is indexed for their neighbours in a
   * conversation is rewritten.
   * @throws what `decide` throws; then nothing was written
   */
  change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T>;
  node(id: Uuid, owner: Owner): Promise<MemoryNode | undefined>;
  /** Newest first unless `oldestFirst`; ties by id; ends early at `LIMITS.pageChars`. */
  queryNodes(filter: NodeFilter): Promise<readonly MemoryNode[]>;
  /** By ascending id. Other calls run between pages. */
  scanNodes(page: NodeScan): Promise<Page<MemoryNode>>;
  /**
   * Active nodes within `maxHops` edges of a node of the same owner, in either direction, without the node itself, nearest first,
   * then by id. The walk passes through inactive nodes. Ends early at `LIMITS.pageChars`, with
   * at least one node.
   */
  neighborhood(read: NeighborhoodRead): Promise<readonly MemoryNode[]>;
  /**
   * What replaced a node, or what it replaced, nearest first, in any state: one `supersedes` edge of the same owner per step, the
   * newest if there are several. Ends at a node that it has visited before, and early at `LIMITS.pageChars`, with at least one
   * node.
   */
  chain(read: ChainRead): Promise<readonly MemoryNode[]>;
  /** Active nodes whose retention ended before a moment (`retentionEnd`), earliest first, then by id. */
  expired(read: ExpiredRead): Promise<readonly MemoryNode[]>;
  /**
   * Nodes that cite an event as evidence, of the event's owner, in any state, by ascending id: the first
   * `LIMITS.citingNodesMax`; ends early at `LIMITS.pageChars`.
   */
  nodesCiting(eventId: Uuid, owner: Owner): Promise<readonly MemoryNode[]>;
  /** The `contradicts` edges of an owner with both ends among the nodes, by (createdAt, id). */
  contradictionsAmong(userId: string, nodeIds: readonly Uuid[]): Promise<readonly Edge[]>;
  /** The `contradicts` edges at a node whose other end has the same owner and scope, by (createdAt, id). */
  contradictionsOf(nodeId: Uuid, owner: Owner): Promise<readonly Edge[]>;
  countNodes(owner: Owner): Promise<number>;
};
