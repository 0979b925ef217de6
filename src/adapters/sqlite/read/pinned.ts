import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { ownerKey } from "../write/owners.ts";
import { candidateCondition, type Parameter } from "./filter-sql.ts";

/** Nodes of either kind. */
const MAX = 500;
/**
 * Each as the partial index that serves it spells it. The further condition on the pinned is that of `isPinned`: what only
 * reinforcement made fully salient is none.
 */
const PINNED = "(n.pinned = 1 OR n.salience >= 1.0) AND (n.pinned = 1 OR n.salience_base >= 1.0)";
const TASK = "n.node_type = 'task'";

type Row = { readonly key: number; readonly created_at: string; readonly id: string };

/** Keys of the owner's newest pinned nodes and newest tasks, newest first, each once. Contested ones are not among them. */
export function readPinned(database: Database, filter: CandidateFilter): number[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined) return [];
  const narrowed = candidateCondition(filter);
  const rows = [PINNED, TASK].flatMap((kind) =>
    database
      .query<Row, Parameter[]>(
        `SELECT n.key, n.created_at, n.id FROM nodes n
         WHERE n.owner = ? AND ${kind} AND n.lifecycle_state IN ('tentative', 'stable') AND ${narrowed?.sql ?? "1"}
         ORDER BY n.created_at DESC, n.id DESC LIMIT ${MAX}`,
      )
      .all(owner, ...(narrowed?.parameters ?? [])),
  );
  rows.sort((a, b) => compare(b.created_at, a.created_at) || compare(b.id, a.id));
  return [...new Set(rows.map(({ key }) => key))];
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
