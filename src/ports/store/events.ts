import type { Scope } from "../../domain/enums.ts";
import type { ForgetStage } from "../../domain/erasure.ts";
import type { PlannedStore } from "../../domain/jobs.ts";
import type { MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { PlannedChange } from "./graph.ts";
import type { AuditRecord, EventBlob, Page } from "./records.ts";
import type { Materialization } from "./work.ts";

/** What one call admits: durable as a whole, or not at all. */
export type Admission = {
  readonly events: readonly MemoryEvent[];
  readonly auditRecords: readonly AuditRecord[];
  /** Kept as audit records (`toPlanRecord`) and handed out with the jobs. */
  readonly plans?: readonly PlannedStore[];
  /** Nodes written immediately with their words; the jobs add the vectors. Absent: the jobs write everything. */
  readonly nodes?: readonly Pick<Materialization, "node" | "lexical">[];
  /** Decided once the nodes are written. If it throws, nothing is admitted. */
  readonly change?: PlannedChange | undefined;
  /** Leases the jobs to the caller; otherwise any worker may take them at once. */
  readonly leaseJobs: boolean;
  /** Whether extraction jobs are added. */
  readonly extracts?: boolean;
  /** If one of these was erased, nothing is written and the rejection is thrown. */
  readonly named?:
    | { readonly userId: string; readonly ids: readonly Uuid[]; readonly refusal: Error }
    | undefined;
  /** A blob that the owner already has is left unchanged. */
  readonly blobs?: readonly EventBlob[] | undefined;
};

export type EventPage = {
  readonly userId: string;
  readonly sessionId?: string;
  readonly scopes?: readonly Scope[];
  readonly limit: number;
  readonly offset: number;
};

/** Events never change and are never removed. */
export type EventLog = {
  /** Appends events, jobs, records and nodes, and makes the change. @throws what `change` throws; the rejection */
  admit(admission: Admission): Promise<void>;
  /** Like `admit`, unless a record with the id of `guard` exists, which is returned: parallel identical calls leave one. */
  admitOnce(admission: Admission, guard: Uuid): Promise<AuditRecord | undefined>;
  event(id: Uuid, owner: Owner): Promise<MemoryEvent | undefined>;
  /** Newest first, then by id descending. */
  events(page: EventPage): Promise<readonly MemoryEvent[]>;
  /** In no particular order, without missing ones; omitted ones must be requested again. */
  eventsById(ids: readonly Uuid[], owner: Owner): Promise<Page<MemoryEvent>>;
  lastEventAt(userId: string): Promise<Instant | undefined>;
  /** Without erased ones. */
  countEvents(owner: Owner): Promise<number>;
};

export type ErasureScope = {
  readonly userId: string;
  readonly events: readonly Uuid[];
  readonly nodes: readonly Uuid[];
  /** Of the events and nodes. */
  readonly texts: readonly string[];
  /** Whether a receipt names one of the nodes or quotes one of the texts. */
  readonly isTold: (body: Uint8Array) => boolean;
};

/** Besides events and nodes. */
export type ErasureCounts = {
  readonly edges: number;
  readonly vectors: number;
  readonly textEntries: number;
  /** Records whose payload is erased. */
  readonly operations: number;
  readonly receipts: number;
  /** Blobs that no other event of the owner names. */
  readonly blobs: number;
};

export type Erasure = ErasureScope & {
  readonly forgetId: Uuid;
  readonly actorId: string;
  readonly at: Instant;
  /** Nodes that cite the events and are kept. */
  readonly kept: readonly Uuid[];
  /** The record of the erasure, with the id `forgetId`. */
  readonly recordOf: (counts: ErasureCounts) => AuditRecord;
};

/** Texts by their indices. */
export type ErasureScan = {
  /** Undefined: pages also hold other owners' data, or there are too many. */
  readonly pages:
    | { readonly count: number; readonly bytes: number; readonly found: readonly number[] }
    | undefined;
  /** Texts that some data of the owner contains. */
  readonly held: ReadonlySet<number>;
  /** Ids of the objects that contain them, at most 100. */
  readonly heldBy: readonly string[];
};

/** An event can only be erased as a whole, once. */
export type Erasures = {
  /** Nodes that cite one of the events, in any state, by id. */
  restingOn(userId: string, events: readonly Uuid[]): Promise<readonly MemoryNode[]>;
  /** Counts without a change. */
  reached(scope: ErasureScope): Promise<ErasureCounts>;
  /**
   * Erases contents of events, whose place in the log stays, and nodes with edges and index entries, blobs, payloads and receipts,
   * in one transaction. A repeat returns the earlier record.
   * @throws SvcError request_conflict if something is missing, erased, of another owner, or cited by unnamed nodes
   */
  erase(erasure: Erasure): Promise<AuditRecord>;
  hasUnsettledErasures(): Promise<boolean>;
  /** `physical` once it is settled. */
  erasureStage(forgetId: Uuid): Promise<ForgetStage>;
  /**
   * Removes the erased bytes from the files. Overlapping calls share a pass.
   * @param waitMs for other processes and the pass
   * @returns whether all bytes are erased
   */
  settleErasures(waitMs: number): Promise<boolean>;
  /**
   * Searches for texts in an owner's data, and in all pages that hold no other owner's. Undefined: pages cannot be read.
   * @param questionOf the question of a receipt; absent: receipts are skipped
   */
  scan(
    texts: readonly string[],
    owner: Owner,
    questionOf?: (body: Uint8Array) => string,
  ): Promise<ErasureScan | undefined>;
  /** The key that signs receipts of erasures: the first one given. */
  signingKey(made: string): Promise<string>;
};
