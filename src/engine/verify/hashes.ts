import { sha256Hex } from "../../lib/hashing.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";

/** SHA-256 of the canonical JSON of a record. */
export function recordSha256(record: JsonObject): string {
  return sha256Hex(canonicalJson(record));
}
