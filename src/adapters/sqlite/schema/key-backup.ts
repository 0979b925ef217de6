import type { Database } from "bun:sqlite";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { PackLayout } from "../connection/layout.ts";
import { openDatabase } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const NAME = "key_backup";

/** Why a pack's key needs no copy: it was copied then, or comes from a passphrase; and which key, by its salt in hexadecimal digits. */
export type KeyBackup = { readonly salt: string; readonly at: Instant | "passphrase" };

/** A pack's record about its key; undefined if it is random and `svc key export` never copied it. */
export function readKeyBackup(database: Database): KeyBackup | undefined {
  const [salt, at] = readPackSetting(database, NAME)?.split(" ") ?? [];
  if (salt === undefined || at === undefined) return undefined;
  return { salt, at: at === "passphrase" ? at : asInstant(at) };
}

/**
 * Records in a pack why its key needs no copy.
 * @throws SvcError pack_read_only; SQLiteError from SQLite itself
 */
export function writeKeyBackup(
  layout: PackLayout,
  connection: Connection,
  { salt, at }: KeyBackup,
): void {
  const database = openDatabase({ ...connection, layout, mode: "read-write" });
  try {
    database.transaction(() => writePackSetting(database, NAME, `${salt} ${at}`)).immediate();
  } finally {
    database.close();
  }
}
