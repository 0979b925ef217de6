import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import { invalid, SvcError } from "./errors.ts";

/** Every owner of a pack. An object, so that no user's name can be mistaken for it. */
export type AllOwners = { readonly allOwners: true };
export const ALL_OWNERS: AllOwners = { allOwners: true };

/** One user, or explicitly all users. */
export type Owner = string | AllOwners;

/** A caller that names no user means all. */
export function toOwner(userId: string | undefined): Owner {
  return userId ?? ALL_OWNERS;
}

export function isEverybody(owner: unknown): owner is AllOwners {
  return owner === ALL_OWNERS;
}

/** Whether something of a user belongs to an owner. */
export function owns(owner: Owner, userId: string): boolean {
  return isEverybody(owner) || owner === userId;
}

/** A part of a workspace with its own pack, or its own schema in a database. */
export type Namespace = { readonly name: string; readonly id: Uuid };

/** A namespace, and whether its pack or its tables exist. */
export type RegisteredNamespace = Namespace & { readonly isInitialized: boolean };

/** The expected namespace. `name`: its name in the workspace; any if absent. */
export type NamespaceIdentity = { readonly id: Uuid; readonly name?: string | undefined };

/**
 * Checks that the namespace found is the expected one. One without a name matches any.
 * @param place where it was found
 * @param advice what to check, as the rest of a sentence
 * @throws SvcError namespace_mismatch
 */
export function requireIdentity(
  found: { readonly [Part in keyof NamespaceIdentity]: string | undefined },
  expected: NamespaceIdentity,
  { place, advice }: { readonly place: string; readonly advice: string },
): void {
  const refuse = (own: string | undefined, wanted: string): never => {
    const reason = own === undefined ? "has no namespace" : `belongs to the namespace ${own}`;
    throw new SvcError(
      "namespace_mismatch",
      `${place}: ${reason}, not ${wanted}. Nothing was changed; ${advice}.`,
      { path: place, expected: wanted, found: own ?? null },
    );
  };
  if (found.id !== expected.id) refuse(found.id, expected.id);
  const { name } = found;
  if (name === undefined || expected.name === undefined || name === expected.name) return;
  refuse(name, expected.name);
}

/** @param reason what is wrong with the place, as the rest of a sentence; so is `advice` */
export function workspaceDamaged(
  place: string,
  reason: string,
  { advice, cause }: { readonly advice: string; readonly cause?: unknown },
): SvcError {
  const message = `${place}: ${reason}. Nothing was changed; ${advice}.`;
  const options = cause === undefined ? {} : { cause };
  return new SvcError("workspace_damaged", message, { path: place }, options);
}

/** The owner of a pack, for callers who name no owner. */
export type PackOwner =
  /** `set`: recorded in the pack. `only`: not recorded, but everything in the pack belongs to this owner. */
  | { readonly from: "set" | "only"; readonly userId: string }
  /** Not recorded, and the pack has data of several owners, or none. */
  | { readonly from: "several" | "nobody" };

export type OwnerMemories = { readonly userId: string; readonly memories: number };

export type OwnerSummary = OwnerMemories & {
  readonly events: number;
  /** Time of the newest memory or event; undefined if there is none. */
  readonly lastUsed: Instant | undefined;
};

/** The kind of the operations that record a pack's owner, as `after` in their payload. Exports contain them. */
export const PACK_OWNER_SET = "PACK_OWNER_SET";

/** The kinds of the operations that record moving all data of one owner to another: `before` and `after` in their payload. */
export const OWNER_RENAMED = "OWNER_RENAMED";
export const OWNERS_JOINED = "OWNERS_JOINED";

export function ownerTarget(userId: string): string {
  return `owner:${userId}`;
}

/** A name under which an owner's data was recorded, and the period in which it was theirs. */
export type OwnerName = {
  readonly userId: string;
  /** Exclusive: when another owner last gave up the name, or undefined. */
  readonly since: Instant | undefined;
  /** Inclusive: when this owner gave it up; undefined for the current name. */
  readonly until: Instant | undefined;
};

/**
 * Plans a move.
 * @param owners all with data
 * @param isJoin whether `into` must be among them, or must not
 * @throws SvcError invalid_argument if the move is not possible
 */
export function movable(
  owners: readonly OwnerSummary[],
  given: { readonly from: string; readonly into: string; readonly isJoin: boolean },
): OwnerSummary {
  const { from, into, isJoin } = given;
  const moved = owners.find(({ userId }) => userId === from);
  const isTaken = owners.some(({ userId }) => userId === into);
  if (moved === undefined) throw invalid("from", "has nothing here");
  if (from === into) throw invalid("into", "is the same name");
  if (isJoin && !isTaken) throw invalid("into", "has nothing here; rename the other one");
  if (!isJoin && isTaken) throw invalid("into", "is already an owner; join the two");
  return moved;
}

/** The audit record of a completed move. */
export function toMoveRecord(
  given: {
    readonly from: string;
    readonly into: string;
    readonly isJoin: boolean;
    readonly id: Uuid;
    readonly actorId: string;
  },
  { memories, events }: OwnerSummary,
  createdAt: Instant,
) {
  const { from, into, isJoin, id, actorId } = given;
  return {
    ...{ id, actorId, createdAt },
    opType: isJoin ? OWNERS_JOINED : OWNER_RENAMED,
    targetId: ownerTarget(from),
    payload: { before: from, after: into, memories, events },
    namespaceId: undefined,
  };
}

/** The audit record of a change of a pack's owner. @param before null: none was recorded */
export function toOwnerRecord<Record extends object>(
  record: Record,
  before: string | null,
  after: string,
) {
  const payload = { before, after };
  return { ...record, opType: PACK_OWNER_SET, targetId: "pack", payload, namespaceId: undefined };
}
