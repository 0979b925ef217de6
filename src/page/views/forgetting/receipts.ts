import { later } from "../../data/clock.ts";
import { key } from "../../data/http.ts";

/** Receipts that this tab was given, as JSON by the id of their forgetting. Nobody gives them twice. */
const receipts = new Map<string, string>();
// Another key may be of somebody else.
key.subscribe(() => receipts.clear());

/** A download has begun after so many milliseconds. */
const BEGUN_MS = 60_000;

export function keepReceipt(forgetId: string, receipt: object): void {
  receipts.set(forgetId, `${JSON.stringify(receipt, null, 2)}\n`);
}

/** Undefined where another tab, or nobody, was given it. */
export function receiptOf(forgetId: string): string | undefined {
  return receipts.get(forgetId);
}

export function fileOf(forgetId: string): string {
  return `forget-${forgetId}.json`;
}

/** Lets the browser save a receipt. Its address is that of a blob, so that no list of downloads has the text. */
export function save(forgetId: string, receipt: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([receipt], { type: "application/json" }));
  link.download = fileOf(forgetId);
  link.click();
  later(BEGUN_MS, () => URL.revokeObjectURL(link.href));
}
