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

/** What a receipt asks, and all that it names, as text with every id in it. @throws RangeError, FormError for a damaged one */
export function toldByReceipt(body: Uint8Array): { readonly query: string; readonly ids: string } {
  const { receipt, record } = decodeReceipt(body);
  const ids = JSON.stringify([receipt.candidates.map(({ nodeId }) => nodeId), record]);
  return { query: receipt.query, ids };
}
