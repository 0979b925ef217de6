import type { StoreBackend } from "../../domain/store-backends.ts";
import type { Activity } from "./activity.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Blobs } from "./blobs.ts";
import type { Browse } from "./browse.ts";
import type { Erasures } from "./erasures.ts";
import type { EventLog } from "./event-log.ts";
import type { ExtractionQueue } from "./extraction-queue.ts";
import type { Graph } from "./graph.ts";
import type { Manifest } from "./manifest.ts";
import type { Organizing } from "./organizing.ts";
import type { Owners } from "./owners.ts";
import type { IndexRebuild } from "./rebuild.ts";
import type { ReceiptLog } from "./receipt-log.ts";
import type { NodeKey, SearchIndex } from "./search-index.ts";
import type { Upkeep } from "./upkeep.ts";
import type { WorkQueue } from "./work-queue.ts";

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
