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
