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
