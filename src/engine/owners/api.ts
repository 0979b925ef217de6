import type { OwnerMemories, OwnerSummary } from "../../domain/pack-owner.ts";

/** Everything of `from` is given to `into`. */
export type MoveOwnerInput = {
  readonly from: string;
  readonly into: string;
  /** True: `into` must already be an owner. False: it must not be one yet. */
  readonly isJoin: boolean;
  /** True: nothing changes. Default false. */
  readonly isPreview?: boolean;
  /** The actor, for the audit log. */
  readonly actorId: string;
};

/** Who owns the pack and what is in it. */
export type OwnerMethods = {
  /**
   * The owner of a person's calls that name none: the one recorded in the pack, else the only owner there is. Undefined if there
   * are several. Methods that require an owner do not use it.
   */
  packOwner(): Promise<string | undefined>;
  /** Like `packOwner`; an unused pack records `userId`, by default the system user. */
  claimPack(userId?: string): Promise<string | undefined>;
  /** Everyone who has anything in the pack, those with the most memories first. */
  listOwners(): Promise<readonly OwnerSummary[]>;
  /** Sets and records the owner of the pack. */
  usePackOwner(userId: string, actorId: string): Promise<void>;
  /**
   * Renames an owner, or joins one with another: everything of the first is given to the second, nothing stays under the old
   * name, and the audit log records it. One transaction. The content of events never changes.
   * @returns what was moved, or would be
   * @throws SvcError invalid_argument if there is nothing to move, or `into` does not match `isJoin`
   */
  moveOwner(input: MoveOwnerInput): Promise<OwnerSummary>;
  /** The owners with the most memories, at most 5. */
  ownersWithMemories(): Promise<readonly OwnerMemories[]>;
};
