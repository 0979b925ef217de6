import type { Edge } from "../../domain/edge.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { IndexedNode } from "./search-index.ts";
import type { WorkClaim } from "./work-queue.ts";

/** Input of a decision. All of it is read in the transaction that writes the result. */
export type ChangeReads = {
  /** Whose nodes and events are read: those of others are missing, as if they did not exist. Absent: anybody's. */
  readonly owner?: Owner | undefined;
  /** Locked until the change is done. */
  readonly nodeIds: readonly Uuid[];
  readonly auditRecordIds: readonly Uuid[];
  readonly eventIds: readonly Uuid[];
  /** A node all of whose edges are wanted. Absent: none. */
  readonly edgesOf?: Uuid | undefined;
  /** The claim under which the change is made: once it is over, nothing is written (`isTakenOver`). Absent: none. */
  readonly claim?: WorkClaim | undefined;
};

/** What was found; missing objects are absent. Nodes and events may belong to any owner: the decision must check. */
export type ChangeSnapshot = {
  /** The moment of the change: now, and later than the last change of each of the nodes, whichever clock dated that. */
  readonly at: Instant;
  readonly nodes: ReadonlyMap<Uuid, MemoryNode>;
  readonly auditRecords: ReadonlyMap<Uuid, AuditRecord>;
  readonly events: ReadonlyMap<Uuid, MemoryEvent>;
  /** The edges with both ends among the nodes, by (createdAt, id). */
  readonly edges: readonly Edge[];
  /** All edges at the node of `edgesOf`, in either direction, by (createdAt, id). */
  readonly edgesOf: readonly Edge[];
};

/** What a decision writes: everything, or nothing. */
export type Change = {
  /**
   * Existing nodes in their new form: state, numbers, evidence, metadata and times may change; identity, owner, text and session
   * may not.
   */
  readonly nodes: readonly MemoryNode[];
  /**
   * New nodes, and nodes that become active again, with their index entries, as `SearchIndex.addNodes` writes them once `nodes`
   * are written. Absent: none.
   */
  readonly added?: readonly IndexedNode[] | undefined;
  /** New edges between nodes of one owner, of which new ones are written first. */
  readonly edges: readonly Edge[];
  readonly auditRecords: readonly AuditRecord[];
};

export type Decision<T> = {
  /** Undefined: nothing is written, for example for a retry. */
  readonly change: Change | undefined;
  readonly result: T;
};

/** A change caused by another write. It is decided and made in the transaction of that write, which adds all new nodes. */
export type PlannedChange = {
  readonly reads: ChangeReads;
  readonly decide: Decide<unknown>;
};

/**
 * Decides over a snapshot. Pure and synchronous; may run again if the store has to start over. If it throws, nothing changes and
 * the caller gets the error unchanged.
 */
export type Decide<T> = (snapshot: ChangeSnapshot) => Decision<T>;
