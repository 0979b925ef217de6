import { Database } from "bun:sqlite";
import { ownLibraryPath, SQLITE_LIBRARY } from "./own-libraries.ts";

let isChosen = process.platform !== "darwin";

/**
 * Opens a database. Every one of the program is opened here: on macOS Bun has no SQLite of its own, and the system's loads no
 * extensions, so ours is named before the first.
 * @param flags of SQLite's `sqlite3_open_v2`. Absent: read and write, create
 */
export function openSqlite(name: string, flags?: number): Database {
  if (!isChosen) chooseSqlite();
  return new Database(name, flags);
}

function chooseSqlite(): void {
  try {
    Database.setCustomSQLite(ownLibraryPath(SQLITE_LIBRARY));
  } catch (error) {
    // One choice holds for the process: another thread has made it.
    if (!String(error).includes("already loaded")) throw error;
  }
  isChosen = true;
}
