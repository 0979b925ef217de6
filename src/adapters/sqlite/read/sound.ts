import type { Database } from "bun:sqlite";
import { packDamaged } from "../../crypt/keys.ts";
import { ask, mainFileOf } from "../connection/ask.ts";

/** Pages up to which a pack is examined at once: 32 MB, which take a tenth of a second. */
const PAGES_MAX = 4096;

const examined = new WeakSet<Database>();

/**
 * Before a list says that there is nothing: a damaged index finds nothing, too. Once for a connection, and only in a pack that is
 * examined at once.
 * @throws SvcError pack_damaged
 */
export function requireSound(database: Database): void {
  if (examined.has(database)) return;
  if ((ask<number>(database, "PRAGMA main.page_count") ?? 0) > PAGES_MAX) return;
  for (const table of ["owners", "nodes"]) {
    if (ask(database, `PRAGMA main.integrity_check(${table})`) !== "ok") throw damaged(database);
  }
  examined.add(database);
}

/** The error for a row that an index has and its table does not. */
export function damaged(database: Database): Error {
  return packDamaged(mainFileOf(database));
}
