import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { newestFirst } from "../../../domain/search/bm25.ts";
import { PIN_STATES, PINS_MAX } from "../../../domain/search/change.ts";
import type { Instant } from "../../../lib/instant.ts";
import { Params } from "../../sql/conditions.ts";
import { sqlList } from "../../sql/dialect.ts";
import type { Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { passes } from "./candidates.ts";

/** Pinned memories (`isPinned`) and tasks in `PIN_STATES`, exactly as in the partial indexes for them. */
const PINNED = "(n.pinned = 1 OR n.salience >= 1.0) AND (n.pinned = 1 OR n.salience_base >= 1.0)";
const TASK = "n.node_type = 'task'";
const IN_STATE = `n.lifecycle_state IN ${sqlList(PIN_STATES)}`;

type Row = { readonly key: number; readonly createdAt: Instant; readonly id: string };

/** Keys of the owner's newest pinned nodes and newest tasks, newest first, each once. */
export async function readPinned(sql: Sql, filter: CandidateFilter): Promise<readonly number[]> {
  const params = new Params(ownerKey(filter.userId));
  const narrowed = passes(params, filter).map((condition) => `AND ${condition}`);
  const kinds = [PINNED, TASK].map(
    (kind) => `(SELECT n.key, n.created_at AS "createdAt", n.id::text AS id FROM nodes n
      WHERE n.owner = $1::bigint AND ${kind} AND ${IN_STATE} ${narrowed.join(" ")}
      ORDER BY n.created_at DESC, n.id DESC LIMIT ${PINS_MAX})`,
  );
  const rows = await sql.all<Row>(kinds.join(" UNION ALL "), ...params.values);
  return [...new Set(rows.sort(newestFirst).map(({ key }) => key))];
}
