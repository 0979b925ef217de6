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

/** Everything that one call admits. It becomes durable as a whole or not at all. */
export type Admission = {
  readonly events: readonly MemoryEvent[];
  readonly auditRecords: readonly AuditRecord[];
  /** Plans of some of the events: kept as audit records (`toPlanRecord`), and handed out with the jobs. Absent: none. */
  readonly plans?: readonly PlannedStore[];
  /**
   * Nodes of the events that are written at once, with their lexical entries; only their vectors are left to the jobs. Absent:
   * the jobs write everything.
   */
  readonly nodes?: readonly Pick<Materialization, "node" | "lexical">[];
  /**
   * Changes that the nodes make to others, decided once they are written. If the decision throws, nothing of the admission stays.
   */
  readonly change?: PlannedChange | undefined;
  /**
   * Keeps the events' jobs from other workers until the caller has had its chance to run them. Jobs without a lease are free for
   * any worker at once.
   */
  readonly leaseJobs: boolean;
  /** Whether the events are to be extracted as well; then each gets that work, too. Absent: no. */
  readonly extracts?: boolean;
  /** What it names: if one of these was erased, nothing is written and the refusal is thrown. Absent: nothing. */
  readonly named?:
    | { readonly userId: string; readonly ids: readonly Uuid[]; readonly refusal: Error }
    | undefined;
  /** What the events name. Of a key that the owner has already, the blob stays as it is. Absent: nothing. */
  readonly blobs?: readonly EventBlob[] | undefined;
};

export type EventPage = {
  readonly userId: string;
  readonly sessionId?: string;
  readonly scopes?: readonly Scope[];
  readonly limit: number;
  readonly offset: number;
};

/** The events of a pack, which never change and are never removed. */
export type EventLog = {
  /** Appends events, their pending jobs, the operations and the nodes, and makes the change. @throws what the change throws; the refusal */
  admit(admission: Admission): Promise<void>;
  /**
   * Like `admit`, unless an operation with the id of `guard` already exists: then nothing is written and that operation is
   * returned. Parallel identical calls leave one record.
   */
  admitOnce(admission: Admission, guard: Uuid): Promise<AuditRecord | undefined>;
  event(id: Uuid, owner: Owner): Promise<MemoryEvent | undefined>;
  /** Newest first, then by id descending; ends early at `LIMITS.pageChars`. */
  events(page: EventPage): Promise<readonly MemoryEvent[]>;
  /** Events by id, in no particular order; missing ones are left out. Request the rest again by their ids. */
  eventsById(ids: readonly Uuid[], owner: Owner): Promise<Page<MemoryEvent>>;
  /** The latest moment of an owner's events. */
  lastEventAt(userId: string): Promise<Instant | undefined>;
  countEvents(owner: Owner): Promise<number>;
};

/** What of one owner's is to be erased. */
export type ErasureScope = {
  readonly userId: string;
  readonly events: readonly Uuid[];
  readonly nodes: readonly Uuid[];
  /** The texts that go: of the events, and of the nodes. */
  readonly texts: readonly string[];
  /** Whether the body of a receipt names one of the nodes, or asks with one of the texts. Pure. */
  readonly isTold: (body: Uint8Array) => boolean;
};

/** How much of each kind goes, besides events and nodes. */
export type ErasureCounts = {
  readonly edges: number;
  readonly vectors: number;
  readonly textEntries: number;
  /** Operations whose payload goes; they stay in the log. */
  readonly operations: number;
  readonly receipts: number;
  /** Blobs that no other event of the owner names. */
  readonly blobs: number;
};

export type Erasure = ErasureScope & {
  readonly forgetId: Uuid;
  readonly actorId: string;
  readonly at: Instant;
  /** Nodes that rest on the events and stay all the same. */
  readonly kept: readonly Uuid[];
  /** What the log says of it from now on. It has the id `forgetId`. */
  readonly recordOf: (counts: ErasureCounts) => AuditRecord;
};

/** What was found of some texts. They are named by their places in the list. */
export type ErasureScan = {
  /** Of every byte of all pages. Undefined: they have things of other owners, too, or are too many. */
  readonly pages:
    | { readonly count: number; readonly bytes: number; readonly found: readonly number[] }
    | undefined;
  /** Those that the stored form of something of the owner contains. */
  readonly held: ReadonlySet<number>;
  /** The ids of such things: events, memories, operations, edges, requests of receipts and names of owners; at most 100. */
  readonly heldBy: readonly string[];
};

/** The erasure of content: what an event says never changes, and can only be erased, as a whole, once. */
export type Erasures = {
  /** All nodes of an owner that cite one of the events, in any state, by id. */
  restingOn(userId: string, events: readonly Uuid[]): Promise<readonly MemoryNode[]>;
  /** What goes with an erasure. Changes nothing. */
  reached(scope: ErasureScope): Promise<ErasureCounts>;
  /**
   * Erases in one transaction: the content and metadata of the events, whose place in the log stays; the nodes, with all edges and
   * all index entries; blobs that no other event names; payloads of operations and receipts that keep any of it; errors of work. The turns around are indexed as
   * if those had never existed. Work on the events is complete. The erasure is not yet settled.
   * @returns the record, or the one of an earlier erasure with this id, which is then all that happens
   * @throws SvcError request_conflict if an event or a node is missing, erased, or of another owner, or if other nodes rest on
   *   the events than those that are named; then nothing was changed
   */
  erase(erasure: Erasure): Promise<AuditRecord>;
  /** Whether there are erasures that are not settled. */
  hasUnsettledErasures(): Promise<boolean>;
  /** Whether an erasure of this id is settled, `physical`, or not. */
  erasureStage(forgetId: Uuid): Promise<ForgetStage>;
  /**
   * Removes the bytes of what was erased from the files, as far as the store reaches. Can be repeated. Calls that overlap share a
   * pass over the files, and passes rest in between.
   * @param waitMs milliseconds to wait for other processes, and for the pass; one that has begun goes on
   * @returns whether everything is settled; false: another process did not let go, or the pass is not over
   */
  settleErasures(waitMs: number): Promise<boolean>;
  /**
   * Looks for texts in what an owner has, and in all pages, free ones too, if nobody but the owner has anything in them. Lets other
   * work run meanwhile. Undefined: this store cannot look at its pages.
   * @param questionOf the question in the body of a receipt. Absent: they are not looked at
   */
  scan(
    texts: readonly string[],
    owner: Owner,
    questionOf?: (body: Uint8Array) => string,
  ): Promise<ErasureScan | undefined>;
  /** The key that signs what is said of erasures. The first that is given is kept. */
  signingKey(made: string): Promise<string>;
};
