import type { StoreBackend } from "../../domain/addresses.ts";
import type { DropReason, RemovedPart } from "../../domain/extraction/result.ts";
import type { OwnerMemories, OwnerName, OwnerSummary, PackOwner } from "../../domain/owner.ts";
import type { RecordKind, TransferRecord } from "../../domain/records/rows.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../models.ts";
import type { Erasures, EventLog } from "./events.ts";
import type { Activity, Browse, Graph } from "./graph.ts";
import type { AuditLog, AuditRecord, BlobInspection, Blobs, ReceiptLog } from "./records.ts";
import type { IndexRebuild, NodeKey, SearchIndex } from "./search-index.ts";
import type { ExtractionQueue, Organizing, Upkeep, WorkQueue } from "./work.ts";

/**
 * All of one pack or database. A use case takes the roles that it needs (`EngineDeps<Graph & AuditLog>`).
 *
 * For callers: once a promise has resolved, its effect survives kill -9. Writes of overlapping calls are committed in groups, in
 * call order. Reads see every write that was acknowledged before the read began, by any process. For implementers: each write
 * method is one transaction. A method given an owner treats another owner's object exactly like a missing one. Failures are
 * SvcError (storage_failed, storage_busy, disk_full, engine_closed).
 */
export type Store<Key = NodeKey> = EventLog &
  Graph &
  SearchIndex<Key> &
  WorkQueue &
  ExtractionQueue &
  AuditLog &
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
    /** Finishes queued writes, then closes. Later calls reject with engine_closed. Idempotent. */
    close(): Promise<void>;
  };

/** The durable facts of a pack about itself. */
export type Manifest = {
  readonly formatVersion: number;
  readonly softwareVersion: string;
  readonly embedding: EmbeddingIdentity;
  readonly scoringVersion: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

/** An audit record without the members that are known only when it is written. */
export type OwnerRecord = Pick<AuditRecord, "id" | "actorId" | "createdAt">;

/** From whom to whom everything is to be given. */
export type OwnerWish = {
  readonly from: string;
  readonly into: string;
  /** Whether `into` must already have something, or must not. */
  readonly isJoin: boolean;
};

export type OwnerMove = OwnerWish & {
  /** Of the record. */
  readonly id: Uuid;
  /** Id of the record that the pack's owner changed, if that is `from`. */
  readonly settingId: Uuid;
  readonly actorId: string;
};

/** The owners of the things in a pack, and the owner of the pack. Each change is one transaction and leaves its record. */
export type Owners = {
  packOwner(): Promise<PackOwner>;
  /** Sets the owner of the pack if `packOwner` is `nobody`. @returns the owner of the pack afterwards */
  claimPack(userId: string, record: OwnerRecord): Promise<PackOwner>;
  /** Sets the owner of the pack, whichever it was. */
  usePack(userId: string, record: OwnerRecord): Promise<void>;
  /** Those with the most memories first; considers the first 50 owners. @param limit at least 1 */
  withMemories(limit: number): Promise<readonly OwnerMemories[]>;
  /** Everyone who has anything, those with the most memories first. */
  list(): Promise<readonly OwnerSummary[]>;
  /**
   * Names of owners that have a blank or a character beyond ASCII, and those that are the form (`nameForm`) of one of these: few, and all that
   * may have another form are among them.
   */
  unusualNames(): Promise<readonly string[]>;
  /** The owner's names in this pack, the current one first. */
  names(userId: string): Promise<readonly OwnerName[]>;
  /** What `move` would move. @throws SvcError invalid_argument as `move` does */
  previewMove(wish: OwnerWish): Promise<OwnerSummary>;
  /**
   * Gives everything of one owner to another: memories with their entries in both indexes, events, work and receipts. Other
   * owners and the content of events stay as they are; nothing stays under the old name.
   * @throws SvcError invalid_argument naming `from` or `into`; then nothing was changed
   */
  move(move: OwnerMove): Promise<OwnerSummary>;
};

/** Takes away the key of an open pack and gives it back, without the holders of the store noticing. */
export type PackLock = {
  /**
   * Finishes queued writes, closes the files and forgets the key; every call of the store but `close` then fails with
   * pack_locked. Locking a locked pack does nothing. @throws SvcError unsupported for all but encrypted directory packs
   */
  lock(): Promise<void>;
  /** Opens the files again; does nothing if they are open. @throws SvcError unsupported, and what opening throws */
  unlock(key: string): Promise<void>;
};

/** What every store says about itself. Counts cover all owners. */
export type StoreInspection = {
  readonly manifest: Manifest;
  /** The model of a rebuild that has begun and is not finished. */
  readonly begunModel: EmbeddingIdentity | undefined;
  readonly tableCount: number;
  /** The last step that made tables. */
  readonly tablesVersion: number;
  /** How many each table with things of owners has; undefined where they are whole. */
  readonly partitions?: number | undefined;
  readonly nodeCount: number;
  /** Nodes that take part in retrieval. */
  readonly activeCount: number;
  readonly edgeCount: number;
  readonly eventCount: number;
  readonly ownerCount: number;
  readonly owner: PackOwner;
  readonly blobs: BlobInspection;
  /** Kept receipts of questions, and the bytes of all of them as they are stored. */
  readonly receipts: { readonly count: number; readonly bytes: number };
  readonly vectorCount: number;
  readonly lexicalCount: number;
  /** Active nodes with text that are missing or incomplete in an index, although no job will add them. */
  readonly withoutVector: number;
  readonly withoutLexical: number;
  /** Events whose memories and index entries are still to be written. */
  readonly pendingJobs: number;
  readonly failedJobs: number;
  readonly extraction: ExtractionInspection;
  /** Work that comes again and again and has failed since its last success. */
  readonly failingWork: readonly FailingWork[];
  /** Of the newest node or event. */
  readonly lastModified: Instant | undefined;
};

/** How extraction stands in a store, of all owners. */
export type ExtractionInspection = {
  readonly pending: number;
  /** Work that nobody tries again unasked, by the reason code of its last failure, most first. */
  readonly failed: readonly Counted[];
  /** The failed work that was admitted first. */
  readonly firstFailed: { readonly eventId: string; readonly userId: string } | undefined;
  /** What was left out of the answers of models, by reason, most first. */
  readonly dropped: readonly Counted<DropReason | RemovedPart>[];
};

export type Counted<Reason = string> = { readonly reason: Reason; readonly times: number };

export type FailingWork = {
  readonly kind: string;
  /** Failures in a row. */
  readonly attempts: number;
  /** Reason code of the last one. */
  readonly lastError: string;
};

/** Everything that a store holds, at one moment, for another store. */
export type TransferSource = {
  readonly manifest: Manifest;
  /** Differs after every change. */
  readonly state: string;
  /** How many records there are of a kind, as far as is known without reading them. */
  count(kind: RecordKind): Promise<number>;
  /**
   * The records of a kind in pages, always in the same order; those of one owner in the order in which they were written.
   * @param skip how many are left out at the beginning
   */
  read(kind: RecordKind, skip: number): AsyncIterable<readonly TransferRecord[]>;
};

/** A new store that takes over what another one holds. */
export type TransferTarget = {
  /** How many records of a kind it has already taken, durably; a target that was interrupted goes on there. */
  taken(kind: RecordKind): number;
  /** Takes the next records of a kind. Durable when it resolves. */
  take(kind: RecordKind, records: readonly TransferRecord[]): Promise<void>;
  /** Derives the rest, once all records are there. */
  index(onProgress: (done: number) => void, signal: AbortSignal): Promise<void>;
  /** Lets others open it, once it was compared with the source. */
  open(): Promise<void>;
};
