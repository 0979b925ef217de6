import type { StoreBackend } from "../../domain/addresses.ts";
import type { DropReason, RemovedPart } from "../../domain/extraction/result.ts";
import type { OwnerMemories, OwnerName, OwnerSummary, PackOwner } from "../../domain/owner.ts";
import type { RecordKind, TransferRecord } from "../../domain/records/rows.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../models.ts";
import type { Erasures, EventLog } from "./events.ts";
import type { Activity, Browse, Graph } from "./graph.ts";
import type {
  AuditLog,
  AuditRecord,
  BlobInspection,
  Blobs,
  ChangeLog,
  ReceiptLog,
} from "./records.ts";
import type { IndexRebuild, NodeKey, SearchIndex } from "./search-index.ts";
import type { ExtractionQueue, Organizing, Upkeep, WorkQueue } from "./work.ts";

/**
 * One pack or database. A use case takes the roles that it needs (`EngineDeps<Graph & AuditLog>`).
 *
 * For callers: once a promise has resolved, its effect survives kill -9. Writes of overlapping calls are committed in groups, in call
 * order. Reads see every write that was acknowledged before the read began, by any process. For implementers: each write method is one
 * transaction. A method given an owner treats another owner's object exactly like a missing one. Failures are SvcError (storage_failed,
 * storage_busy, disk_full, engine_closed).
 */
export type Store<Key = NodeKey> = EventLog &
  Graph &
  SearchIndex<Key> &
  WorkQueue &
  ExtractionQueue &
  AuditLog &
  ChangeLog &
  Organizing<Key> &
  Upkeep &
  Browse &
  Activity &
  Erasures &
  Blobs &
  ReceiptLog & {
    readonly backend: StoreBackend;
    readonly rebuild: IndexRebuild<Key>;
    readonly owners: Owners;
    manifest(): Promise<Manifest>;
    /** Finishes queued writes. Later calls reject with engine_closed. Idempotent. */
    close(): Promise<void>;
  };

/** Durable facts of a pack. */
export type Manifest = {
  readonly formatVersion: number;
  readonly softwareVersion: string;
  readonly embedding: EmbeddingIdentity;
  readonly scoringVersion: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

export type OwnerRecord = Pick<AuditRecord, "id" | "actorId" | "createdAt">;

export type OwnerWish = {
  readonly from: string;
  readonly into: string;
  /** Whether `into` must already have data, or must not. */
  readonly isJoin: boolean;
};

export type OwnerMove = OwnerWish & {
  readonly id: Uuid;
  /** Id of the record if `from` owns the pack. */
  readonly settingId: Uuid;
  readonly actorId: string;
};

/** Each change is one transaction with its record. */
export type Owners = {
  packOwner(): Promise<PackOwner>;
  /** Only if `packOwner` is `nobody`. @returns the owner afterwards */
  claimPack(userId: string, record: OwnerRecord): Promise<PackOwner>;
  usePack(userId: string, record: OwnerRecord): Promise<void>;
  /** Those with the most memories first, among the first 50 owners. */
  withMemories(limit: number): Promise<readonly OwnerMemories[]>;
  /** Every owner with data, those with the most memories first. */
  list(): Promise<readonly OwnerSummary[]>;
  /** The current one first. */
  names(userId: string): Promise<readonly OwnerName[]>;
  /** @throws SvcError invalid_argument as `move` */
  previewMove(wish: OwnerWish): Promise<OwnerSummary>;
  /** Moves everything of one owner to another. @throws SvcError invalid_argument naming `from` or `into`, with nothing changed */
  move(move: OwnerMove): Promise<OwnerSummary>;
};

/** Locks and unlocks an open pack. */
export type PackLock = {
  /**
   * Closes the files and forgets the key: all calls but `close` fail with pack_locked.
   * @throws SvcError unsupported unless it is an encrypted directory pack
   */
  lock(): Promise<void>;
  /** @throws SvcError unsupported, and any error of opening */
  unlock(key: string): Promise<void>;
};

/** Counts cover all owners. */
export type StoreInspection = {
  readonly manifest: Manifest;
  /** Of an unfinished rebuild. */
  readonly begunModel: EmbeddingIdentity | undefined;
  readonly tableCount: number;
  /** The last schema step. */
  readonly tablesVersion: number;
  /** Per partitioned table. */
  readonly partitions?: number | undefined;
  readonly nodeCount: number;
  /** In retrieval. */
  readonly activeCount: number;
  readonly edgeCount: number;
  readonly eventCount: number;
  readonly ownerCount: number;
  readonly owner: PackOwner;
  readonly blobs: BlobInspection;
  /** Stored bytes. */
  readonly receipts: { readonly count: number; readonly bytes: number };
  /** The newest 100 of each: texts (their beginnings), milliseconds from admission to the index, bodies of receipts. */
  readonly recent: {
    readonly texts: readonly string[];
    readonly storesMs: readonly number[];
    readonly receipts: readonly Uint8Array[];
  };
  readonly vectorCount: number;
  readonly lexicalCount: number;
  /** Active nodes missing from an index without a pending job. */
  readonly withoutVector: number;
  readonly withoutLexical: number;
  /** Events that are not indexed yet. */
  readonly pendingJobs: number;
  readonly failedJobs: number;
  readonly extraction: ExtractionInspection;
  /** Background jobs whose last run failed. */
  readonly failingWork: readonly FailingWork[];
  /** Of the newest node or event. */
  readonly lastModified: Instant | undefined;
};

/** Of all owners. */
export type ExtractionInspection = {
  readonly pending: number;
  /** Not retried automatically, by reason, most frequent first. */
  readonly failed: readonly Counted[];
  /** The first admitted. */
  readonly firstFailed: { readonly eventId: string; readonly userId: string } | undefined;
  /** Rejected claims, by reason, most frequent first. */
  readonly dropped: readonly Counted<DropReason | RemovedPart>[];
};

export type Counted<Reason = string> = { readonly reason: Reason; readonly times: number };

export type FailingWork = {
  readonly kind: string;
  /** Failures in a row. */
  readonly attempts: number;
  readonly lastError: string;
};

/** A consistent snapshot of a store's contents. */
export type TransferSource = {
  readonly manifest: Manifest;
  /** Differs after every change. */
  readonly state: string;
  /** An estimate. */
  count(kind: RecordKind): Promise<number>;
  /** In pages and a fixed order, after `skip` records. */
  read(kind: RecordKind, skip: number): AsyncIterable<readonly TransferRecord[]>;
};

/** A new store that takes over another's records. */
export type TransferTarget = {
  /** Durably received; an interrupted transfer continues there. */
  taken(kind: RecordKind): number;
  /** Durable when it resolves. */
  take(kind: RecordKind, records: readonly TransferRecord[]): Promise<void>;
  /** Derives the indexes. */
  index(onProgress: (done: number) => void, signal: AbortSignal): Promise<void>;
  /** Makes it usable, after comparison with the source. */
  open(): Promise<void>;
};
