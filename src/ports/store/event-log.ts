import type { Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { Owner } from "../../domain/owner.ts";
import type { PlannedStore } from "../../domain/planned-store.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { EventBlob } from "./blobs.ts";
import type { PlannedChange } from "./changes.ts";
import type { Page } from "./page.ts";
import type { Materialization } from "./work-queue.ts";

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
