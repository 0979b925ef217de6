import { type RetrievalReceipt, receiptForm } from "../../domain/records/receipt.ts";
import { FormError } from "../../lib/form.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Json } from "../../lib/json.ts";

/** A receipt as canonical JSON. @throws FormError for a number that JSON does not have */
export function receiptText(receipt: RetrievalReceipt): string {
  return JSON.stringify(receiptForm.json(receipt));
}

/** SHA-256 of canonical JSON, 64 lower-case hex digits: the checksum of a receipt. */
export function receiptChecksum(canonical: string): string {
  return sha256Hex(canonical);
}

/**
 * Reads canonical JSON: exactly the right keys, in order, with numbers in canonical notation.
 * @throws FormError naming the place
 */
export function parseReceipt(canonical: string): RetrievalReceipt {
  const receipt = receiptForm.read(parseJson(canonical), "receipt");
  if (receiptText(receipt) !== canonical) throw new FormError("receipt: is not canonical");
  return receipt;
}

function parseJson(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    throw new FormError("receipt: is not JSON");
  }
}
