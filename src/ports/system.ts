import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";

/** The only source of time. Every call returns a later instant than the previous one in this process. */
export type Clock = { now(): Instant };

/** The only source of fresh identifiers: UUIDv7, ascending within one process. */
export type IdSource = { next(): Uuid };
