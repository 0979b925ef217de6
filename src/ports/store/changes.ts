import type { Edge } from "../../domain/edge.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";

/** What a decision needs to know. All of it is read in the transaction that writes what is decided. */
export type ChangeReads = {
  /** Locked until the change is over. */
  readonly nodeIds: readonly Uuid[];
  readonly auditRecordIds: readonly Uuid[];
  readonly eventIds: readonly Uuid[];
};

/** What was found; what is missing is absent. Nodes and events may belong to any owner: the decision looks. */
export type ChangeSnapshot = {
  /** The moment of the change: the present, and later than the last change of each of the nodes, whosever clock dated that. */
  readonly at: Instant;
  readonly nodes: ReadonlyMap<Uuid, MemoryNode>;
  readonly auditRecords: ReadonlyMap<Uuid, AuditRecord>;
  readonly events: ReadonlyMap<Uuid, MemoryEvent>;
  /** The edges with both ends among the nodes, by (createdAt, id). */
  readonly edges: readonly Edge[];
};

/** What a decision writes. All of it becomes durable together, or nothing does. */
export type Change = {
  /** Existing nodes as they are to be: state, numbers, evidence, metadata and times may change; identity, owner, text and session may not. */
  readonly nodes: readonly MemoryNode[];
  /** New edges between existing nodes of one owner. */
  readonly edges: readonly Edge[];
  readonly auditRecords: readonly AuditRecord[];
};

/** What a decision comes to. */
export type Decision<T> = {
  /** Undefined: nothing is written, as for a retry. */
  readonly change: Change | undefined;
  readonly result: T;
};

/** A change that another write brings about. It is decided and made in the transaction of that write. */
export type PlannedChange = {
  readonly reads: ChangeReads;
  readonly decide: Decide<unknown>;
};

/**
 * Decides over a snapshot. Pure and synchronous; may run again when the store has to start over. What it throws leaves
 * everything as it was and reaches the caller unchanged.
 */
export type Decide<T> = (snapshot: ChangeSnapshot) => Decision<T>;
