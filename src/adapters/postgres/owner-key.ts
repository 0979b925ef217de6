import { isEverybody, type Owner } from "../../domain/owner.ts";

/** The number of an owner as decimal text: the first eight bytes of the SHA-256 of the user id, read as a signed integer. */
export type OwnerKey = string;

/** The owner of rows that belong to the database as a whole. */
export const NO_OWNER: OwnerKey = "0";

export function ownerKey(userId: string): OwnerKey {
  const hash = Bun.SHA256.hash(userId);
  return new DataView(hash.buffer, hash.byteOffset).getBigInt64(0).toString();
}

/** The number for a comparison; null for all owners. */
export function ownerKeyOrNull(owner: Owner): OwnerKey | null {
  return isEverybody(owner) ? null : ownerKey(owner);
}

/** In the order in which owner rows are locked. */
export function sortedKeys(userIds: Iterable<string>): readonly (readonly [string, OwnerKey])[] {
  return [...new Set(userIds)]
    .map((userId) => [userId, ownerKey(userId)] as const)
    .sort(([, a], [, b]) => Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b)));
}
