import { nameForm } from "../lib/normal-form.ts";

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

/** Names of owners that were stored before names had one form. They are few, and no other pack has an owner of such a name. */
const former = new Set<string>();

/** Keeps the names that a pack or a database has in another form than `ownerName` gives them, so that they go on being found. */
export function keepFormerNames(stored: readonly string[]): void {
  for (const name of stored) if (nameForm(name) !== name) former.add(name);
}

/** The name under which an owner is found: in NFC, without blanks at its ends, or as it was stored before. */
export function ownerName(given: string): string {
  return former.has(given) ? given : nameForm(given);
}
