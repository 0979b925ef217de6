import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { isEverybody } from "../../../domain/owner.ts";
import type { ExpiredRead } from "../../../ports/store/graph.ts";
import { ownerKeyOrAll } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";
import { END_FRACTION, END_SECOND, endedBefore, fractionOf, secondOf } from "./retention-sql.ts";

/** Active nodes whose retention ended before a moment, earliest first, then by id. */
export function readExpired(
  database: Database,
  { owner: of, now, limit }: ExpiredRead,
): MemoryNode[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  // The unary plus keeps SQLite from using the index of the owner's nodes: expired nodes are fewer than all of an owner.
  const ofOwner = isEverybody(owner) ? "" : "AND +n.owner = ?4";
  return database
    .query<NodeRow, (string | number)[]>(
      `SELECT ${NODE_COLUMNS} FROM nodes n CROSS JOIN owners o ON o.owner = n.owner
       WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE}
         AND ${endedBefore("?1", "?2")} ${ofOwner}
       ORDER BY ${END_SECOND}, ${END_FRACTION}, n.id LIMIT ?3`,
    )
    .all(secondOf(now), fractionOf(now), limit, ...(isEverybody(owner) ? [] : [owner]))
    .map(toNode);
}
