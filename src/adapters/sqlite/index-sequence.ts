import type { Database } from "bun:sqlite";

/** Marks all files of the pack as having taken part in the same change. Runs inside a write transaction. */
export function advanceIndexSequence(database: Database): void {
  database.run("UPDATE index_sequence SET value = value + 1");
  database.run("UPDATE vectors_sequence SET value = (SELECT value FROM index_sequence)");
  database.run("UPDATE lexical_sequence SET value = (SELECT value FROM index_sequence)");
}
