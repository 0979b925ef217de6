import { decodeReceipt } from "./receipts/codec/codec.ts";

/** Whether the stored form of a receipt is as it was written. */
export function isReceiptWhole(body: Uint8Array): boolean {
  try {
    decodeReceipt(body);
    return true;
  } catch {
    // Whatever makes it unreadable, an answer can no longer be explained by it.
    return false;
  }
}
