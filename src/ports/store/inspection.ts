import type { DropReason, RemovedPart } from "../../domain/extraction/reasons.ts";
import type { PackOwner } from "../../domain/pack-owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { EmbeddingIdentity } from "../embedder.ts";
import type { BlobInspection } from "./blobs.ts";
import type { Manifest } from "./manifest.ts";

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
