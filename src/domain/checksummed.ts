import { sha256Hex } from "../lib/hashing.ts";
import { canonicalJson, type JsonObject } from "../lib/json.ts";
import { SvcError } from "./errors.ts";

/** An audit payload with a checksum: `record` is JSON text, `sha256` its hash. */
export type ChecksummedPayload = { readonly record: string; readonly sha256: string };

export function checksummed(record: JsonObject): ChecksummedPayload {
  const text = canonicalJson(record);
  return { record: text, sha256: sha256Hex(text) };
}

/**
 * The record of a payload.
 * @throws SvcError storage_failed if the text does not hash to the stored value
 */
export function openChecksummed(payload: JsonObject): JsonObject {
  const { record, sha256 } = payload;
  if (typeof record !== "string" || sha256Hex(record) !== sha256) {
    throw new SvcError(
      "storage_failed",
      "an audit record does not match its checksum; run: svc doctor",
    );
  }
  // SAFETY: checksummed() only wraps objects, and the hash proves that it wrote this text.
  return JSON.parse(record) as JsonObject;
}
