import type { KeptBlob } from "../../domain/node.ts";
import type { AllOwners, Owner } from "../../domain/owner.ts";
import type { auditRecordForm } from "../../domain/records/audit.ts";
import type { ValueOf } from "../../lib/form.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A page, which ends at `LIMITS.pageChars` of text if that comes before its limit; it has at least one item if there is one. */
export type Page<T> = {
  readonly items: readonly T[];
  /** Exact. */
  readonly hasMore: boolean;
};

/** One row of the insert-only audit log. */
export type AuditRecord = ValueOf<typeof auditRecordForm>;

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

/** A blob that is kept with an event of the same admission. */
export type EventBlob = KeptBlob & { readonly event: Uuid };

export type BlobTotals = {
  readonly count: number;
  readonly bytes: number;
};

export type BlobInspection = BlobTotals & {
  /** Blobs that no event of their owner names, and names of blobs that are not there. No program of ours leaves any. */
  readonly stray: number;
};

/**
 * The blobs of a pack, each once for an owner. They are written with the events that name them (`Admission.blobs`) and go with the last
 * of them, so that none is without an event.
 */
export type Blobs = {
  /** Of all owners: that of any who has the key. */
  blob(key: string, owner: Owner): Promise<KeptBlob | undefined>;
  blobTotals(owner: Owner): Promise<BlobTotals>;
};

/** The record of one retrieval, as stored. */
export type StoredReceipt = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly createdAt: Instant;
  /** Compressed bytes that only the engine reads. */
  readonly body: Uint8Array;
};

/** A memory in the context of an answer. */
export type ContextNode = {
  readonly nodeId: Uuid;
  /** Among the results, from 1. */
  readonly rank: number;
  /** As whose form it was shown. */
  readonly representation: string;
};

/** What was in the context of an answer whose receipt is kept. */
export type AnswerContext = Pick<StoredReceipt, "requestId" | "userId"> & {
  readonly context: readonly ContextNode[];
};

/** One page of an owner's receipts with a memory in their context, newest first; ties by request id, descending. */
export type UsePage = {
  readonly userId: string;
  readonly nodeId: Uuid;
  /** Exclusive. */
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** An answer in whose context a memory was. */
export type MemoryUse = Omit<ContextNode, "nodeId"> & { readonly receipt: StoredReceipt };

/** One page of an owner's receipts, newest first; ties by request id, descending. */
export type ReceiptPage = {
  readonly userId: string;
  /** Exclusive. */
  readonly before?: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** Inclusive. */
  readonly timeFrom?: Instant | undefined;
  /** Exclusive. */
  readonly timeTo?: Instant | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** The records of retrievals, for as long as they are kept. */
export type ReceiptLog = {
  /**
   * Stores a receipt. An existing request id is left as it is.
   * @param forgettings how many the owner had when the question began. If there are more now, nothing is stored: it may name, or
   *   ask with, what was forgotten. Default: whatever there are
   * @returns whether the request has a receipt
   */
  saveReceipt(receipt: StoredReceipt, forgettings?: number): Promise<boolean>;
  /** Notes what was in the contexts of answers, once for each. Without effect for receipts and memories that are gone. */
  noteContexts(contexts: readonly AnswerContext[]): Promise<void>;
  /** How many erasures there were of what an owner has. */
  forgettings(userId: string): Promise<number>;
  /** Undefined for an unknown request, or one of another owner. */
  receipt(requestId: Uuid, owner: Owner): Promise<StoredReceipt | undefined>;
  receipts(page: ReceiptPage): Promise<readonly StoredReceipt[]>;
  usesOf(page: UsePage): Promise<Page<MemoryUse>>;
  /** Removes up to `limit` receipts written before a moment, oldest first. @returns how many */
  pruneReceipts(before: Instant, limit: number): Promise<number>;
};
