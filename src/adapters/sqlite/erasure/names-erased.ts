import type { Database } from "bun:sqlite";
import { idsIn } from "../../../domain/erasure.ts";
import { takenOver } from "../../../domain/jobs.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
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

/** @throws SvcError (`isTakenOver`) if records of extraction name something that was erased: it is done again without that */
export function requireUnerased(database: Database, records: readonly AuditRecord[]): void {
  const named = () =>
    idsIn(records.flatMap(({ targetId, payload }) => [targetId, JSON.stringify(payload)]));
  if (namesErased(database, named)) throw takenOver();
}
