import { decodeReceipt, openReceipt, receiptChecksum } from "./receipts/codec.ts";
import { receiptProblems } from "./receipts/validate.ts";

/** Whether a stored receipt is intact and right: its bytes, its checksum, and all that can be computed again from it. */
export function isReceiptWhole(body: Uint8Array): boolean {
  try {
    const stored = decodeReceipt(body);
    const isWritten = receiptChecksum(stored.text) === stored.checksum;
    return isWritten && receiptProblems(stored).length === 0;
  } catch {
    // Whatever makes it unreadable, it can no longer explain an answer.
    return false;
  }
}

/** What a receipt asks, and all that it names, as text with every id in it. @throws RangeError for a damaged one */
export function toldByReceipt(body: Uint8Array): { readonly query: string; readonly ids: string } {
  const { told, record } = openReceipt(body);
  const ids = told.candidates.map(({ node_id: id, reasons }) => [id, reasons ?? null]);
  return { query: told.query, ids: JSON.stringify([ids, record]) };
}

/** What a receipt asks; nothing for a damaged one. */
export function questionIn(body: Uint8Array): string {
  try {
    return openReceipt(body).told.query;
  } catch {
    return "";
  }
}
