import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Page } from "./page.ts";

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
   * Stores a receipt with what was in the context. An existing request id is left as it is.
   * @param context default: nothing
   * @param named the ids in it. If one of them was erased meanwhile, nothing is stored. Default: none
   * @returns whether the request has a receipt
   */
  saveReceipt(
    receipt: StoredReceipt,
    context?: readonly ContextNode[],
    named?: readonly string[],
  ): Promise<boolean>;
  /** Undefined for an unknown request, or one of another owner. */
  receipt(requestId: Uuid, owner: Owner): Promise<StoredReceipt | undefined>;
  receipts(page: ReceiptPage): Promise<readonly StoredReceipt[]>;
  usesOf(page: UsePage): Promise<Page<MemoryUse>>;
  /** Removes up to `limit` receipts written before a moment, oldest first. @returns how many */
  pruneReceipts(before: Instant, limit: number): Promise<number>;
};
