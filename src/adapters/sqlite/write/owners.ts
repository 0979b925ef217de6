import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { type AllOwners, isEverybody, type Owner } from "../../../domain/owner.ts";
import { ask } from "../connection/ask.ts";

/** The integer key of a user id; undefined for an owner without any data. */
export function ownerKey(database: Database, userId: string): number | undefined {
  return ask<number>(database, "SELECT owner FROM owners WHERE user_id = ?", userId);
}

/** Like `ownerKey`; "all owners" stays as it is. */
export function ownerKeyOrAll(database: Database, owner: Owner): number | AllOwners | undefined {
  return isEverybody(owner) ? owner : ownerKey(database, owner);
}

/** The user id that a statement compares with; null for all owners. */
export function userIdOf(owner: Owner): string | null {
  return isEverybody(owner) ? null : owner;
}

/** Like `ownerKey`, and creates the owner if unknown. Runs inside a write transaction. */
export function ensureOwner(database: Database, userId: string): number {
  const known = ownerKey(database, userId);
  if (known !== undefined) return known;
  const key = Number(
    database.query("INSERT INTO owners (user_id) VALUES (?)").run(userId).lastInsertRowid,
  );
  // A larger one would be read as the key of another owner.
  if (Number.isSafeInteger(key)) return key;
  throw new SvcError(
    "storage_failed",
    "the pack has an owner with the highest possible number, so that it can have no further one; it was not made by svc",
    { reason: "owner_number" },
  );
}
