import type { BuiltReceipt } from "./receipts/build.ts";
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
  const stored = decodeReceipt(body);
  return { query: stored.receipt.query, ids: idsInReceipt(stored) };
}

/** What a receipt asks; nothing for a damaged one. */
export function questionIn(body: Uint8Array): string {
  try {
    return decodeReceipt(body).receipt.query;
  } catch {
    return "";
  }
}

/** A text with every id that a receipt names. */
export function idsInReceipt({ receipt, record }: BuiltReceipt): string {
  return JSON.stringify([receipt.candidates.map(({ nodeId }) => nodeId), record]);
}
