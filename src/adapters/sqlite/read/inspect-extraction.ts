import type { Database } from "bun:sqlite";
import { SCOPES } from "../../../domain/enums.ts";
import type { DropReason, RemovedPart } from "../../../domain/extraction/result.ts";
import { EXTRACTION_OPERATION } from "../../../domain/extraction/work.ts";
import type { Counted, ExtractionInspection } from "../../../ports/store/store.ts";
import { sqlList } from "../../sql/dialect.ts";
import { countRows } from "../connection/ask.ts";

/** How extraction stands in a pack. */
export function inspectExtraction(database: Database): ExtractionInspection {
  const failed = "kind = 'extraction' AND status = 'failed'";
  return {
    pending: countRows(database, "jobs WHERE kind = 'extraction' AND status = 'pending'"),
    failed: database
      .query<Counted, []>(
        `SELECT coalesce(last_error, 'unknown') AS reason, count(*) AS times FROM jobs WHERE ${failed}
         GROUP BY reason ORDER BY times DESC, reason`,
      )
      .all(),
    firstFailed:
      database
        .query<{ eventId: string; userId: string }, []>(
          `SELECT e.id AS eventId, o.user_id AS userId FROM jobs j JOIN events e ON e.key = j.event_key
             JOIN owners o ON o.owner = e.owner WHERE ${failed} ORDER BY e.key LIMIT 1`,
        )
        .get() ?? undefined,
    dropped: readDrops(database),
  };
}

/** Sums what the records of extractions count. */
function readDrops(database: Database): readonly Counted<DropReason | RemovedPart>[] {
  return database
    .query<Counted<DropReason | RemovedPart>, []>(
      `SELECT d.key AS reason, sum(d.value) AS times
       FROM (SELECT payload ->> 'record' AS record FROM operations WHERE namespace_id IN ${sqlList(SCOPES)}
           AND op_type = '${EXTRACTION_OPERATION}' AND op_type <> 'DIRECT_STORE_REQUESTED') r,
         json_each(CASE WHEN json_valid(r.record) THEN r.record ELSE '{}' END, '$.dropped') d
       GROUP BY reason ORDER BY times DESC, reason`,
    )
    .all();
}
