import { sha256Hex } from "../../lib/hashing.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";

export function recordSha256(record: JsonObject): string {
  return sha256Hex(canonicalJson(record));
}
