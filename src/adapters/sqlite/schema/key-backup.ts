import type { Database } from "bun:sqlite";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { PackLayout } from "../connection/layout.ts";
import { openDatabase } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const NAME = "key_backup";

/** When a pack's key was copied, and which key, identified by its salt in hexadecimal digits. */
export type KeyBackup = { readonly salt: string; readonly at: Instant };

/** A pack's record of a copy of its key; undefined if `svc key export` never made one. */
export function readKeyBackup(database: Database): KeyBackup | undefined {
  const [salt, at] = readPackSetting(database, NAME)?.split(" ") ?? [];
  return salt === undefined || at === undefined ? undefined : { salt, at: asInstant(at) };
}

/**
 * Records in a pack that its key was copied.
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
