import type { Database } from "bun:sqlite";
import { hasRow } from "../connection/ask.ts";

/** Whether something that was erased is named. What was made before the erasure must not be written after it. */
export function namesErased(database: Database, ids: () => readonly string[]): boolean {
  return (
    hasRow(database, "erasures") &&
    hasRow(
      database,
      "json_each(?) i CROSS JOIN erasures x ON x.event_id = i.value",
      JSON.stringify(ids()),
    )
  );
}
