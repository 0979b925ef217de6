import type { KeptBlob } from "../../domain/blob.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Uuid } from "../../lib/uuid.ts";

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
