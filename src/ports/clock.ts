import type { Instant } from "../lib/instant.ts";

/** The only source of time. Every call returns a later instant than the previous one in this process. */
export type Clock = { now(): Instant };
