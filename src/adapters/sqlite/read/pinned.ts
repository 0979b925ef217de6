import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { newestFirst } from "../../../domain/search/bm25.ts";
import { PIN_STATES, PINS_MAX } from "../../../domain/search/change.ts";
import type { Instant } from "../../../lib/instant.ts";
import { sqlList } from "../../sql/dialect.ts";
import type { Parameter } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { candidateCondition } from "./filter-sql.ts";

/** Pinned memories (`isPinned`) and tasks in `PIN_STATES`, exactly as in the partial indexes for them. */
const PINNED = "(n.pinned = 1 OR n.salience >= 1.0) AND (n.pinned = 1 OR n.salience_base >= 1.0)";
const TASK = "n.node_type = 'task'";
const IN_STATE = `n.lifecycle_state IN ${sqlList(PIN_STATES)}`;

type Row = { readonly key: number; readonly createdAt: Instant; readonly id: string };

/** Keys of the owner's newest pinned nodes and newest tasks, newest first, each once. */
export function readPinned(database: Database, filter: CandidateFilter): number[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined) return [];
  const narrowed = candidateCondition(filter);
  const rows = [PINNED, TASK].flatMap((kind) =>
    database
      .query<Row, Parameter[]>(
        `SELECT n.key, n.created_at AS createdAt, n.id FROM nodes n
         WHERE n.owner = ? AND ${kind} AND ${IN_STATE} AND ${narrowed?.sql ?? "1"}
         ORDER BY n.created_at DESC, n.id DESC LIMIT ${PINS_MAX}`,
      )
      .all(owner, ...(narrowed?.parameters ?? [])),
  );
  return [...new Set(rows.sort(newestFirst).map(({ key }) => key))];
}
