import type { Database } from "bun:sqlite";
import type { Owners } from "../../../ports/store/store.ts";
import type { Clock } from "../../../ports/system.ts";
import { readOwnerNames } from "../../sql/owner-names.ts";
import { run } from "../connection/run.ts";

import { listOwners, readUnusualNames } from "./list-owners.ts";
import { moveOwner, previewMove } from "./move-owner.ts";
import { readOwnersWithMemories, readPackOwner, writePackOwner } from "./pack-owner.ts";

/** Access to the pack: `write` runs its work in its own transaction. */
export type DatabaseAccess = {
  readonly read: <T>(work: (database: Database) => T) => Promise<T>;
  readonly write: <T>(work: (database: Database) => T) => Promise<T>;
};

export function createOwners({ read, write }: DatabaseAccess, clock: Clock): Owners {
  return {
    packOwner: () => read(readPackOwner),
    claimPack: (userId, record) =>
      write((database) => {
        if (readPackOwner(database).from === "nobody") writePackOwner(database, userId, record);
        return readPackOwner(database);
      }),
    usePack: (userId, record) => write((database) => writePackOwner(database, userId, record)),
    withMemories: (limit) => read((database) => readOwnersWithMemories(database, limit)),
    list: () => read(listOwners),
    unusualNames: () => read(readUnusualNames),
    names: (userId) => read((database) => run(database, readOwnerNames(userId))),
    previewMove: (wish) => read((database) => previewMove(database, wish)),
    // Inside the transaction: everything that others have recorded before is older.
    move: (move) => write((database) => moveOwner(database, move, clock.now())),
  };
}
