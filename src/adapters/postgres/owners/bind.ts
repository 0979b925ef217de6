import { ALL_OWNERS, movable } from "../../../domain/owner.ts";
import type { Owners } from "../../../ports/store/store.ts";
import type { Clock } from "../../../ports/system.ts";
import { readOwnerNames } from "../../sql/owner-names.ts";
import { run } from "../connection/run.ts";

import type { Database } from "../connection/sql.ts";
import { listOwners, readOwnersWithMemories, readUnusualNames } from "./list-owners.ts";
import { moveOwner } from "./move-owner.ts";
import { claimPack, readPackOwner, writePackOwner } from "./pack-owner.ts";

export function createOwners(database: Database, clock: Clock): Owners {
  const { read, snapshot, writeAny, writeNew } = database;
  return {
    packOwner: () => snapshot(ALL_OWNERS, readPackOwner),
    claimPack: (userId, record) => writeAny((sql) => claimPack(sql, userId, record)),
    usePack: (userId, record) => writeAny((sql) => writePackOwner(sql, userId, record)),
    withMemories: (limit) => read(ALL_OWNERS, (sql) => readOwnersWithMemories(sql, limit)),
    list: () => read(ALL_OWNERS, listOwners),
    unusualNames: () => read(ALL_OWNERS, readUnusualNames),
    names: (userId) => read(userId, (sql) => run(sql, readOwnerNames(userId))),
    previewMove: async (wish) => movable(await read(ALL_OWNERS, listOwners), wish),
    // Inside the transaction: everything that others have recorded before is older.
    move: (move) => writeNew([move.from, move.into], (sql) => moveOwner(sql, move, clock.now())),
  };
}
