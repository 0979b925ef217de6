import type { Instant } from "../../lib/instant.ts";
import { compareUnits } from "../../lib/text.ts";

/** The order of hits: best first, equal scores by key, which is the order in which they were written. */
export function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || a.key - b.key;
}
type Scored = { readonly key: number; readonly score: number };

/** The order of a conversation, in which no two positions are equal. */
export function earliestFirst(a: Placed, b: Placed): number {
  return compareUnits(a.createdAt, b.createdAt) || compareUnits(a.id, b.id);
}

/** The opposite of `earliestFirst`. */
export function newestFirst(a: Placed, b: Placed): number {
  return earliestFirst(b, a);
}
type Placed = { readonly createdAt: Instant; readonly id: string };

/** The order of what a walk over edges reached, and of claims: by stored confidence, then newest first, then by ascending id. */
export function surestFirst(a: Held, b: Held): number {
  return (
    b.confidence - a.confidence ||
    compareUnits(b.createdAt, a.createdAt) ||
    compareUnits(a.id, b.id)
  );
}
type Held = Placed & { readonly confidence: number };
