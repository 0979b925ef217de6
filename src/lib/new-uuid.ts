import { asUuid, type Uuid } from "./uuid.ts";

/** Deterministic UUIDv5 (RFC 9562) of `name` within `namespace`. */
export function uuidV5(namespace: Uuid | "url", name: string): Uuid {
  return asUuid(Bun.randomUUIDv5(name, namespace));
}

/** A fresh UUIDv7: ascending within a process, sortable by creation time. */
export function uuidV7(): Uuid {
  return asUuid(Bun.randomUUIDv7());
}
