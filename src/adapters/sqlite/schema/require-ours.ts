import type { Database } from "bun:sqlite";
import { packMoved } from "../connection/failures.ts";
import { hasMoved } from "../connection/open-database.ts";
import { requireFormat } from "./manifest.ts";

/**
 * Whether a transaction may be committed. While the main file is not under its name, everything written is lost with the last
 * process that has it open; once a newer program has given the pack another format, it may be wrong.
 * @throws SvcError storage_failed with `data.reason` "pack_moved"; pack_too_new
 */
export function requireOurs(database: Database, path: string): void {
  if (hasMoved(database, "main")) throw packMoved(path);
  requireFormat(database, path);
}
