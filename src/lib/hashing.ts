import { canonicalJson, type Json } from "./json.ts";

/** SHA-256 of the UTF-8 bytes of `text`, 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}

/** SHA-256 of `bytes`, 64 lower-case hex digits. */
export function sha256HexOfBytes(bytes: Uint8Array): string {
  return Bun.SHA256.hash(bytes, "hex");
}

/** SHA-256 of the canonical JSON of a value. */
export function sha256OfJson(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
