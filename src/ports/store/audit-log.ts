import type { AllOwners } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { Page } from "./page.ts";

/** One page of an owner's operations of one kind, each with its own target, by ascending target. */
export type AuditRecordPage = {
  readonly opType: string;
  /** The owner, as `namespaceId` of the operations. */
  readonly userId: string;
  /** Only those with this in the text of their payload. Absent: all. */
  readonly mentions?: Uuid | undefined;
  /** Exclusive. */
  readonly afterTargetId: string | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** One page of the operations on one target, by (createdAt, id). */
export type AuditRecordsOnTarget = {
  readonly targetId: string;
  /** Exclusive. */
  readonly after: { readonly createdAt: Instant; readonly id: string } | undefined;
  readonly limit: number;
};

/**
 * One page of the changes of an owner's memories, newest first; ties by id, descending. Not among them: stores, and what has an
 * id of the caller's choice as its target.
 */
export type ChangePage = {
  readonly userId: string;
  /** Absent: all. Empty: nothing matches. */
  readonly opTypes?: readonly string[] | undefined;
  readonly actorId?: string | undefined;
  /** Inclusive. */
  readonly timeFrom?: Instant | undefined;
  /** Exclusive. */
  readonly timeTo?: Instant | undefined;
  /** Exclusive. */
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/**
 * What was done, and by whom. Records are written together with the change they record (`admit`, `change`, `Owners`) and never
 * change.
 */
export type AuditLog = {
  /** Records belong to no owner; a caller that asks for one by its id must check its target. */
  auditRecord(id: Uuid, owner: AllOwners): Promise<AuditRecord | undefined>;
  auditRecordsOf(page: AuditRecordPage): Promise<Page<AuditRecord>>;
  changesOf(page: ChangePage): Promise<Page<AuditRecord>>;
  auditRecordsOn(page: AuditRecordsOnTarget): Promise<Page<AuditRecord>>;
};
