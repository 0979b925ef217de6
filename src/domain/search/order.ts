import type { Instant } from "../../lib/instant.ts";

/** The order of hits: best first, equal scores by key, which is the order in which they were written. */
export function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || a.key - b.key;
}
type Scored = { readonly key: number; readonly score: number };

/** The order of a conversation, in which no two positions are equal. */
export function earliestFirst(a: Placed, b: Placed): number {
  return compare(a.createdAt, b.createdAt) || compare(a.id, b.id);
}

/** The opposite of `earliestFirst`. */
export function newestFirst(a: Placed, b: Placed): number {
  return earliestFirst(b, a);
}
type Placed = { readonly createdAt: Instant; readonly id: string };

/** The order of what a walk over edges reached: by stored confidence, then newest first, then by ascending id. */
export function surestFirst(a: Held, b: Held): number {
  return b.confidence - a.confidence || compare(b.createdAt, a.createdAt) || compare(a.id, b.id);
}
type Held = Placed & { readonly confidence: number };

/** By UTF-16 units, which for instants and identifiers is the order of their bytes. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
