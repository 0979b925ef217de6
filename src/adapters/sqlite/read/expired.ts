import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { ExpiredRead } from "../../../ports/graph-reads.ts";
import { ownerKey } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";

/** The second in which the retention of a node ends, as the index `nodes_expiring` has it. */
const END_SECOND = "unixepoch(substr(n.created_at, 1, 19)) + n.ttl_days * 86400";
/** What of the end lies behind that second, as text. */
const END_FRACTION = "substr(n.created_at, 20)";

/** Active nodes whose retention ended before a moment, the longest ended first, then by id. */
export function readExpired(database: Database, { userId, now, limit }: ExpiredRead): MemoryNode[] {
  const owner = userId === undefined ? undefined : ownerKey(database, userId);
  if (userId !== undefined && owner === undefined) return [];
  // The unary plus keeps the index of the owner's nodes out: the few that have ended are fewer than all of an owner.
  const ofOwner = owner === undefined ? "" : "AND +n.owner = ?4";
  return database
    .query<NodeRow, (string | number)[]>(
      `SELECT ${NODE_COLUMNS} FROM nodes n CROSS JOIN owners o ON o.owner = n.owner
       WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE}
         AND ${END_SECOND} <= unixepoch(?1)
         AND (${END_SECOND} < unixepoch(?1) OR ${END_FRACTION} < ?2) ${ofOwner}
       ORDER BY ${END_SECOND}, ${END_FRACTION}, n.id LIMIT ?3`,
    )
    .all(now.slice(0, 19), now.slice(19), limit, ...(owner === undefined ? [] : [owner]))
    .map(toNode);
}
