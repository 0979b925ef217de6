import type { Database } from "bun:sqlite";
import { NODE_TYPES, type NodeType } from "../../../domain/enums.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { NodeScan } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import type { Parameter } from "../connection/ask.ts";
import { NODE_COLUMNS, type NodeRow } from "../write/rows.ts";
import { NODE_PAGE, readPage } from "./pages.ts";

/** A page of an owner's nodes by id. Reads one row more than it returns, and the non-matching ones in between. */
export function readScan(database: Database, page: NodeScan): Page<MemoryNode> {
  if (page.lifecycleStates.length === 0) return { items: [], hasMore: false };
  const states = page.lifecycleStates.map((_, index) => `?${FIRST_STATE + index}`);
  const scopes = page.scope === undefined ? [] : [page.scope];
  const scope = `?${FIRST_STATE + states.length}`;
  const condition = `n.lifecycle_state IN (${states.join(", ")})${scopes.length === 0 ? "" : ` AND n.scope = ${scope}`}`;
  // SQLite merges the sorted index ranges row by row.
  const parts = NODE_TYPES.filter((type) => page.nodeType === undefined || type === page.nodeType);
  const sql = `${parts.map((type) => ofType(type, condition)).join(" UNION ALL ")} ORDER BY id LIMIT ?3`;
  const { userId, afterId = "", limit, lifecycleStates } = page;
  const parameters = [userId, afterId, limit + 1, ...lifecycleStates, ...scopes];
  return readPage(database.query<NodeRow, Parameter[]>(sql), parameters, limit, NODE_PAGE);
}

/** Number of the first parameter after the fixed ones: owner, position, limit. */
const FIRST_STATE = 4;

function ofType(type: NodeType, condition: string): string {
  return `SELECT ${NODE_COLUMNS} FROM owners o CROSS JOIN nodes n ON n.owner = o.owner
    WHERE o.user_id = ?1 AND n.node_type = '${type}' AND n.id > ?2 AND ${condition}`;
}
