import type { RecordKind, TransferRecord } from "../../domain/records/transfer.ts";
import type { Manifest } from "./manifest.ts";

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
