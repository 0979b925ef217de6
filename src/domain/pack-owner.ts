import type { Instant } from "../lib/instant.ts";

/** Whose a pack is, for callers who name no owner. */
export type PackOwner =
  /** `set`: the pack says so. `only`: it does not, and everything in it is of this one. */
  | { readonly from: "set" | "only"; readonly userId: string }
  /** It does not say so, and holds something of several owners, or nothing. */
  | { readonly from: "several" | "nobody" };

/** An owner who has memories in a pack. */
export type OwnerMemories = {
  readonly userId: string;
  /** In any state. */
  readonly memories: number;
};

/** What an owner has in a pack. */
export type OwnerSummary = OwnerMemories & {
  readonly events: number;
  /** Of the newest of both; undefined where there is none. */
  readonly lastUsed: Instant | undefined;
};

/** The kind of the operations that record whose a pack is, as `after` in their payload. Exports hold them. */
export const PACK_OWNER_SET = "PACK_OWNER_SET";

/** The kinds of the operations that record that everything of one owner became another's: `before` and `after` in their payload. */
export const OWNER_RENAMED = "OWNER_RENAMED";
export const OWNERS_JOINED = "OWNERS_JOINED";

/** What such an operation is about. */
export function ownerTarget(userId: string): string {
  return `owner:${userId}`;
}

/** A name under which an owner's things were recorded, and from when to when it was that owner's. */
export type OwnerName = {
  readonly userId: string;
  /** Exclusive: when the name was last given up by somebody else, or undefined. */
  readonly since: Instant | undefined;
  /** Inclusive: when this owner gave it up; undefined for the present name. */
  readonly until: Instant | undefined;
};
