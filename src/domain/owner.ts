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
