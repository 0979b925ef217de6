import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** The record of one retrieval, as stored. */
export type StoredReceipt = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly createdAt: Instant;
  /** Compact bytes that only the engine reads; a store compresses and encrypts them like everything else. */
  readonly body: Uint8Array;
};

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
  /** Stores a receipt. An existing request id is left as it is. */
  saveReceipt(receipt: StoredReceipt): Promise<void>;
  /** Undefined for an unknown request, or one of another owner. */
  receipt(requestId: Uuid, owner: Owner): Promise<StoredReceipt | undefined>;
  /** A body that cannot be read is empty. */
  receipts(page: ReceiptPage): Promise<readonly StoredReceipt[]>;
  /** Removes up to `limit` receipts written before a moment, oldest first. @returns how many */
  pruneReceipts(before: Instant, limit: number): Promise<number>;
};
