import type { Database } from "bun:sqlite";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { PackLayout } from "../connection/layout.ts";
import { keepLogInUse } from "../connection/log-mark.ts";
import { openDatabase } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { hasTable } from "./migrate.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const NAME = "key_backup";

/** When a copy of a pack's key was made, and of which key: that of the salt, in hexadecimal digits. */
export type KeyBackup = { readonly salt: string; readonly at: Instant };

/** What a pack remembers of a copy of its key; undefined where none was made by `svc key export`. */
export function readKeyBackup(database: Database): KeyBackup | undefined {
  const [salt, at] = readPackSetting(database, NAME)?.split(" ") ?? [];
  return salt === undefined || at === undefined ? undefined : { salt, at: asInstant(at) };
}

/**
 * Lets a pack remember that its key was copied. A pack of an earlier version that nobody has opened for writing since
 * cannot.
 * @returns whether it remembers @throws SvcError pack_read_only; SQLiteError from SQLite itself
 */
export function writeKeyBackup(
  layout: PackLayout,
  connection: Connection,
  { salt, at }: KeyBackup,
): boolean {
  const database = openDatabase({ ...connection, layout, mode: "read-write" });
  try {
    if (!hasTable(database, "pack_settings")) return false;
    database.transaction(() => writePackSetting(database, NAME, `${salt} ${at}`)).immediate();
    return true;
  } finally {
    keepLogInUse(database, layout);
    database.close();
  }
}
