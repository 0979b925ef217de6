import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import { invalid } from "./errors.ts";

/** The owner of a pack, for callers who name no owner. */
export type PackOwner =
  /** `set`: recorded in the pack. `only`: not recorded, but everything in the pack belongs to this owner. */
  | { readonly from: "set" | "only"; readonly userId: string }
  /** Not recorded, and the pack has something of several owners, or nothing. */
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
  /** Time of the newest memory or event; undefined if there is none. */
  readonly lastUsed: Instant | undefined;
};

/** The kind of the operations that record the owner of a pack, as `after` in their payload. Exports contain them. */
export const PACK_OWNER_SET = "PACK_OWNER_SET";

/**
 * The kinds of the operations that record that everything of one owner was given to another: `before` and `after` in their
 * payload.
 */
export const OWNER_RENAMED = "OWNER_RENAMED";
export const OWNERS_JOINED = "OWNERS_JOINED";

/** The target of such an operation. */
export function ownerTarget(userId: string): string {
  return `owner:${userId}`;
}

/** A name under which an owner's things were recorded, and the period in which it was that owner's. */
export type OwnerName = {
  readonly userId: string;
  /** Exclusive: when somebody else last gave up the name, or undefined. */
  readonly since: Instant | undefined;
  /** Inclusive: when this owner gave it up; undefined for the present name. */
  readonly until: Instant | undefined;
};

/**
 * What a move would move.
 * @param owners all who have something
 * @param isJoin whether `into` must be among them, or must not
 * @throws SvcError invalid_argument if the move is not possible
 */
export function movable(
  owners: readonly OwnerSummary[],
  {
    from,
    into,
    isJoin,
  }: { readonly from: string; readonly into: string; readonly isJoin: boolean },
): OwnerSummary {
  const moved = owners.find(({ userId }) => userId === from);
  const isTaken = owners.some(({ userId }) => userId === into);
  if (moved === undefined) throw invalid("from", "has nothing here");
  if (from === into) throw invalid("into", "is the same name");
  if (isJoin && !isTaken) throw invalid("into", "has nothing here; rename the other one");
  if (!isJoin && isTaken) throw invalid("into", "is already an owner; join the two");
  return moved;
}

/** The audit record of a move that was made. */
export function toMoveRecord(
  {
    from,
    into,
    isJoin,
    id,
    actorId,
  }: {
    readonly from: string;
    readonly into: string;
    readonly isJoin: boolean;
    readonly id: Uuid;
    readonly actorId: string;
  },
  { memories, events }: OwnerSummary,
  createdAt: Instant,
) {
  return {
    ...{ id, actorId, createdAt },
    opType: isJoin ? OWNERS_JOINED : OWNER_RENAMED,
    targetId: ownerTarget(from),
    payload: { before: from, after: into, memories, events },
    namespaceId: undefined,
  };
}

/**
 * The audit record of another owner of a pack.
 * @param before null: none was recorded
 */
export function toOwnerRecord<Record extends object>(
  record: Record,
  before: string | null,
  after: string,
) {
  const payload = { before, after };
  return { ...record, opType: PACK_OWNER_SET, targetId: "pack", payload, namespaceId: undefined };
}
