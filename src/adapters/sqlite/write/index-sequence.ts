import type { Database } from "bun:sqlite";
import { hasRow } from "../connection/ask.ts";

/**
 * Marks all files of a directory pack as part of the same change. A single file is always consistent with itself. Runs inside a write
 * transaction.
 */
export function advanceIndexSequence(database: Database): void {
  if (!hasRow(database, "pragma_database_list WHERE name = 'vector_file'")) return;
  database.query("UPDATE index_sequence SET value = value + 1").run();
  for (const table of ["vectors_sequence", "lexical_sequence"]) {
    database.query(`UPDATE ${table} SET value = (SELECT value FROM index_sequence)`).run();
  }
}
