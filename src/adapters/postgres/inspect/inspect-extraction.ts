import { SCOPES } from "../../../domain/enums.ts";
import type { DropReason, RemovedPart } from "../../../domain/extraction/result.ts";
import { EXTRACTION_OPERATION } from "../../../domain/extraction/work.ts";
import type { Counted, ExtractionInspection } from "../../../ports/store/store.ts";
import { sqlList } from "../../sql/dialect.ts";
import type { Sql } from "../connection/sql.ts";

const FAILED = "w.kind = 'extraction' AND w.status = 'failed'";

/** How extraction stands in a database; as `inspectExtraction` of a pack. */
export async function inspectExtraction(sql: Sql): Promise<ExtractionInspection> {
  const pending = await sql.get<{ count: number }>(
    "SELECT count(*)::float8 AS count FROM work WHERE kind = 'extraction' AND status = 'pending'",
  );
  const failed = await sql.all<Counted>(
    `SELECT coalesce(w.last_error, 'unknown') AS reason, count(*)::float8 AS times FROM work w WHERE ${FAILED}
     GROUP BY 1 ORDER BY times DESC, reason`,
  );
  const firstFailed = await sql.get<{ eventId: string; userId: string }>(
    `SELECT w.event_id AS "eventId", o.user_id AS "userId" FROM work w JOIN owners o ON o.owner = w.owner
       JOIN events e ON e.owner = w.owner AND e.id = w.event_id
     WHERE ${FAILED} ORDER BY e.timestamp, e.id LIMIT 1`,
  );
  return { pending: pending?.count ?? 0, failed, firstFailed, dropped: await readDrops(sql) };
}

/** Sums what the records of extractions count. */
async function readDrops(sql: Sql): Promise<readonly Counted<DropReason | RemovedPart>[]> {
  return await sql.all<Counted<DropReason | RemovedPart>>(
    `SELECT d.key AS reason, sum(d.value::int)::float8 AS times
     FROM operations o, json_each_text(coalesce((o.payload::json ->> 'record')::json -> 'dropped', '{}')) d
     WHERE o.namespace_id IN ${sqlList(SCOPES)} AND o.op_type = '${EXTRACTION_OPERATION}'
       AND o.op_type <> 'DIRECT_STORE_REQUESTED'
     GROUP BY 1 ORDER BY times DESC, reason`,
  );
}
