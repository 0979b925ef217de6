import type { Database } from "bun:sqlite";
import { REPLAN_OPERATION } from "../../../domain/extraction/plan/derivation.ts";

/**
 * Gives work of extraction that was imported what an export does not say, because the log does: its lane, its generation, and
 * the revision of its plan. Runs inside a write transaction.
 */
export function restoreExtraction(database: Database): void {
  database
    .query(
      `UPDATE work SET lane = past.scope, generation = attempts + past.replans,
         payload = CASE past.replans WHEN 0 THEN NULL ELSE json_object('revision', 1 + past.replans) END
       FROM (SELECT e.key, e.scope, (SELECT count(*) FROM operations o WHERE o.target_id = e.id AND o.op_type = ?) AS replans
         FROM events e) past
       WHERE work.kind = 'extraction' AND past.key = work.subject`,
    )
    .run(REPLAN_OPERATION);
}
