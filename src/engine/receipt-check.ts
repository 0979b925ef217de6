import { decodeReceipt } from "./receipts/codec/codec.ts";

/** Whether the stored form of a receipt is intact. */
export function isReceiptWhole(body: Uint8Array): boolean {
  try {
    decodeReceipt(body);
    return true;
  } catch {
    // Whatever makes it unreadable, it can no longer explain an answer.
    return false;
  }
}
