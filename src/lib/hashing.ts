import { canonicalJson, type Json } from "./json.ts";
import { asUuid, type Uuid } from "./uuid.ts";

/** SHA-256 of bytes, or of the UTF-8 bytes of a text, 64 lower-case hex digits. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, "hex");
}

/** SHA-256 of the canonical JSON of a value. */
export function sha256OfJson(value: Json): string {
  return sha256Hex(canonicalJson(value));
}

/** Deterministic UUIDv5 (RFC 9562) of `name` within `namespace`. */
export function uuidV5(namespace: Uuid | "url", name: string): Uuid {
  return asUuid(Bun.randomUUIDv5(name, namespace));
}

/** A fresh UUIDv7: ascending within a process, sortable by creation time. */
export function uuidV7(): Uuid {
  return asUuid(Bun.randomUUIDv7());
}
