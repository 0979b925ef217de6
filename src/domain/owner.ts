import type { Instant } from "../lib/instant.ts";
import { nameForm } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import { invalid, SvcError } from "./errors.ts";

/** Every owner of a pack. An object, so that no user's name is ever taken for it. */
export type AllOwners = { readonly allOwners: true };
export const ALL_OWNERS: AllOwners = { allOwners: true };

/** Whose things are meant: those of one user, or of everybody, which has to be said. */
export type Owner = string | AllOwners;

/** A caller that names no user means everybody. */
export function toOwner(userId: string | undefined): Owner {
  return userId ?? ALL_OWNERS;
}

export function isEverybody(owner: unknown): owner is AllOwners {
  return owner === ALL_OWNERS;
}

/** Whether something of a user is among the things of an owner. */
export function owns(owner: Owner, userId: string): boolean {
  return isEverybody(owner) || owner === userId;
}

/** The stored names of each form that has one of another form, as packs of an earlier version can have. They are few. */
let stored: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/** Whether some of the names are in another form than `nameForm` gives them. */
export function hasFormerNames(names: readonly string[]): boolean {
  return names.some((name) => nameForm(name) !== name);
}

/** The forms of names that are not among the names themselves. */
export function plainForms(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(nameForm)).difference(new Set(names))];
}

/** Takes note of the names of owners in all packs and databases that are open, so that former ones go on being found. */
export function useStoredNames(names: readonly string[]): void {
  const alike = new Map<string, Set<string>>();
  for (const name of names) if (nameForm(name) !== name) alike.set(nameForm(name), new Set());
  for (const name of names) alike.get(nameForm(name))?.add(name);
  stored = alike;
}

/**
 * The name under which an owner is found: as it is stored, else in NFC without blanks at its ends, else that of the one stored owner
 * whose name has this form.
 */
export function ownerName(given: string): string {
  const form = nameForm(given);
  const alike = stored.get(form);
  if (alike === undefined) return form;
  if (alike.has(given)) return given;
  const [only = form, ...others] = alike;
  return alike.has(form) || others.length > 0 ? form : only;
}

/** A part of a workspace with a pack, or a schema of a database, of its own. */
export type Namespace = { readonly name: string; readonly id: Uuid };

/** A namespace, and whether its pack or its tables have been made. */
export type RegisteredNamespace = Namespace & { readonly isInitialized: boolean };

/** Which namespace is expected. `name`: the one that its workspace has for it; any if absent. */
export type NamespaceIdentity = { readonly id: Uuid; readonly name?: string | undefined };

/**
 * Checks that what was found is the expected namespace. One without a name has every name.
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

/** @param reason what is wrong with the place, as the rest of a sentence; likewise `advice` */
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
  /** Not recorded, and the pack has something of several owners, or nothing. */
  | { readonly from: "several" | "nobody" };

export type OwnerMemories = {
  readonly userId: string;
  readonly memories: number;
};

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

export function ownerTarget(userId: string): string {
  return `owner:${userId}`;
}

/** A name under which an owner's things were recorded, and the period in which it was that owner's. */
export type OwnerName = {
  readonly userId: string;
  /** Exclusive: when another owner last gave up the name, or undefined. */
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
