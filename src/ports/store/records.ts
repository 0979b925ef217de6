import type { LifecycleState } from "../../domain/enums.ts";
import type { KeptBlob, MemoryNode } from "../../domain/node.ts";
import type { AllOwners, Owner } from "../../domain/owner.ts";
import type { auditRecordForm } from "../../domain/records/audit.ts";
import type { ValueOf } from "../../lib/form.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/**
 * Ends at `LIMITS.pageChars` of text or at its limit, and is empty only if the result is. For page reads, `limit` is at least 1, `after`
 * and `before` are exclusive, `timeFrom` is inclusive, `timeTo` exclusive, and absent members do not restrict.
 */
export type Page<T> = {
  readonly items: readonly T[];
  /** Exact. */
  readonly hasMore: boolean;
};

/** A row of the insert-only audit log. */
export type AuditRecord = ValueOf<typeof auditRecordForm>;

/** Records of one kind by ascending target. */
export type AuditRecordPage = {
  readonly opType: string;
  /** The owner, as `namespaceId` of the records. */
  readonly userId: string;
  /** In the text of the payload. */
  readonly mentions?: Uuid | undefined;
  readonly afterTargetId: string | undefined;
  readonly limit: number;
};

/** By (createdAt, id). */
export type AuditRecordsOnTarget = {
  readonly targetId: string;
  readonly after: { readonly createdAt: Instant; readonly id: string } | undefined;
  readonly limit: number;
};

/** Changes of memories, newest first; ties by id, descending. Excludes stores and records whose ids callers choose. */
export type ChangePage = {
  readonly userId: string;
  /** Empty: nothing. */
  readonly opTypes?: readonly string[] | undefined;
  readonly actorId?: string | undefined;
  readonly timeFrom?: Instant | undefined;
  readonly timeTo?: Instant | undefined;
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  readonly limit: number;
};

/** Records are written with the change they record, and never change. */
export type AuditLog = {
  /** Belongs to no owner; callers by id must check the target. */
  auditRecord(id: Uuid, owner: AllOwners): Promise<AuditRecord | undefined>;
  auditRecordsOf(page: AuditRecordPage): Promise<Page<AuditRecord>>;
  changesOf(page: ChangePage): Promise<Page<AuditRecord>>;
  auditRecordsOn(page: AuditRecordsOnTarget): Promise<Page<AuditRecord>>;
};

/** A memory that became what it is. */
export type LoggedChange = {
  /** In the log of its owner, from 1. */
  readonly place: number;
  readonly nodeId: Uuid;
  /** The state before; undefined for a new memory, and an erased one. */
  readonly was: LifecycleState | undefined;
  /** The state afterwards; undefined: erased. */
  readonly state: LifecycleState | undefined;
  readonly at: Instant;
  /** As it is now; undefined: erased since. */
  readonly node: MemoryNode | undefined;
};

/** States of an owner's memories in the order of the commits: a place is never filled once a later one can be read. */
export type ChangeLog = {
  /** @param page without `after`: from the newest place on @returns `newest`: the last place of the log; 0 if it is empty */
  changesAfter(
    page: Pick<ChangePage, "userId" | "limit"> & { readonly after: number | undefined },
  ): Promise<Page<LoggedChange> & { readonly newest: number }>;
};

export type EventBlob = KeptBlob & { readonly event: Uuid };

export type BlobTotals = { readonly count: number; readonly bytes: number };

export type BlobInspection = BlobTotals & {
  /** Blobs without an event, and names without a blob. */
  readonly stray: number;
};

/** Each blob is kept once per owner, written with the events that name it, and removed with the last of them. */
export type Blobs = {
  blob(key: string, owner: Owner): Promise<KeptBlob | undefined>;
  blobTotals(owner: Owner): Promise<BlobTotals>;
};

export type StoredReceipt = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly createdAt: Instant;
  /** Compressed bytes that only the engine reads. */
  readonly body: Uint8Array;
};

export type ContextNode = {
  readonly nodeId: Uuid;
  /** Among the results, from 1. */
  readonly rank: number;
  /** The node whose form was shown. */
  readonly representation: string;
};

/** A memory in the context of an answer whose receipt is kept. */
export type AnswerContext = Pick<StoredReceipt, "requestId" | "userId"> & {
  readonly context: readonly ContextNode[];
};

/** Receipts with a memory in their context, newest first; ties by request id, descending. */
export type UsePage = {
  readonly userId: string;
  readonly nodeId: Uuid;
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  readonly limit: number;
};

export type MemoryUse = Omit<ContextNode, "nodeId"> & { readonly receipt: StoredReceipt };

/** Newest first; ties by request id, descending. */
export type ReceiptPage = {
  readonly userId: string;
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  readonly timeFrom?: Instant | undefined;
  readonly timeTo?: Instant | undefined;
  readonly limit: number;
};

export type ReceiptLog = {
  /**
   * Stores a receipt. An existing request id is left unchanged.
   * @param forgettings the owner's number when the question began; if there are more now, nothing is stored, since the receipt may name or
   * quote what was forgotten. Default: the current number
   * @param isAlone no other receipt is about to be written: this one does not wait to be written together with others. Default false
   * @returns whether the request has a receipt
   */
  saveReceipt(receipt: StoredReceipt, forgettings?: number, isAlone?: boolean): Promise<boolean>;
  /** Records what was in the contexts of answers, once for each. Receipts and memories that no longer exist are ignored. */
  noteContexts(contexts: readonly AnswerContext[]): Promise<void>;
  forgettings(userId: string): Promise<number>;
  receipt(requestId: Uuid, owner: Owner): Promise<StoredReceipt | undefined>;
  receipts(page: ReceiptPage): Promise<readonly StoredReceipt[]>;
  usesOf(page: UsePage): Promise<Page<MemoryUse>>;
  /** Oldest first. @returns how many were removed */
  pruneReceipts(before: Instant, limit: number): Promise<number>;
};
