import type { Uuid } from "../lib/uuid.ts";

/** The only source of fresh identifiers: UUIDv7, ascending within one process. */
export type IdSource = { next(): Uuid };
