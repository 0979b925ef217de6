import { decodeReceipt, openReceipt, receiptChecksum } from "./receipts/codec.ts";
import { receiptProblems } from "./receipts/validate.ts";

/** Whether a stored receipt is intact and correct: its bytes, its checksum, and every value that can be recomputed from it. */
export function isReceiptWhole(body: Uint8Array): boolean {
  try {
    const stored = decodeReceipt(body);
    const isWritten = receiptChecksum(stored.text) === stored.checksum;
    return isWritten && receiptProblems(stored).length === 0;
  } catch {
    // Whatever makes it unreadable, it cannot explain an answer any more.
    return false;
  }
}

/** The question of a receipt and everything it names, as text containing every id. @throws RangeError for a damaged one */
export function toldByReceipt(body: Uint8Array): { readonly query: string; readonly ids: string } {
  const { told, record } = openReceipt(body);
  const ids = told.candidates.map(({ node_id: id, reasons }) => [id, reasons ?? null]);
  return { query: told.query, ids: JSON.stringify([ids, record]) };
}

/** The question of a receipt; empty for a damaged one. */
export function questionIn(body: Uint8Array): string {
  try {
    return openReceipt(body).told.query;
  } catch {
    return "";
  }
}

/** Milliseconds that the answer of a receipt took; undefined where it does not say. */
export function questionMs(body: Uint8Array): number | undefined {
  try {
    const { timing_ms: ms } = openReceipt(body).record;
    return typeof ms === "number" ? ms : undefined;
  } catch {
    return undefined;
  }
}
