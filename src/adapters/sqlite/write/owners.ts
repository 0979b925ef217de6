import type { Database } from "bun:sqlite";
import { type AllOwners, isEverybody, type Owner } from "../../../domain/owner.ts";
import { ask } from "../connection/ask.ts";

/** The integer key of a user id; undefined for an owner without data. */
export function ownerKey(database: Database, userId: string): number | undefined {
  return ask<number>(database, "SELECT owner FROM owners WHERE user_id = ?", userId);
}

/** Like `ownerKey`; "all owners" stays as it is. */
export function ownerKeyOrAll(database: Database, owner: Owner): number | AllOwners | undefined {
  return isEverybody(owner) ? owner : ownerKey(database, owner);
}

/** The user id for a comparison; null for all owners. */
export function userIdOf(owner: Owner): string | null {
  return isEverybody(owner) ? null : owner;
}
